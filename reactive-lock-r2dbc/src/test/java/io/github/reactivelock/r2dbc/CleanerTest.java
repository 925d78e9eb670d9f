package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** However many keys were used once, more than the cleaner looks at in one go, nothing is left of them. */
class CleanerTest {

    /** {@code -Dcleaner.events=1000000} shows what many more cost. */
    private static final int EVENTS = Integer.getInteger("cleaner.events", 2_500);

    private static void assertLeavesNothing(Databases database, String key, String numbers) {
        try (database) {
            database.createTables();
            R2dbcLockBackend backend = database.backend();
            database.execute("INSERT INTO reactive_lock (lock_key, token, lease_end, waiting, places, watched_until)"
                    + " SELECT " + key + ", 1, 1, 0, 0, 0 FROM " + numbers);
            Claim live = new Claim("live", UUID.randomUUID().toString(), "me", Duration.ofHours(1), Claim.Mode.QUEUE);
            assertThat(backend.claim(live).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(database.select("SELECT count(*) FROM reactive_lock")).isEqualTo(2_501);

            backend.clean(Duration.ofHours(1)).block(Databases.LIMIT);

            assertThat(database.select("SELECT count(*) FROM reactive_lock")).isEqualTo(1);
            backend.close().block(Databases.LIMIT);
        }
    }

    @Test
    void postgresIsCleanedWhole() {
        assertLeavesNothing(
                Databases.postgres(), "convert_to('dead ' || number, 'UTF8')", "generate_series(1, 2500) number");
    }

    @Test
    void mariaDbIsCleanedWhole() {
        assertLeavesNothing(Databases.mariaDb("mariadb"), "concat('dead ', seq)", "seq_1_to_2500");
    }

    @Test
    void h2IsCleanedWhole() {
        assertLeavesNothing(Databases.h2(), "STRINGTOUTF8('dead ' || x)", "SYSTEM_RANGE(1, 2500)");
    }

    private static void assertEventsGoInPages(
            Databases database, ConnectionFactory factory, String key, String numbers) {
        try (database) {
            database.createTables();
            Tapped tapped = Tapped.of(factory);
            R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications());
            database.execute("INSERT INTO reactive_lock_event (lock_key, number, owner, happened_at, token, units)"
                    + " SELECT " + key + ", 1, 'me', 1, 1, 1 FROM " + numbers);

            long begun = System.nanoTime();
            backend.clean(Duration.ofHours(1)).block(Databases.LIMIT.multipliedBy(10));
            long millis = Duration.ofNanos(System.nanoTime() - begun).toMillis();
            System.out.println(factory.getMetadata().getName() + ": " + EVENTS + " old events go in " + millis + " ms");

            assertThat(database.select("SELECT count(*) FROM reactive_lock_event"))
                    .isZero();
            assertThat(tapped.statements())
                    .filteredOn(text -> text.contains("DELETE FROM reactive_lock_event"))
                    .hasSize(EVENTS / 1_000 + 1);
            backend.close().block(Databases.LIMIT);
        }
    }

    @Test
    void manyOldEventsAreRemovedInPagesOnPostgres() {
        Databases postgres = Databases.postgres();
        assertEventsGoInPages(
                postgres,
                postgres.factory(),
                "convert_to('dead ' || number, 'UTF8')",
                "generate_series(1, " + EVENTS + ") number");
    }

    /** Clients in safe mode may delete by a key or a page only. */
    @Test
    void manyOldEventsAreRemovedInPagesOnMariaDbInSafeMode() {
        Databases mariaDb = Databases.mariaDb("mariadb");
        ConnectionFactory safe = Databases.beginningWith("SET " + Databases.SAFE_MODE, mariaDb.factory());
        assertThat(Databases.select(safe, "SELECT @@sql_safe_updates")).isEqualTo(1);
        assertEventsGoInPages(mariaDb, safe, "concat('dead ', seq)", "seq_1_to_" + EVENTS);
    }

