package io.github.reactivelock.r2dbc;

import io.github.reactivelock.testkit.Feature;
import java.util.Set;

/** The driver of MySQL, on MariaDB, because there is no MySQL server in Debian. */
class MySqlDriverContractTest extends SqlContract {

    @Override
    Databases open() {
        return Databases.mariaDb("mysql", "--default-time-zone=-09:30");
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PUSHED_LOSS, Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }
}
