package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.state.StaleTokenException;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.R2dbcRollbackException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Modes of servers that change what a text or a key looks like, and prefixes that mean something else. */
class ModesTest {

    private static final Duration LONG = Duration.ofHours(1);

    private static Claim share(String key) {
        return new Claim(
                key,
                UUID.randomUUID().toString(),
                "me",
                Duration.ofSeconds(60),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                Share.permits(1, 5));
    }

    /** Every command that reads keys or lists of claims from the database. */
    private static void assertServes(Databases database) {
        database.createTables();
        R2dbcLockBackend backend = database.backend();
        List<Claim> held = List.of(
                Databases.claim("whole \\ \0 é"), Databases.claim("another"), share("shared \\ \u007f"), share("more"));
        for (Claim claim : held) {
            assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        }

        assertThat(backend.renew(held).block(Databases.LIMIT).renewed())
                .containsExactlyInAnyOrderElementsOf(
                        held.stream().map(Claim::id).toList());
        assertThat(backend.list("", "").block(Databases.LIMIT).locks())
                .extracting(LockInfo.Held::key)
                .containsExactlyInAnyOrderElementsOf(
                        held.stream().map(Claim::key).toList());
        Flux.fromIterable(held).concatMap(backend::release).then().block(Databases.LIMIT);
        backend.clean(Duration.ofMillis(1)).block(Databases.LIMIT);
        Once once = Once.using(database.factory(), Databases.PATIENT);
        for (String outcome : List.of("text", "")) {
            assertThat(once.recorded("k" + outcome, LONG, Mono.just(outcome)).block(Databases.LIMIT))
                    .isEqualTo(outcome);
            assertThat(once.recorded("k" + outcome, LONG, Mono.just("2")).block(Databases.LIMIT))
                    .isEqualTo(outcome);
        }
        database.execute("UPDATE reactive_lock_once SET expires = 5");
        Sweep.ofOnce(new Database(database.factory(), Databases.PATIENT))
                .swept()
                .block(Databases.LIMIT);
        assertThat(database.select("SELECT count(*) FROM reactive_lock_once")).isZero();
        backend.close().block(Databases.LIMIT);
    }

    @Test
    void bytesInTheOldFormOfPostgresAreKeysLikeOthers() {
        try (PostgresServer server = PostgresServer.start("-c", "bytea_output=escape")) {
            assertServes(new Databases(server.url(), () -> {}));
        }
    }

    @Test
    void anEmptyTextThatMariaDbTakesForNullCostsNoHold() {
        try (MariaDbServer server = MariaDbServer.start("--sql-mode=EMPTY_STRING_IS_NULL,STRICT_ALL_TABLES")) {
            assertServes(new Databases(server.url("mariadb"), () -> {}));
        }
    }

