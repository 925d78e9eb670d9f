package io.github.reactivelock.faults;

/**
 * The fault matrix of PostgreSQL. It has no row for a server that comes back empty: without its tables it serves nobody
 * and says so, which {@code FaultTest} of the module shows; what an operator can empty are rows, and that row is here.
 */
class PostgresMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return SqlStore.postgres();
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
