package io.github.reactivelock.faults;

/**
 * The fault matrix of etcd. Pushes come over the connection that everything else uses, so all of it is broken where
 * others have one for pushes alone. The rows about a leader that dies or hangs need a cluster: they are in {@code
 * LeaderLossTest} of the module.
 */
class EtcdMatrixTest extends FaultCases implements RestartCases, EmptyCases, KeptCases {

    @Override
    Store open() {
        return new EtcdStore();
    }

    @Override
    public void restart() {
        ((EtcdStore) store).server.kill();
        ((EtcdStore) store).server.restart();
    }

    @Override
    public void restartEmpty() {
        ((EtcdStore) store).server.restartEmpty();
    }

    /** Tokens are revisions, which begin anew. */
    @Override
    public boolean tokensRiseAllTheSame() {
        return false;
    }
}
