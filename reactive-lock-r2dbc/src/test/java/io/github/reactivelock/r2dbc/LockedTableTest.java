package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A lock on a whole table or server, as a backup or a change of the table takes it, for longer than any command. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LockedTableTest {

    private static final R2dbcBackendOptions LONGER = R2dbcBackendOptions.defaults()
            .withCommandTimeout(Duration.ofSeconds(10))
            .withoutNotifications();

    private static final String POSTGRES_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    private static final String MARIADB_WAITING = "SELECT count(*) FROM information_schema.processlist"
            + " WHERE command <> 'Sleep' AND state LIKE 'Waiting for%lock%'";

    private Databases postgres;
    private Databases mariaDb;

    @BeforeAll
    void start() {
        postgres = Databases.postgres();
        mariaDb = Databases.mariaDb("mariadb");
        Stream.of(postgres, mariaDb).forEach(Databases::createTables);
    }

    @AfterAll
    void stop() {
        Stream.of(postgres, mariaDb).forEach(Databases::close);
    }

    Stream<Arguments> locked() {
        return Stream.of(
                Arguments.of(postgres, "LOCK TABLE reactive_lock IN ACCESS EXCLUSIVE MODE", POSTGRES_WAITING),
                Arguments.of(mariaDb, "LOCK TABLE reactive_lock WRITE", MARIADB_WAITING),
                Arguments.of(mariaDb.byMySqlDriver(), "LOCK TABLE reactive_lock WRITE", MARIADB_WAITING),
                Arguments.of(mariaDb, "FLUSH TABLES WITH READ LOCK", MARIADB_WAITING));
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    /** By a client that gives up sooner than a busy machine answers. */
    private static Mono<ClaimResult> atLast(Mono<ClaimResult> claim) {
        return claim.retryWhen(Retry.max(40));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("locked")
    void noStatementWaitsAtTheServerForLongerThanItsClient(Databases database, String lock, String waiting) {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(
                database.factory(),
                R2dbcBackendOptions.defaults()
                        .withCommandTimeout(Duration.ofMillis(1_200))
                        .withConnections(4)
                        .withoutNotifications());
        assertThat(get(atLast(backend.claim(Databases.claim("before " + UUID.randomUUID())))))
                .isInstanceOf(ClaimResult.Granted.class);
        Connection locking = get(Mono.from(database.factory().create()));
        get(Mono.from(locking.beginTransaction()));
        long unused = Databases.number(locking, lock).block(Databases.LIMIT);

        for (int round = 0; round < 3; round++) {
            long answered = Flux.range(0, 8)
                    .flatMap(i -> backend.claim(Databases.claim("locked " + UUID.randomUUID()))
                            .map(answer -> 1L)
                            .onErrorReturn(0L)
                            .concatWith(
                                    backend.inspect("looked at").map(seen -> 0L).onErrorReturn(0L)))
                    .reduce(0L, Long::sum)
                    .block(Databases.LIMIT);
            assertThat(answered).isZero();
        }

        Databases.until("none waits any more, though the lock is held", () -> database.select(waiting) == 0);
        get(Mono.from(locking.close()));
        Databases.until(
                "locks work again",
                () -> backend.claim(Databases.claim("after " + UUID.randomUUID()))
                        .map(ClaimResult.Granted.class::isInstance)
                        .onErrorReturn(false)
                        .block(Databases.LIMIT));
        get(backend.close());
    }

    Stream<Arguments> lockedForOthers() {
        return Stream.of(mariaDb, mariaDb.byMySqlDriver())
                .flatMap(database -> Stream.of(
                                "LOCK TABLE reactive_lock_row WRITE, reactive_lock_fence WRITE",
                                "FLUSH TABLES WITH READ LOCK")
                        .map(lock -> Arguments.of(database, lock)));
    }

    /** They are given the time that their client waits, and would have the server's own, which is a day. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("lockedForOthers")
    void noRowLockGuardOrNewTableWaitsForLongerThanItsClient(Databases database, String lock) {
        ConnectionPool pool = Databases.pool(database.factory(), 8);
        R2dbcBackendOptions options = R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofMillis(1_200));
        RowLocks rows = RowLocks.using(pool, Duration.ofSeconds(1), options);
        R2dbcLockBackend creating = R2dbcLockBackend.using(
                pool, options.withPrefix("made_" + UUID.randomUUID().toString().substring(0, 8)));
        Connection locking = get(Mono.from(database.factory().create()));
        long unused = get(Databases.number(locking, lock));

        R2dbcFencingGuard guard = R2dbcLockBackend.using(pool, options).fencingGuard();
        long doesNotWait = lock.startsWith("LOCK") ? 0 : 1; // for tables that are not there yet
        List<Long> done = Flux.range(0, 6)
                .flatMap(i -> (switch (i % 3) {
                            case 0 -> rows.withRowLock("row " + i, connection -> Mono.just(1L));
                            case 1 -> guard.write("resource " + i, 1_024, connection -> Mono.just(1L));
                            default -> creating.createTables().thenReturn(doesNotWait);
                        })
                        .onErrorReturn(0L))
                .collectList()
                .block(Databases.LIMIT);

        assertThat(done).hasSize(6).containsOnly(0L);
        Databases.until("none waits any more, though the lock is held", () -> database.select(MARIADB_WAITING) == 0);
        get(Mono.from(locking.close()));
        Long locked = get(rows.withRowLock("row", connection -> Mono.just(1L)));
        assertThat(locked).isEqualTo(1);
        Databases.dispose(pool);
    }

    private Connection lockTable() {
        Connection locking = get(Mono.from(postgres.factory().create()));
        get(Mono.from(locking.beginTransaction()));
        long unused = get(Databases.number(locking, "LOCK TABLE reactive_lock IN ACCESS EXCLUSIVE MODE"));
        return locking;
    }

    /** As when its process is killed: its connections end, and no request to cancel comes. */
    private Disposable diesWaiting(R2dbcLockBackend client, Claim claim, TcpProxy proxy) {
        Disposable asked = client.claim(claim).subscribe(answer -> {}, error -> {});
        Databases.until("it waits for the table", () -> postgres.select(POSTGRES_WAITING) > 0);
        proxy.cut();
        return asked;
    }

    private static void granted(R2dbcLockBackend client) {
        assertThat(get(client.claim(Databases.claim(UUID.randomUUID().toString()))))
                .isInstanceOf(ClaimResult.Granted.class);
    }

    private void untilNoneWaits() {
        Databases.until(
                "it does not wait any more, though the table is locked", () -> postgres.select(POSTGRES_WAITING) == 0);
    }

    @Test
    void whatAClientWaitsForThatDiesEndsAtPostgres() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            R2dbcLockBackend dying =
                    R2dbcLockBackend.connect(postgres.through(proxy).factory(), LONGER);
            granted(dying);
            Connection locking = lockTable();

            Disposable asked =
                    diesWaiting(dying, Databases.claim(UUID.randomUUID().toString()), proxy);

            untilNoneWaits();
            asked.dispose();
            get(Mono.from(locking.close()).then(dying.close()));
        }
    }

    @Test
    void overAnApplicationsPoolItEndsWhereItsSessionsLookForTheirClient() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            ConnectionPool pool = Databases.pool(
                    Databases.beginningWith(
                            "SET client_connection_check_interval = 500",
                            postgres.through(proxy).factory()),
                    1);
            R2dbcLockBackend dying = R2dbcLockBackend.using(pool, LONGER);
            granted(dying);
            Connection locking = lockTable();

            Disposable asked =
                    diesWaiting(dying, Databases.claim(UUID.randomUUID().toString()), proxy);

            untilNoneWaits();
            asked.dispose();
            get(Mono.from(locking.close()).then(dying.close()));
            Databases.dispose(pool);
        }
    }

    /** PostgreSQL waits for a table before it reads what a statement says of its own patience. */
    @Test
    void overAnyOtherPoolItWaitsForTheTableAndThenHasItsLock() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            ConnectionPool pool = Databases.pool(postgres.through(proxy).factory(), 1);
            R2dbcLockBackend dying = R2dbcLockBackend.using(pool, LONGER);
            R2dbcLockBackend looking = R2dbcLockBackend.connect(postgres.factory(), LONGER);
            granted(dying);
            granted(looking);
            Connection locking = lockTable();
            Claim claim = Databases.claim(UUID.randomUUID().toString());

            Disposable asked = diesWaiting(dying, claim, proxy);

            get(Mono.from(locking.close()));
            Databases.until(
                    "it has its lock", () -> !get(looking.inspect(claim.key())).isFree());
            asked.dispose();
            get(dying.close().then(looking.close()));
            Databases.dispose(pool);
        }
    }

    /** Connections whose request to cancel takes longer than anything waits for it, as where many give up at once. */
    private static ConnectionFactory slowToCancel(ConnectionFactory real) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.from(real.create()).map(connection -> (Connection) Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {PostgresqlConnection.class},
                        (proxy, method, arguments) -> method.getName().equals("cancelRequest")
                                ? Mono.delay(Duration.ofSeconds(2))
                                        .then(((PostgresqlConnection) connection).cancelRequest())
                                : method.invoke(connection, arguments)));
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return real.getMetadata();
            }
        };
    }

    /**
     * One that waited on took the lock when the table was free again, and kept it from all others until its lease
     * ended.
     */
    @Test
    void whatIsGivenUpIsCancelledAtPostgresHoweverLongThatTakes() {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(
                slowToCancel(postgres.factory()),
                R2dbcBackendOptions.defaults()
                        .withCommandTimeout(Duration.ofMillis(1_200))
                        .withoutNotifications());
        String key = UUID.randomUUID().toString();
        Connection locking = lockTable();

        Throwable failure = get(backend.claim(Databases.claim(key))
                .<Throwable>map(answer -> new AssertionError("answered " + answer))
                .onErrorResume(Mono::just));

        assertThat(failure).hasMessageContaining("did not answer");
        Databases.until(
                "it does not wait any more, though the lock is held", () -> postgres.select(POSTGRES_WAITING) == 0);
        get(Mono.from(locking.close()));
        assertThat(get(atLast(backend.claim(Databases.claim(key))))).isInstanceOf(ClaimResult.Granted.class);
        get(backend.close());
    }
}
