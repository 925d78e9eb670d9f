package io.github.reactivelock.faults;

/** The fault matrix of three Consul servers, of which two are paused, or all restarted. */
class ConsulClusterMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return new ConsulStore(3);
    }

    @Override
    public void restart() {
        ((ConsulStore) store).restart();
    }
}