    /**
     * In safe mode, which is told to each session, because what a server says to its clients is not said to {@code
     * root}.
     */
    @Test
    void aSessionThatChangesRowsByKeysOnlyServesAndStaysLikeThat() {
        try (Databases database = Databases.mariaDb("mariadb")) {
            database.createTables();
            ConnectionPool safe =
                    Databases.pool(Databases.beginningWith("SET " + Databases.SAFE_MODE, database.factory()), 1);
            R2dbcLockBackend backend = R2dbcLockBackend.using(safe, Databases.PATIENT);
            List<Claim> served = List.of(share("k"), share("k"));
            Claim whole = Databases.claim("k");
            assertThat(backend.claim(whole).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            for (Claim claim : served) {
                assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            }

            assertThat(backend.release(whole).block(Databases.LIMIT)).isTrue();
            assertThat(backend.renew(served).block(Databases.LIMIT).renewed()).hasSize(2);
            Flux.fromIterable(served).concatMap(backend::release).then().block(Databases.LIMIT);
            backend.clean(Duration.ofMillis(1)).block(Databases.LIMIT);

            assertThat(Databases.select(safe, "SELECT @@sql_safe_updates")).isEqualTo(1);
            backend.close().block(Databases.LIMIT);
            Databases.dispose(safe);
        }
    }

    /**
     * Where a transaction begins with START TRANSACTION; the driver of MySQL says BEGIN, which is something else there.
     */
    @Test
    void aMariaDbInOracleModeServesItsOwnDriverOnly() {
        try (MariaDbServer server = MariaDbServer.start("--sql-mode=ORACLE")) {
            assertServes(new Databases(server.url("mariadb"), () -> {}));

            R2dbcLockBackend other = R2dbcLockBackend.connect(server.url("mysql"), Databases.PATIENT);
            for (int i = 0; i < 3; i++) { // no claim gets a lock that could not be handed on
                assertThat(said(other))
                        .as("claim " + i)
                        .contains("sql_mode=ORACLE")
                        .doesNotContain("is it up");
            }
            other.close().block(Databases.LIMIT);
        }
    }

    @Test
    void anOutcomeTooLongForAPacketIsDroppedAndItsKeyKept() {
        try (MariaDbServer server = MariaDbServer.start("--max-allowed-packet=1M")) {
            Databases database = new Databases(server.url("mariadb"), () -> {});
            database.createTables();
            // A caller hears of it when writing was given up, or a lease after the work.
            Once once = Once.using(database.factory(), Databases.PATIENT).withLease(LONG);
            String tooLong = "x".repeat(2_000_000);

            assertThat(once.recorded("long", LONG, Mono.just(tooLong)).block(Databases.LIMIT))
                    .isEqualTo(tooLong);

            assertThat(once.recorded("long", LONG, Mono.just("again")).blockOptional(Databases.LIMIT))
                    .isEmpty();
        }
    }

    /** On servers that can be told not to look, from 11.4 on, the guard answers as without that mode. */
    @Test
    void aSnapshotTooOldForMariaDbIsANamedConflict() {
        try (MariaDbServer server = MariaDbServer.start("--innodb-snapshot-isolation=ON")) {
            for (String driver : List.of("mariadb", "mysql")) {
                Databases database = new Databases(server.url(driver), () -> {});
                if (!database.isMySqlDriver()) {
                    database.createTables();
                    database.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, amount BIGINT)");
                }
                R2dbcFencingGuard guard = R2dbcLockBackend.using(database.factory(), Databases.PATIENT)
                        .fencingGuard();
                String resource = UUID.randomUUID().toString();
                for (long token : new long[] {15, 25}) {
                    assertThat(guard.write(resource, 10, connection -> Mono.just(1))
                                    .onErrorReturn(StaleTokenException.class, 0)
                                    .block(Databases.LIMIT))
                            .isNotNull();
                    Throwable outcome = Mono.usingWhen(
                                    database.factory().create(),
                                    connection -> Mono.from(connection.beginTransaction(IsolationLevel.REPEATABLE_READ))
                                            .then(Databases.number(connection, "SELECT count(*) FROM account"))
                                            .then(guard.write(resource, 20, other -> Mono.just(1)))
                                            .then(guard.check(connection, resource, token))
                                            .then(Mono.just(new Throwable("may write")))
                                            .onErrorResume(Mono::just)
                                            .flatMap(found -> Mono.from(connection.rollbackTransaction())
                                                    .onErrorComplete()
                                                    .thenReturn(found)),
                                    Connection::close)
                            .block(Databases.LIMIT);

                    assertThat(outcome)
                            .satisfiesAnyOf(
                                    conflict -> assertThat(conflict)
                                            .isInstanceOf(R2dbcRollbackException.class)
                                            .hasMessageContaining("run it again"),
                                    stale -> assertThat(token == 15 && stale instanceof StaleTokenException)
                                            .isTrue(),
                                    fine -> assertThat(token == 25
                                                    && fine.getMessage().equals("may write"))
                                            .isTrue());
                }
            }
        }
    }

