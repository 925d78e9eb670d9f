package io.github.reactivelock.r2dbc;

class PostgresContractTest extends SqlContract {

    @Override
    Databases open() {
        return Databases.postgres();
    }
}
