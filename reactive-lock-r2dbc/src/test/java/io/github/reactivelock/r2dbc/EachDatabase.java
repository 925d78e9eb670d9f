package io.github.reactivelock.r2dbc;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Tests in each kind of database, whose tables are there. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class EachDatabase {

    private List<Databases> databases = List.of();

    @BeforeAll
    final void start() {
        databases = List.of(Databases.postgres(), Databases.mariaDb("mariadb"), Databases.h2());
        databases.forEach(Databases::createTables);
    }

    @AfterAll
    final void stop() {
        databases.forEach(Databases::close);
    }

    final List<Databases> databases() {
        return databases;
    }
}
