package io.github.reactivelock.r2dbc;

import io.github.reactivelock.testkit.Feature;
import java.util.Set;

class H2ContractTest extends SqlContract {

    @Override
    Databases open() {
        return Databases.h2();
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PUSHED_GRANTS, Feature.PUSHED_LOSS, Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }
}
