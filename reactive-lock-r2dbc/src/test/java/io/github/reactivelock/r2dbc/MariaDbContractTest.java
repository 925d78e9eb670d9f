package io.github.reactivelock.r2dbc;

import io.github.reactivelock.testkit.Feature;
import java.util.Set;

/** Also as the address says in {@code reactivelock.mariadb.query}, so that MySQL gets texts of several statements. */
class MariaDbContractTest extends SqlContract {

    @Override
    Databases open() {
        Databases server = Databases.mariaDb("mariadb", "--default-time-zone=+05:45");
        String query = System.getProperty("reactivelock.mariadb.query", "");
        return query.isEmpty() ? server : new Databases(server.url() + "?" + query, server.end());
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PUSHED_LOSS, Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }
}
