package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** What bad input and outages do to a lock in each of the databases that it may happen to. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OutageTest {

    /** A database that can be restarted, and how its users look into it. */
    record Restartable(Databases database, Runnable restart, String key, String waitingForRows) {
        @Override
        public String toString() {
            return database.toString();
        }
    }

    private static final int CONNECTIONS = 40;

    private final List<LockClient> clients = new ArrayList<>();
    private Restartable postgres;
    private Restartable mariaDb;
    private Databases mySqlDriver;

    @BeforeAll
    void start() {
        // What was committed must survive the process, and the lock's own transaction is the first to look for
        // deadlocks.
        PostgresServer one = PostgresServer.start("-c", "synchronous_commit=on", "-c", "deadlock_timeout=9s");
        MariaDbServer other = MariaDbServer.start("--innodb-flush-log-at-trx-commit=2");
        postgres = new Restartable(
                new Databases(one.url(), one::close),
                one::restart,
                "convert_to('%s', 'UTF8')",
                "SELECT count(*) FROM pg_locks WHERE NOT granted");
        mariaDb = new Restartable(
                new Databases(other.url("mariadb"), other::close), other::restart, "'%s'", Databases.MARIADB_WAITERS);
        mySqlDriver = new Databases(other.url("mysql"), () -> {});
        restartable().forEach(each -> each.database().createTables());
    }

    @AfterEach
    void closeClients() {
        clients.forEach(client -> client.close().block(Databases.LIMIT));
        clients.clear();
    }

    @AfterAll
    void stop() {
        restartable().forEach(each -> each.database().close());
    }

    Stream<Databases> all() {
        return Stream.of(postgres.database(), mariaDb.database(), mySqlDriver, Databases.h2());
    }

    Stream<Databases> servers() {
        return Stream.of(postgres.database(), mariaDb.database(), mySqlDriver);
    }

    Stream<Databases> driversOfMariaDb() {
        return Stream.of(mariaDb.database(), mySqlDriver);
    }

    Stream<Restartable> restartable() {
        return Stream.of(postgres, mariaDb);
    }

    private LockClient client(R2dbcLockBackend backend) {
        LockClient client = LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(40))
                .build();
        clients.add(client);
        return client;
    }

    private static <T> T within(CompletableFuture<T> answer) {
        return answer.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("all")
    void aMissingTableIsAnErrorThatNamesTheCall(Databases database) {
        R2dbcBackendOptions elsewhere = Databases.PATIENT.withPrefix("nowhere");
        LockClient client = client(R2dbcLockBackend.connect(database.factory(), elsewhere));

        assertThatThrownBy(() -> client.acquire("k").block(Databases.LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("createTables()")
                .hasMessageContaining("schema-" + Dialect.of(database.factory()).id() + "/V1__reactive_lock.sql")
                .hasMessageContaining("nowhere");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfMariaDb")
    void sessionsThatAnAdministratorKillsCostNoLock(Databases database) {
        String key = UUID.randomUUID().toString();
        LockHandle held = client(database.backend()).acquire(key).block(Databases.LIMIT);
        CompletableFuture<LockHandle> waiting =
                client(database.backend()).acquire(key).toFuture();
        Databases.until("it waits", () -> database.select("SELECT count(*) FROM reactive_lock_waiter") == 1);

        assertThat(database.killAll()).isPositive();

        held.renew().retry(5).block(Databases.LIMIT);
        assertThat(held.isHeld()).isTrue();
        held.release().retry(5).block(Databases.LIMIT);
        within(waiting).release().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aFirstQuestionWhoseConnectionBreaksIsAskedAgain(Databases database) {
        isAskedAgain(database, way -> R2dbcLockBackend.connect(way, Databases.PATIENT));
    }

    /** It opens a connection for every question, which is reset before the database has let it in. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aFirstQuestionOverAFactoryHandedInWhoseConnectionBreaksIsAskedAgain(Databases database) {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            R2dbcLockBackend backend =
                    R2dbcLockBackend.using(database.through(proxy).factory(), Databases.PATIENT);
            proxy.dropReplies();
            CompletableFuture<ClaimResult> answer = backend.claim(Databases.claim("opening " + UUID.randomUUID()))
                    .toFuture();
            Databases.until("a connection is being opened", () -> proxy.connections() == 1);

            proxy.reset();
            proxy.mend();

            assertThat(within(answer)).isInstanceOf(ClaimResult.Granted.class);
            backend.close().block(Databases.LIMIT);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aFirstQuestionOverAPoolHandedInWhoseConnectionBreaksIsAskedAgain(Databases database) {
        List<ConnectionPool> pools = new ArrayList<>();
        isAskedAgain(database, way -> {
            pools.add(pool(way));
            return R2dbcLockBackend.using(pools.get(0), Databases.PATIENT);
        });
        pools.get(0).disposeLater().onErrorComplete().block(Databases.LIMIT); // what it keeps is broken
    }

    private void isAskedAgain(Databases database, Function<ConnectionFactory, R2dbcLockBackend> opened) {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            R2dbcLockBackend backend = opened.apply(database.through(proxy).factory());
            assertThat(backend.claim(Databases.claim("warm up " + UUID.randomUUID()))
                            .block(Databases.LIMIT))
                    .isInstanceOf(ClaimResult.Granted.class);
            Claim claim = Databases.claim("first question " + UUID.randomUUID());
            String owned = "SELECT count(*) FROM reactive_lock WHERE claim_id = '" + claim.id() + "'";

            proxy.dropReplies();
            CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();
            Databases.until("it is carried out", () -> database.select(owned) == 1);
            proxy.mend(); // the connection is reset

            assertThat(within(answer)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(backend.release(claim).block(Databases.LIMIT)).isTrue();
            backend.close().block(Databases.LIMIT);
        }
    }

    /** More than a question tries: each of them is found broken by the pool, or only by asking. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aPoolHandedInWhoseConnectionsWereAllResetServesTheNextQuestion(Databases database) {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            ConnectionPool pool = pool(database.through(proxy).factory());
            R2dbcLockBackend backend = R2dbcLockBackend.using(pool, Databases.PATIENT);
            assertThat(pool.warmup().block(Databases.LIMIT)).isEqualTo(CONNECTIONS);
            Claim held = Databases.claim("held " + UUID.randomUUID());
            assertThat(backend.claim(held).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

            proxy.reset();

            assertThat(backend.claim(Databases.claim("next " + UUID.randomUUID()))
                            .block(Databases.LIMIT))
                    .isInstanceOf(ClaimResult.Granted.class);
            assertThat(backend.renew(List.of(held)).block(Databases.LIMIT).renewed())
                    .containsExactly(held.id());
            backend.close().block(Databases.LIMIT);
            pool.disposeLater().onErrorComplete().block(Databases.LIMIT);
        }
    }

    /** As an application makes it, with nothing set that has to do with broken connections. */
    private static ConnectionPool pool(ConnectionFactory factory) {
        return new ConnectionPool(ConnectionPoolConfiguration.builder(factory)
                .initialSize(CONNECTIONS)
                .maxSize(CONNECTIONS)
                .build());
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("restartable")
    void aServerThatRestartsWithItsDataKeepsHoldsAndServesWaiters(Restartable server) {
        Databases database = server.database();
        // On a busy machine a restart may take as long as the default lease.
        LockOptions patient = LockOptions.defaults().withLease(Duration.ofMinutes(5));
        LockHandle held =
                client(database.backend()).with(patient).acquire("restarted").block(Databases.LIMIT);
        CompletableFuture<LockHandle> waiting =
                client(database.backend()).with(patient).acquire("restarted").toFuture();
        Databases.until("it waits", () -> database.select("SELECT count(*) FROM reactive_lock_waiter") == 1);

        server.restart().run();

        held.renew().retry(5).block(Databases.LIMIT);
        assertThat(held.isHeld()).isTrue();
        assertThat(waiting).isNotDone();
        held.release().retry(5).block(Databases.LIMIT);
        LockHandle next = within(waiting);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        next.release().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("restartable")
    void aDeadlockThatTheDatabaseEndsAtOurCostIsTriedAgain(Restartable server) {
        Databases database = server.database();
        R2dbcLockBackend backend = database.backend();
        Claim first = Databases.claim("deadlock");
        Claim second = Databases.claim("deadlock");
        var unusedFirst = backend.claim(first).block(Databases.LIMIT);
        var unusedSecond = backend.claim(second).block(Databases.LIMIT);
        Connection outsider = Mono.from(database.factory().create()).block(Databases.LIMIT);
        Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
        // MariaDB ends the transaction that changed less, PostgreSQL the one that looks for a deadlock first.
        if (server.equals(postgres)) {
            run(outsider, "SET deadlock_timeout = '60s'");
        } else {
            for (int row = 0; row < 20; row++) {
                run(outsider, "INSERT INTO reactive_lock_row VALUES ('heavy " + row + "', 0)");
            }
        }
        run(outsider, "SELECT place FROM reactive_lock_waiter WHERE claim_id = '" + second.id() + "' FOR UPDATE");

        CompletableFuture<Boolean> release = backend.release(first).toFuture();
        Databases.until("it waits for the row", () -> database.select(server.waitingForRows()) > 0);
        run(
                outsider,
                "SELECT token FROM reactive_lock WHERE lock_key = " + String.format(server.key(), "deadlock")
                        + " FOR UPDATE");
        assertThat(release).isNotDone();
        Mono.from(outsider.rollbackTransaction()).block(Databases.LIMIT);

        assertThat(within(release)).isTrue();
        Mono.from(outsider.close()).block(Databases.LIMIT);
        assertThat(backend.release(second).block(Databases.LIMIT)).isTrue();
        backend.close().block(Databases.LIMIT);
    }

    private static void run(Connection connection, String sql) {
        long unused = Databases.number(connection, sql).block(Databases.LIMIT);
    }
}
