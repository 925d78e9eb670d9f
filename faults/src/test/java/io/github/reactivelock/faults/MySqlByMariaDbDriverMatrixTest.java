package io.github.reactivelock.faults;

/** {@link MySqlMatrixTest} through the driver of MariaDB. Runs with {@code ./verify --newest}. */
class MySqlByMariaDbDriverMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return SqlStore.mySql("mariadb");
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