    @Test
    void manyOldEventsAreRemovedInPagesOnH2() {
        Databases h2 = Databases.h2();
        assertEventsGoInPages(h2, h2.factory(), "STRINGTOUTF8('dead ' || x)", "SYSTEM_RANGE(1, " + EVENTS + ")");
    }

    @Test
    void rowsThatATriggerKeepsAreNotTriedForEver() {
        try (Databases postgres = Databases.postgres()) {
            postgres.createTables();
            String numbers = " FROM generate_series(1, 500) number";
            postgres.execute("INSERT INTO reactive_lock_once (once_key, run_id, expires)"
                    + " SELECT convert_to('dead ' || number, 'UTF8'), 'run', 5" + numbers);
            postgres.execute("INSERT INTO reactive_lock_row (row_key, locked_at)"
                    + " SELECT convert_to('dead ' || number, 'UTF8'), 5" + numbers);
            postgres.execute("CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
            List<String> tables = List.of("reactive_lock_once", "reactive_lock_row");
            tables.forEach(table -> postgres.execute(
                    "CREATE TRIGGER keep BEFORE DELETE ON " + table + " FOR EACH ROW EXECUTE FUNCTION keep()"));
            Tapped tapped = Tapped.of(postgres.factory());
            R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications());

            backend.clean(Duration.ofHours(1)).block(Databases.LIMIT);

            assertThat(tables).allSatisfy(table -> {
                assertThat(tapped.statements())
                        .filteredOn(text -> text.contains("DELETE FROM " + table + " "))
                        .hasSize(1);
                assertThat(postgres.select("SELECT count(*) FROM " + table)).isEqualTo(500);
            });
            backend.close().block(Databases.LIMIT);
        }
    }

    @Test
    void aTableThatCannotBeCleanedKeepsNoneOfTheOthers() {
        try (Databases database = Databases.postgres()) {
            database.createTables();
            R2dbcLockBackend backend = database.backend();
            database.execute(
                    "INSERT INTO reactive_lock (lock_key, token, lease_end, waiting, places, watched_until) SELECT"
                            + " convert_to('dead ' || number, 'UTF8'), 1, 1, 0, 0, 0 FROM generate_series(1, 10) number");
            database.execute("ALTER TABLE reactive_lock_event RENAME TO elsewhere");

            assertThat(backend.clean(Duration.ofHours(1))
                            .then(Mono.just(new Throwable("no error")))
                            .onErrorResume(Mono::just)
                            .block(Databases.LIMIT))
                    .hasMessageContaining("no tables");

            assertThat(database.select("SELECT count(*) FROM reactive_lock")).isZero();
            backend.close().block(Databases.LIMIT);
        }
    }

    private static void assertWarns(Databases database) {
        Logger logger = (Logger) LoggerFactory.getLogger(Cleaner.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try (database) {
            database.createTables();
            R2dbcLockBackend backend = database.backend();
            Duration kept = Duration.ofHours(1);
            database.execute("ALTER TABLE reactive_lock_event RENAME TO elsewhere");

            backend.cleaningTurn(kept).block(Databases.LIMIT);

            assertThat(logged.list).singleElement().satisfies(line -> {
                assertThat(line.getLevel()).isEqualTo(Level.WARN);
                assertThat(line.getFormattedMessage())
                        .contains("could not be removed")
                        .contains("reactive_lock");
                assertThat(line.getThrowableProxy().getMessage()).contains("no tables");
            });
            database.execute("ALTER TABLE elsewhere RENAME TO reactive_lock_event");
            backend.cleaningTurn(kept).block(Databases.LIMIT);
            assertThat(logged.list).hasSize(1);

            backend.close().block(Databases.LIMIT);
            backend.cleaningTurn(kept).block(Databases.LIMIT);
            assertThat(logged.list).hasSize(1);
        } finally {
            logger.detachAppender(logged);
        }
    }

    @Test
    void aTurnThatFailsWarnsAndTheNextOneCleansOnPostgres() {
        assertWarns(Databases.postgres());
    }

    @Test
    void aTurnThatFailsWarnsAndTheNextOneCleansOnH2() {
        assertWarns(Databases.h2());
    }
}
