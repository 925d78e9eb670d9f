package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.queue.LockQueue;
import io.github.reactivelock.state.Share;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a lock in the order in which their keys were made, {@link LockQueue}.
 *
 * @param queue oldest first
 */
record KeyQueue(LockQueue<KeyValue> queue) {

    /** A transaction of etcd has no more than 128 compares. */
    private static final int MOST_COMPARED = 100;

    static KeyQueue of(Collection<KeyValue> oldestFirst) {
        return new KeyQueue(LockQueue.of(List.copyOf(oldestFirst), claim -> KeyLayout.share(claim.getKey())));
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

    /** Who stands where, so that one look at a long queue serves many claims. */
    Index index(long readAt, boolean isPart) {
        Map<ByteSequence, Integer> places = new HashMap<>(claims().size() * 2);
        for (int place = 0; place < claims().size(); place++) {
            places.put(claims().get(place).getKey(), place);
        }
        return new Index(this, places, readAt, isPart);
    }

    /**
     * A queue in which claims are found by their names.
     *
     * @param queue as it was read, or its end with the claim that is looked for and the one before it
     * @param places by name
     * @param readAt the store's revision then
     * @param isPart whether claims were left out, before its end or behind its beginning
     */
    record Index(KeyQueue queue, Map<ByteSequence, Integer> places, long readAt, boolean isPart) {

        /** Where the claim stands whose key was made at a revision. */
        QueuePosition positionOf(ClaimState state, long revision) {
            int place = places.getOrDefault(state.name, -1);
            if (place < 0 || queue.claims().get(place).getCreateRevision() != revision) {
                return QueuePosition.NONE;
            }
            if (place == 0 || (!state.isWhole() && place < queue.in())) {
                return new QueuePosition(
                        revision, null, List.of(), unseen(queue.claims().get(place)));
            }
            if (state.isWhole()) {
                KeyValue before = queue.claims().get(place - 1);
                return new QueuePosition(
                        revision, before, List.of(queue.claims().get(0)), recallable(before));
            }
            KeyValue awaited = queue.awaited(place);
            boolean isWhole = KeyLayout.share(awaited.getKey()).isWhole();
            return new QueuePosition(
                    revision, awaited, isWhole ? List.of(awaited) : queue.inTheWayOf(state), recallable(awaited));
        }

        /** Its key was made before it was seen to be in, and who came behind it in between called back another one. */
        private @Nullable KeyValue unseen(KeyValue own) {
            return own.getCreateRevision() < readAt && KeyLayout.isRecallable(own) ? own : null;
        }

        /** One that waits itself is not called back: it was not granted at once, so its client will not keep it. */
        private @Nullable KeyValue recallable(KeyValue before) {
            boolean isOwner = !isPart && before == queue.claims().get(0);
            return isOwner && KeyLayout.isRecallable(before) ? before : null;
        }

        /** Whether there is an owner that can be called back, and none waits, if the beginning was read. */
        boolean canBeCalledBack() {
            return !isPart
                    && queue.claims().size() == 1
                    && KeyLayout.isRecallable(queue.claims().get(0));
        }

        /** Whether a claim has a key there, of any age. */
        boolean has(ClaimState state) {
            return places.containsKey(state.name);
        }
    }

    /** Those that are in, if they leave too little, and else the first that waits too; none if they are very many. */
    private List<KeyValue> inTheWayOf(ClaimState state) {
        int some = state.claim.share().fitsBeside(units()) ? in() + 1 : in();
        return some > MOST_COMPARED ? List.of() : List.copyOf(claims().subList(0, some));
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
