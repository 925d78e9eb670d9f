package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * How a claim learns of the end of the key before its own.
 *
 * @param predecessor the key's name
 * @param revision the key's create revision
 * @param own whose key it is, if it is this client's
 * @param watch nothing, if that one tells
 */
record Following(
        ByteSequence predecessor, long revision, @Nullable ClaimState own, Disposable.Swap watch) {

    static Following of(KeyValue predecessor, @Nullable ClaimState own) {
        return new Following(predecessor.getKey(), predecessor.getCreateRevision(), own, Disposables.swap());
    }

    /** For another claim. */
    Following anew() {
        return new Following(predecessor, revision, own, Disposables.swap());
    }

    boolean isOf(Following other) {
        return predecessor.equals(other.predecessor) && revision == other.revision;
    }
}
