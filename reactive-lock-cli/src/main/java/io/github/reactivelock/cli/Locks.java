package io.github.reactivelock.cli;

import io.github.reactivelock.state.LockInfo;
import java.util.List;

/** A lock as it is shown: as lines for people, or as an object of JSON. */
final class Locks {

    private Locks() {}

    static List<String> lines(LockInfo lock) {
        if (!(lock instanceof LockInfo.Held held)) {
            Table facts = new Table();
            facts.row("key", lock.key());
            facts.row("state", "free");
            return facts.lines();
        }
        Table facts = new Table();
        facts.row("key", held.key());
        facts.row("state", "held");
        facts.row("owner", held.owner());
        facts.row("token", token(held));
        facts.row("held for", Durations.shown(held.age()));
        facts.row("lease left", Durations.shown(held.remaining()));
        facts.row("waiters", Long.toString(held.waiters()));
        int number = 0;
        for (LockInfo.Waiting waiting : held.queue()) {
            number++;
            String age = waiting.age() == null ? "" : ", for " + Durations.shown(waiting.age());
            facts.row("waiter " + number, waiting.owner() + age);
        }
        return facts.lines();
    }

    static List<String> lines(List<LockInfo.Held> locks) {
        Table table = new Table();
        table.row("KEY", "OWNER", "HELD FOR", "LEASE LEFT", "WAITERS", "TOKEN");
        for (LockInfo.Held held : locks) {
            table.row(
                    held.key(),
                    held.owner(),
                    Durations.shown(held.age()),
                    Durations.shown(held.remaining()),
                    Long.toString(held.waiters()),
                    token(held));
        }
        return table.lines();
    }

    static Json json(LockInfo lock) {
        Json json = new Json().with("key", lock.key()).with("held", lock.isHeld());
        if (!(lock instanceof LockInfo.Held held)) {
            return json;
        }
        return json.with("owner", held.owner())
                .with("token", token(held))
                .with("heldMillis", Durations.millis(held.age()))
                .with("leaseLeftMillis", Durations.millis(held.remaining()))
                .with("waiters", held.waiters())
                .with("queue", held.queue().stream().map(Locks::json).toList());
    }

    private static Json json(LockInfo.Waiting waiting) {
        return new Json().with("owner", waiting.owner()).with("waitingMillis", Durations.millis(waiting.age()));
    }

    /** A text, also in JSON: programs that take every number for a double would change it. */
    private static String token(LockInfo.Held held) {
        return Long.toString(held.fencingToken());
    }
}
