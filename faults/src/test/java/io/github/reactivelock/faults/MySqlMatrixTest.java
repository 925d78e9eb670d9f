package io.github.reactivelock.faults;

/**
 * The fault matrix of MySQL through its own driver, with the rows of {@link MariaDbMatrixTest}. Runs where {@code
 * config/newest-servers} unpacks a MySQL.
 */
class MySqlMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return SqlStore.mySql("mysql");
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
