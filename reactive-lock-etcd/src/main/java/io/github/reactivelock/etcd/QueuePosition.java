package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its lock's line.
 *
 * @param revision the create revision of the claim's key, or no positive number if it is not there
 * @param predecessor the key that it waits for, which for the whole of a lock is the one just before it; null if it
 *     waits for none
 */
record QueuePosition(long revision, @Nullable KeyValue predecessor) {

    /** The claim is not there. */
    static final QueuePosition NONE = new QueuePosition(0, null);

    /** The claim only tries, and was not put because the lock is taken. */
    static final QueuePosition NO_ROOM = new QueuePosition(-1, null);

    boolean isThere() {
        return revision > 0;
    }

    /** Decides by the last two keys up to the claim's own, newest first. */
    static QueuePosition of(ByteSequence name, GetResponse lastTwo) {
        List<KeyValue> keys = lastTwo.getKvs();
        if (keys.isEmpty() || !keys.get(0).getKey().equals(name)) {
            return NONE;
        }
        return new QueuePosition(keys.get(0).getCreateRevision(), keys.size() == 1 ? null : keys.get(1));
    }
}
