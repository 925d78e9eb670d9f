package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.QueuedClaim;

/** What this client knows of one claim's node, and how often a try came too late to make one. */
final class ClaimState extends QueuedClaim<SequenceNode, Node> {

    private static final int MOST_MISSES = 8;

    private int misses;

    ClaimState(Claim claim) {
        super(claim);
    }

    /** Others came before it. */
    @Override
    public synchronized void notMade() {
        misses++;
        super.notMade();
    }

    /** Servers that count what came in another way would let none that only tries in. */
    synchronized boolean hasMissedOften() {
        return misses > MOST_MISSES;
    }

    IllegalStateException ended() {
        return new IllegalStateException(
                "the claim ended or lost its node before ZooKeeper answered; ask again for '" + claim().key() + "'");
    }
}