    /** It would be written as a question mark, as that of another key. */
    @Test
    void halfAPairOfSurrogatesIsNoKey() {
        ConnectionFactory nowhere = ConnectionFactories.get("r2dbc:postgresql://me@127.0.0.1:1/nowhere");
        AdvisoryLocks advisory = AdvisoryLocks.using(nowhere);
        R2dbcFencingGuard guard = R2dbcLockBackend.using(nowhere).fencingGuard();

        assertThatThrownBy(() -> advisory.tryWithSessionLock("a\ud83d", Mono.just(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> guard.write("a\ud83d", 5, connection -> Mono.just(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aPrefixThatStatementsUseForSomethingElseIsRefused() throws IOException {
        String statements;
        try (InputStream in = R2dbcLockBackend.class.getResourceAsStream("statements.sql")) {
            statements = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        Matcher parts = Pattern.compile("\\b([a-z_]+) AS (MATERIALIZED )?\\(").matcher(statements);

        assertThat(parts.results().map(part -> part.group(1)).distinct())
                .isNotEmpty()
                .allSatisfy(part -> assertThatThrownBy(
                                () -> R2dbcBackendOptions.defaults().withPrefix(part))
                        .as(part)
                        .hasMessageContaining("choose another"));
    }

    private static Throwable refusal(Databases database, String prefix) {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(database.factory(), Databases.PATIENT.withPrefix(prefix));
        Throwable refusal = backend.createTables()
                .then(backend.claim(Databases.claim("k")))
                .map(answer -> new Throwable("answered " + answer))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
        backend.close().block(Databases.LIMIT);
        return refusal;
    }

    @Test
    void aPrefixThatIsAnSqlWordOrForeignTableIsRefused() {
        try (PostgresServer postgres = PostgresServer.start();
                MariaDbServer mariaDb = MariaDbServer.start();
                Databases h2 = Databases.h2()) {
            for (Databases database : List.of(
                    new Databases(postgres.url(), () -> {}), new Databases(mariaDb.url("mariadb"), () -> {}), h2)) {
                database.createTables();

                assertThat(refusal(database, "order"))
                        .as(database.url())
                        .hasMessageContaining("'order' is a word of SQL")
                        .hasMessageNotContaining("is it up");
                assertThat(refusal(database, "reactive_lock_row"))
                        .as(database.url())
                        .hasMessageContaining("is another table")
                        .hasMessageNotContaining("is it up");
                assertThat(refusal(database, "nowhere.locks"))
                        .as(database.url())
                        .hasMessageContaining("schema")
                        .hasMessageNotContaining("is it up");
            }
        }
    }

    private static String said(String url) {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(url, Databases.PATIENT);
        String refusal = said(backend);
        backend.close().block(Databases.LIMIT);
        return refusal;
    }

    private static String said(R2dbcLockBackend backend) {
        Throwable refusal = backend.claim(Databases.claim(UUID.randomUUID().toString()))
                .map(answer -> new Throwable("answered " + answer))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
        return String.valueOf(refusal.getMessage());
    }

    @Test
    void anUnknownDatabaseAndALoginThatWantsTlsAreNamed() {
        try (Databases mariaDb = Databases.mariaDb("mariadb")) {
            String login = Databases.IS_MYSQL ? "IDENTIFIED WITH caching_sha2_password BY" : "IDENTIFIED BY";
            mariaDb.execute("CREATE USER me@'%' " + login + " 'a secret'");
            mariaDb.execute("GRANT ALL ON *.* TO me@'%'");
            for (Databases driver : List.of(mariaDb, mariaDb.byMySqlDriver())) {
                assertThat(said(driver.url().replace("/mysql", "/nowhere")))
                        .as(driver.url())
                        .contains("has no database or schema of this name", "nowhere")
                        .doesNotContain("is it up");
                if (driver.isMySqlDriver() || !Databases.IS_MYSQL) { // else it does not get as far without TLS
                    assertThat(said(driver.url().replace("root@", "me:another%20secret@")))
                            .as(driver.url())
                            .contains("does not let this user in")
                            .doesNotContain("another secret");
                }
                String plain = driver.url().replace("root@", "me:a%20secret@")
                        + (driver.isMySqlDriver() ? "?sslMode=disabled" : "?sslMode=disable");
                if (Databases.IS_MYSQL) {
                    assertThat(said(plain)).as(plain).contains("TLS").doesNotContain("is it up", "a secret");
                }
            }
        }
    }
}
