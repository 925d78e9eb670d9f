package io.github.reactivelock.faults;

/**
 * The fault matrix of a Redis Cluster of three shards, all of which stand still where others have one server. It has no
 * rows for servers that restart: a primary that comes back refuses commands for two seconds, in which a replica would
 * take its place. That, one shard that is dead and slots that move are in {@code ClusterFaultTest} of the Lettuce
 * module. Connections that a client was lent are not the lock's to close, so the row about closing looks at a client of
 * its own.
 */
class ClusterMatrixTest extends FaultCases implements SharedCases, KeptCases {

    @Override
    Store open() {
        return new ClusterStore();
    }
}
