package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PgBouncer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Databases as they are: set up in another way than by default, or behind a pooler. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SettingsTest {

    private static final String SCHEMA = "a_schema_with_a_name_of_forty_characters";
    private static final String PREFIX = SCHEMA + ".and_a_prefix_of_about_as_many_characters";
    private static final String UNPREPARED = "?preparedStatementCacheQueries=0";

    private PostgresServer server;
    private PgBouncer pooler;
    private Databases postgres;
    private Databases mariaDb;
    private Databases h2;

    @BeforeAll
    void start() {
        server = PostgresServer.start();
        pooler = PgBouncer.before(server);
        postgres = new Databases(server.url(), server::close);
        mariaDb = Databases.mariaDb("mariadb");
        h2 = Databases.h2();
        databases().forEach(Databases::createTables);
    }

    @AfterAll
    void stop() {
        pooler.close();
        databases().forEach(Databases::close);
    }

    private static long opened(Databases database) {
        return database.select(Databases.counted("CONNECTIONS"));
    }

    private static Throwable failure(R2dbcLockBackend backend) {
        return backend.claim(Databases.claim("refused"))
                .map(answer -> new Throwable("answered " + answer))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
    }

    /**
     * A grant that a crash of the server forgets would be given a second time. A forgotten release only ends with its
     * lease.
     */
    @Test
    void aGrantWaitsForPostgresDiskAndAReleaseWithoutGrantDoesNot() {
        postgres.execute("CREATE DATABASE durable");
        postgres.execute("ALTER DATABASE durable SET synchronous_commit = on");
        Databases durable = new Databases(server.url().replaceAll("/postgres$", "/durable"), () -> {});
        durable.createTables();
        durable.execute("CREATE TABLE change (claim VARCHAR, waits VARCHAR)");
        durable.execute(
                "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
                        + " INSERT INTO change VALUES (NEW.claim_id, current_setting(''synchronous_commit'')); RETURN NEW; END'");
        durable.execute(
                "CREATE TRIGGER note BEFORE INSERT OR UPDATE ON reactive_lock FOR EACH ROW EXECUTE FUNCTION note()");
        R2dbcLockBackend backend = durable.backend();
        List<Claim> claims = List.of(Databases.claim("disk"), Databases.claim("disk"), Databases.claim("disk"));
        Claim longer = new Claim("disk", "longer", "me", Duration.ofSeconds(61), Claim.Mode.QUEUE);

        for (Claim claim : List.of(claims.get(0), claims.get(1), longer)) {
            assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(backend.release(claim).block(Databases.LIMIT)).isTrue();
        }
        String released = "SELECT count(*) FROM change WHERE claim IS NULL AND waits = 'off'";
        assertThat(durable.select(released)).isEqualTo(2);
        assertThat(durable.select("SELECT count(*) FROM change WHERE claim IS NULL AND waits = 'on'"))
                .isEqualTo(1);
        assertThat(backend.claim(claims.get(0)).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(backend.claim(claims.get(2)).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(backend.release(claims.get(0)).block(Databases.LIMIT)).isTrue();

        String granted = "SELECT count(DISTINCT claim) FROM change WHERE claim IS NOT NULL AND waits = 'on'";
        assertThat(durable.select(granted)).isEqualTo(4);
        assertThat(durable.select("SELECT count(*) FROM change WHERE claim IS NOT NULL AND waits = 'off'"))
                .isZero();
        backend.close().block(Databases.LIMIT);
    }

    @Test
    void statementsAreReadCommittedThoughTheDefaultOfPostgresIsSerializable() {
        postgres.execute("CREATE DATABASE isolated");
        postgres.execute("ALTER DATABASE isolated SET default_transaction_isolation = 'serializable'");
        Databases isolated = new Databases(server.url().replaceAll("/postgres$", "/isolated"), () -> {});
        isolated.createTables();
        R2dbcLockBackend one = isolated.backend();
        R2dbcLockBackend other = isolated.backend();
        Claim holder = Databases.claim("isolated");
        Claim next = Databases.claim("isolated");
        assertThat(one.claim(holder).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        Connection outsider = Mono.from(isolated.factory().create()).block(Databases.LIMIT);
        Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
        long unused = Databases.number(outsider, "UPDATE reactive_lock SET places = places + 1")
                .block(Databases.LIMIT);
        CompletableFuture<ClaimResult> joins = other.claim(next).toFuture();
        Databases.until(
                "it waits for the row", () -> postgres.select("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);

        Mono.from(outsider.commitTransaction()).block(Databases.LIMIT);

        assertThat(joins.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(ClaimResult.Queued.class);
        Mono.from(outsider.close()).block(Databases.LIMIT);
        assertThat(one.release(holder).block(Databases.LIMIT)).isTrue();
        assertThat(other.release(next).block(Databases.LIMIT)).isTrue();
        one.close().then(other.close()).block(Databases.LIMIT);
        // Sessions count what they rolled back, at the latest when they end.
        Databases.until(
                "the sessions ended",
                () -> postgres.select("SELECT count(*) FROM pg_stat_activity WHERE datname = 'isolated'") == 0);
        assertThat(postgres.select("SELECT xact_rollback FROM pg_stat_database WHERE datname = 'isolated'"))
                .isZero();
    }

    /** No claim gets a lock that could not be handed on, the second one neither. */
    @Test
    void aStatementBinaryLogIsRefusedWithTheSettingToMake() {
        try (Databases database =
                Databases.mariaDb("mariadb", "--log-bin=binlog", "--server-id=1", "--binlog-format=STATEMENT")) {
            database.createTables();
            for (Databases driver : List.of(database, database.byMySqlDriver())) {
                R2dbcLockBackend backend = driver.backend();

                long before = opened(database);
                for (int i = 0; i < 2; i++) {
                    assertThat(failure(backend)).as(driver.url()).hasMessageContaining("binlog_format=MIXED");
                }

                assertThat(opened(database) - before)
                        .as("connections for one refusal")
                        .isLessThan(50);
                assertThat(database.select("SELECT count(*) FROM reactive_lock"))
                        .isZero();
                backend.close().block(Databases.LIMIT);
            }
        }
    }

    @Test
    void aLongPrefixIsWatchedLikeAShortOne() {
        postgres.execute("CREATE SCHEMA " + SCHEMA);
        R2dbcLockBackend backend = R2dbcLockBackend.connect(postgres.factory(), Databases.PATIENT.withPrefix(PREFIX));
        backend.createTables().block(Databases.LIMIT);
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        var watching = backend.events("watched").subscribe(seen::add);
        Databases.until("the watch is in force", () -> !seen.isEmpty());
        Claim claim = Databases.claim("watched");

        assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(backend.release(claim).block(Databases.LIMIT)).isTrue();

        Databases.until("both are seen", () -> seen.size() == 3);
        watching.dispose();
        backend.close().block(Databases.LIMIT);
    }

    @Test
    void aPoolerThatForgetsPreparedStatementsIsAnErrorThatSaysWhatToSet() {
        R2dbcLockBackend one = R2dbcLockBackend.connect(ConnectionFactories.get(pooler.url()), Databases.PATIENT);
        R2dbcLockBackend other = R2dbcLockBackend.connect(ConnectionFactories.get(pooler.url()), Databases.PATIENT);

        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        Databases.until("one stands in the other's way", () -> {
            failures.add(failure(one));
            failures.add(failure(other));
            return failures.stream()
                    .anyMatch(failure -> failure.getMessage().contains("preparedStatementCacheQueries"));
        });

        one.close().then(other.close()).block(Databases.LIMIT);
    }

    @Test
    void behindAPoolerThatSwallowsNotificationsAWaiterLooksForItself() {
        LockOptions hours = LockOptions.defaults().withLease(Duration.ofHours(10));
        LockClient holding = Databases.client(
                R2dbcLockBackend.connect(ConnectionFactories.get(pooler.url() + UNPREPARED), Databases.PATIENT));
        LockClient waiting = Databases.client(
                R2dbcLockBackend.connect(ConnectionFactories.get(pooler.url() + UNPREPARED), Databases.PATIENT));

        assertServed(holding.with(hours), waiting.with(hours), "pooled");
    }

    @Test
    void aClientThatDoesNotListenLooksForItself() {
        LockOptions hours = LockOptions.defaults().withLease(Duration.ofHours(10));
        R2dbcBackendOptions silent = Databases.PATIENT.withoutNotifications();
        // Others have listened, and their sessions may end meanwhile.
        String named = server.url() + "?applicationName=silent";
        LockClient holding = Databases.client(R2dbcLockBackend.connect(ConnectionFactories.get(named), silent));
        LockClient waiting = Databases.client(R2dbcLockBackend.connect(ConnectionFactories.get(named), silent));

        assertServed(holding.with(hours), waiting.with(hours), "unheard");

        assertThat(postgres.select("SELECT count(*) FROM pg_stat_activity"
                        + " WHERE application_name = 'silent' AND query LIKE 'LISTEN%'"))
                .isZero();
    }

    /** Hands out connections whose users have to commit. */
    private record ByHand(ConnectionFactory real) implements ConnectionFactory {
        @Override
        public Publisher<? extends Connection> create() {
            return Mono.from(real.create())
                    .flatMap(connection ->
                            Mono.from(connection.setAutoCommit(false)).thenReturn((Connection) connection));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void connectionsThatCommitByHandServeLikeOthers(Databases database) {
        R2dbcLockBackend one = R2dbcLockBackend.using(new ByHand(database.factory()), Databases.PATIENT);
        R2dbcLockBackend other = R2dbcLockBackend.using(new ByHand(database.factory()), Databases.PATIENT);
        Claim holder = Databases.claim("by hand");
        Claim next = Databases.claim("by hand");

        assertThat(one.claim(holder).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(other.claim(next).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(one.renew(List.of(holder)).block(Databases.LIMIT).renewed()).containsExactly(holder.id());
        assertThat(one.release(holder).block(Databases.LIMIT)).isTrue();
        assertThat(other.claim(next).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(other.release(next).block(Databases.LIMIT)).isTrue();
        assertThat(one.claim(holder).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(one.release(holder).block(Databases.LIMIT)).isTrue();
        Once once = Once.using(new ByHand(database.factory()), Databases.PATIENT);
        assertThat(once.run("by hand", Duration.ofHours(1), Mono.just("it ran")).block(Databases.LIMIT))
                .isEqualTo("it ran");
        assertThat(once.run("by hand", Duration.ofHours(1), Mono.just("twice")).blockOptional(Databases.LIMIT))
                .isEmpty();
        one.close().then(other.close()).block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("strict")
    void anAdministratorsLimitsForIdleSessionsAndLongStatementsCostNoLock(Databases database) {
        database.createTables();
        LockOptions brief = LockOptions.defaults().withLease(Duration.ofSeconds(15));
        LockClient holding = Databases.client(database.backend()).with(brief);
        LockClient waiting = Databases.client(database.backend()).with(brief);
        LockHandle held = holding.acquire("limited").block(Databases.LIMIT);
        CompletableFuture<LockHandle> next = waiting.acquire("limited").toFuture();
        Databases.until("it waits", () -> database.selectAgain("SELECT count(*) FROM reactive_lock_waiter") == 1);
        String leaseEnd = "SELECT lease_end FROM reactive_lock";
        long before = database.selectAgain(leaseEnd);

        Databases.until("idle sessions ended a few times", () -> database.selectAgain(leaseEnd) > before + 8_000_000);

        assertThat(held.isHeld()).isTrue();
        held.release().block(Databases.LIMIT);
        next.orTimeout(60, TimeUnit.SECONDS).join().release().block(Databases.LIMIT);
        Flux.just(holding, waiting).concatMap(LockClient::close).then().block(Databases.LIMIT);
        database.close();
    }

    Stream<Databases> databases() {
        return Stream.of(postgres, mariaDb, h2);
    }

    static Stream<Databases> strict() {
        PostgresServer one = PostgresServer.start(
                "-c", "idle_session_timeout=700ms", "-c", "statement_timeout=5s", "-c", "lock_timeout=2s");
        MariaDbServer other = MariaDbServer.start("--wait-timeout=1", "--max-statement-time=5");
        return Stream.of(new Databases(one.url(), one::close), new Databases(other.url("mariadb"), other::close));
    }

    private void assertServed(LockClient holding, LockClient waiting, String key) {
        LockHandle held = holding.acquire(key).block(Databases.LIMIT);
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        String waiters = "SELECT count(*) FROM reactive_lock_waiter WHERE lock_key = convert_to('" + key + "', 'UTF8')";
        Databases.until("it waits", () -> postgres.select(waiters) == 1);

        held.release().block(Databases.LIMIT);

        next.orTimeout(60, TimeUnit.SECONDS).join().release().block(Databases.LIMIT);
        Flux.just(holding, waiting).concatMap(LockClient::close).then().block(Databases.LIMIT);
    }
}
