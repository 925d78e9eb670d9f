package io.github.reactivelock.reliability;

/**
 * The fault matrix of a quorum of five Redis, of which a majority stands still where others have one server. It has no
 * rows for servers that restart: a node that comes back, with its data or without, is not counted for a lease, so that a
 * majority of such nodes is no lock at all. One of five that restarts empty is in {@code RedisQuorumFaultTest} of the
 * Lettuce module, with the other rows about a minority.
 */
class QuorumMatrixTest extends FaultCases {

    @Override
    Store open() {
        return new QuorumStore();
    }
}
