package io.github.reactivelock.faults;

/**
 * The fault matrix of one Consul, with leases of ten seconds, because it keeps no shorter ones. The rows about a leader
 * that dies need a cluster: they are in {@code LeaderTest} of the module.
 */
class ConsulMatrixTest extends FaultCases implements RestartCases, EmptyCases, KeptCases {

    @Override
    Store open() {
        return new ConsulStore(1);
    }

    @Override
    public void restart() {
        ((ConsulStore) store).restart();
    }

    @Override
    public void restartEmpty() {
        ((ConsulStore) store).restartEmpty();
    }

    /** Tokens are indexes, which begin anew. */
    @Override
    public boolean tokensRiseAllTheSame() {
        return false;
    }
}
