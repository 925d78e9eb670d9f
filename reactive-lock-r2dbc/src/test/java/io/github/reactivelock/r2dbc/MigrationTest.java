package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import java.util.List;
import java.util.UUID;
import liquibase.command.CommandScope;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The schema is taken as it is by what applications keep their schemas with. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MigrationTest {

    private List<Databases> databases;

    @BeforeAll
    void start() {
        databases = List.of(Databases.postgres(), Databases.mariaDb("mariadb"), Databases.h2());
    }

    @AfterAll
    void stop() {
        databases.forEach(Databases::close);
    }

    List<Databases> databases() {
        return databases;
    }

    private static String schema(Databases database) {
        return "io/github/reactivelock/r2dbc/schema-"
                + Dialect.of(database.factory()).id();
    }

    /** As {@code jdbc:driver://host:port/database?user=name}. */
    private static String jdbc(Databases database) {
        return database.url()
                .replaceFirst("\\?options=", ";")
                .replace("r2dbc:h2:mem:///", "jdbc:h2:mem:")
                .replaceFirst("^r2dbc:([a-z]+)://([^@/]+)@([^/]+)/([a-z]+).*", "jdbc:$1://$3/$4?user=$2");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void flywayTakesThemBesideTheApplicationsOwn(Databases database) {
        Flyway flyway = Flyway.configure()
                .dataSource(jdbc(database), null, null)
                .locations("classpath:" + schema(database))
                .table("reactive_lock_migrations")
                .baselineOnMigrate(true)
                .baselineVersion("0")
                .load();

        assertThat(flyway.migrate().migrationsExecuted).isEqualTo(1);
        assertThat(flyway.migrate().migrationsExecuted).isZero();

        LockClient client = Databases.client(database.backend());
        client.acquire(UUID.randomUUID().toString())
                .flatMap(held -> held.release())
                .block(Databases.LIMIT);
        client.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void liquibaseTakesThem(Databases database) throws Exception {
        for (int time = 0; time < 2; time++) {
            CommandScope update = new CommandScope("update");
            update.addArgumentValue("url", jdbc(database));
            update.addArgumentValue("changelogFile", schema(database) + "/V1__reactive_lock.sql");
            assertThat(update.execute()).isNotNull();
        }

        assertThat(database.select("SELECT count(*) FROM DATABASECHANGELOG")).isEqualTo(1);
        LockClient client = Databases.client(database.backend());
        client.acquire(UUID.randomUUID().toString())
                .flatMap(held -> held.release())
                .block(Databases.LIMIT);
        client.close().block(Databases.LIMIT);
    }
}
