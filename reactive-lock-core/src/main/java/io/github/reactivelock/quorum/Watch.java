package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.LockEvent;
import io.github.reactivelock.spi.LockInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns what the majority shows, look after look, into events. One subscription's own. */
final class Watch {

    private @Nullable LockInfo last;

    List<LockEvent> changes(LockInfo now) {
        LockInfo before = last;
        last = now;
        if (before == null) {
            return List.of(new LockEvent.Snapshot(now));
        }
        List<LockEvent> changes = new ArrayList<>(2);
        if (token(before) != token(now)) {
            if (before instanceof LockInfo.Held held) {
                changes.add(new LockEvent.Released(held.key(), held.fencingToken()));
            }
            if (now instanceof LockInfo.Held held) {
                changes.add(new LockEvent.Acquired(held.key(), held.owner(), held.fencingToken()));
            }
        }
        return changes;
    }

    private static long token(LockInfo info) {
        return info instanceof LockInfo.Held held ? held.fencingToken() : 0;
    }
}
