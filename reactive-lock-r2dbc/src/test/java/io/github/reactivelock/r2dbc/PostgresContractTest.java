package io.github.reactivelock.r2dbc;

import io.github.reactivelock.testkit.Feature;
import java.util.Set;

class PostgresContractTest extends SqlContract {

    @Override
    Databases open() {
        return Databases.postgres("-c", "timezone=Asia/Kolkata");
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }
}
