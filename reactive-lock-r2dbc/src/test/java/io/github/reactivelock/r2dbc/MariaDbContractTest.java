package io.github.reactivelock.r2dbc;

import io.github.reactivelock.testkit.Feature;
import java.util.Set;

class MariaDbContractTest extends SqlContract {

    @Override
    Databases open() {
        return Databases.mariaDb("mariadb", "--default-time-zone=+05:45");
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PUSHED_LOSS, Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }
}
