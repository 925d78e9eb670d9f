package io.github.reactivelock.etcd;

import io.etcd.jetcd.KeyValue;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its lock's queue.
 *
 * @param revision the create revision of the claim's key, or no positive number if it is not there
 * @param predecessor the key that it waits for, which for the whole of a lock is the one just before it; null if it
 *     waits for none
 * @param obstacles keys before it: as long as all of them are there, it is not in; none if that is not known
 * @param recallable what is to be called back: the owner, if this one stands directly behind it, or itself, if it is in
 *     and others may have come before that was seen
 */
record QueuePosition(
        long revision,
        @Nullable KeyValue predecessor,
        List<KeyValue> obstacles,
        @Nullable KeyValue recallable) {

    /** The claim is not there. */
    static final QueuePosition NONE = new QueuePosition(0, null, List.of(), null);

    /** The claim only tries, and was not put because the lock is taken. */
    static final QueuePosition NO_ROOM = new QueuePosition(-1, null, List.of(), null);
}
