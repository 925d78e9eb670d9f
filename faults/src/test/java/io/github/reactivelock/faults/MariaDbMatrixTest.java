package io.github.reactivelock.faults;

/**
 * The fault matrix of MariaDB. It has no row for a server that comes back empty, as {@link PostgresMatrixTest} says.
 * Its pushes are rings: the connection that is broken, or forgotten so that a ring is lost, is the one that sleeps.
 */
class MariaDbMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return SqlStore.mariaDb("mariadb");
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
