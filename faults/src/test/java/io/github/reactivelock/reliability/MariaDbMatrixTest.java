package io.github.reactivelock.reliability;

/**
 * The fault matrix of MariaDB. It has no row for a server that comes back empty, as {@link PostgresMatrixTest} says. It
 * pushes nothing, so all connections of the waiter are broken where others have one for pushes alone.
 */
class MariaDbMatrixTest extends FaultCases implements RestartCases {

    @Override
    Store open() {
        return SqlStore.mariaDb();
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
