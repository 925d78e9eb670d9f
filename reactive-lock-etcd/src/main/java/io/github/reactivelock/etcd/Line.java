package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.support.QueueLine;
import io.github.reactivelock.state.Share;
import java.util.Collection;
import java.util.List;

/**
 * The claims of a lock in the order in which their keys were made, {@link QueueLine}.
 *
 * @param queue oldest first
 */
record Line(QueueLine<KeyValue> queue) {

    static Line of(Collection<KeyValue> oldestFirst) {
        return new Line(QueueLine.of(List.copyOf(oldestFirst), claim -> KeyLayout.share(claim.getKey())));
    }

    List<KeyValue> claims() {
        return queue.claims();
    }

    int in() {
        return queue.in();
    }

    List<KeyValue> holders() {
        return queue.holders();
    }

    /** How many units they take. */
    long units() {
        return queue.units();
    }

    List<KeyValue> waiting() {
        return queue.waiting();
    }

    /** Whether a claim that came now would be in. */
    boolean admits(Share share) {
        return queue.admits(share);
    }

    /** Where the claim of that name stands, which is for a share. */
    QueuePosition positionOf(ByteSequence name) {
        for (int place = 0; place < claims().size(); place++) {
            KeyValue claim = claims().get(place);
            if (claim.getKey().equals(name)) {
                return new QueuePosition(claim.getCreateRevision(), place < in() ? null : awaited(place));
            }
        }
        return QueuePosition.NONE;
    }

    /**
     * What a waiting claim for a share waits for: the last before it that wants the whole, or else the one just before
     * it.
     */
    KeyValue awaited(int place) {
        for (int before = place - 1; before >= 0; before--) {
            if (KeyLayout.share(claims().get(before).getKey()).isWhole()) {
                return claims().get(before);
            }
        }
        return claims().get(place - 1);
    }
}
