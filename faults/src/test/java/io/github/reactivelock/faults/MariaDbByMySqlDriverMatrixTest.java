package io.github.reactivelock.faults;

/** {@link MariaDbMatrixTest} through the driver of MySQL. Runs with {@code ./verify --newest}. */
class MariaDbByMySqlDriverMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return SqlStore.mariaDb("mysql");
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
