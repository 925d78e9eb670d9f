package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.QueuedClaim;

/**
 * What this client knows of one claim's key. Every answer of Consul shows the key with the index of its making.
 */
final class ClaimState extends QueuedClaim<Entry, Entry> {

    /** A question that makes a key may still be on its way, although it got no answer. */
    private boolean doubted;
    /** This client writes its key again, so that it is not as it was is no news. */
    private volatile boolean rewritten;

    ClaimState(Claim claim) {
        super(claim);
    }

    /** Whether a key of this claim may come to be after the claim's end. */
    synchronized boolean isDoubted() {
        return doubted;
    }

    /** The same question may be carried out once more. */
    synchronized void doubt() {
        doubted = true;
    }

    void rewrite() {
        rewritten = true;
    }

    boolean isRewritten() {
        return rewritten;
    }

    @Override
    public synchronized void failed() {
        doubted = true;
        super.failed();
    }

    IllegalStateException ended() {
        return new IllegalStateException(
                "the claim ended or lost its key before Consul answered; ask again for '" + claim().key() + "'");
    }
}
