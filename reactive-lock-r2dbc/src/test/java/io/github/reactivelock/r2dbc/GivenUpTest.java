package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcTimeoutException;
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
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Statements of MariaDB or MySQL that meet a row which another transaction has locked, and are given up. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GivenUpTest {

    private static final R2dbcBackendOptions IMPATIENT =
            R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(5));

    private static final int SIZE = 3;
    private static final long PATIENCE_OF_THE_APPLICATION = 600; // longer than any test

    private Databases database;
    private R2dbcLockBackend backend;

    @BeforeAll
    void start() {
        database = Databases.mariaDb("mariadb", "--innodb-lock-wait-timeout=" + PATIENCE_OF_THE_APPLICATION);
        database.createTables();
        backend = R2dbcLockBackend.connect(database.factory(), IMPATIENT);
    }

    @AfterAll
    void stop() {
        backend.close().block(Databases.LIMIT);
        database.close();
    }

    private static Claim claim(String key) {
        return new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofSeconds(60), Claim.Mode.QUEUE);
    }

    Stream<Databases> drivers() {
        return Stream.of(database, database.byMySqlDriver());
    }

    private Connection holding(String rows) {
        Connection outsider = Mono.from(database.factory().create()).block(Databases.LIMIT);
        Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
        long unused = Databases.number(outsider, rows + " FOR UPDATE").block(Databases.LIMIT);
        return outsider;
    }

    private static void end(Connection outsider) {
        Mono.from(outsider.rollbackTransaction()).block(Databases.LIMIT);
        Mono.from(outsider.close()).block(Databases.LIMIT);
    }

    private void endsAtTheServer(Mono<?> command) {
        Throwable failure = command.map(answer -> new Throwable("answered " + answer))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
        assertThat(failure).hasMessageContaining("transaction");
        Databases.until(
                "it does not wait any more, though the row is locked",
                () -> database.select(Databases.MARIADB_WAITERS) == 0);
    }

    @Test
    void aGivenUpCommandOfAWaitingClaimLeavesTheServer() {
        assertThat(backend.claim(claim("queue")).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        Claim waiting = claim("queue");
        assertThat(backend.claim(waiting).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        Connection stuck = holding("SELECT place FROM reactive_lock_waiter WHERE claim_id = '" + waiting.id() + "'");

        endsAtTheServer(backend.claim(waiting));
        endsAtTheServer(backend.release(waiting));

        end(stuck);
        assertThat(backend.release(waiting).block(Databases.LIMIT)).isFalse();
        assertThat(database.select("SELECT count(*) FROM reactive_lock_waiter")).isZero();
    }

    @Test
    void aGivenUpCommandOfAOneTimeKeyLeavesTheServer() {
        Once once = Once.using(database.factory(), IMPATIENT);
        Mono<String> work = once.run("key", Duration.ofMinutes(10), Mono.just("done"));
        assertThat(work.block(Databases.LIMIT)).isEqualTo("done");
        Connection stuck = holding("SELECT expires FROM reactive_lock_once WHERE once_key = 'key'");

        endsAtTheServer(work);

        end(stuck);
        assertThat(work.blockOptional(Databases.LIMIT)).isEmpty();
    }

    private boolean noneWaits() {
        return database.select(Databases.MARIADB_WAITERS) == 0;
    }

    /** The statement of who gave up, or was cancelled, must not have the row when its holder commits. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aRowLockThatWasGivenUpGoesToTheNext(Databases driver) {
        ConnectionPool pool = driver.pool(SIZE);
        for (ConnectionFactory connections : List.of(driver.factory(), pool, new Hiding(pool))) {
            String key = UUID.randomUUID().toString();
            RowLocks patient = RowLocks.using(connections, Databases.LIMIT, IMPATIENT);
            RowLocks brief = RowLocks.using(connections, Duration.ofMillis(500), IMPATIENT);
            assertThat(patient.withRowLock(key, Mono.just("first")).block(Databases.LIMIT))
                    .isEqualTo("first");
            Connection holder = holding("SELECT locked_at FROM reactive_lock_row WHERE row_key = '" + key + "'");

            Throwable late = brief.withRowLock(key, Mono.just(new Throwable("had it")))
                    .onErrorResume(Mono::just)
                    .block(Databases.LIMIT);
            assertThat(late).isInstanceOf(R2dbcTimeoutException.class);
            Databases.until("what was late does not wait at the server, though the row is locked", this::noneWaits);
            Disposable cancelled = patient.withRowLock(key, Mono.just("never")).subscribe();
            Databases.until("another one waits", () -> !noneWaits());
            cancelled.dispose();
            end(holder);

            assertThat(patient.withRowLock(key, Mono.just("next")).block(Databases.LIMIT))
                    .isEqualTo("next");
            assertAsBefore(pool);
        }
        Databases.dispose(pool);
    }

    /** The same in a transaction of the application, which goes on as long as the application wants. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aRowLockGivenUpInAnApplicationsTransactionGoesToTheNext(Databases driver) {
        String key = UUID.randomUUID().toString();
        RowLocks patient = RowLocks.using(driver.factory(), Databases.LIMIT, IMPATIENT);
        RowLocks brief = RowLocks.using(driver.factory(), Duration.ofMillis(500), IMPATIENT);
        assertThat(patient.withRowLock(key, Mono.just("first")).block(Databases.LIMIT))
                .isEqualTo("first");
        Connection holder = holding("SELECT locked_at FROM reactive_lock_row WHERE row_key = '" + key + "'");
        Connection transaction = Mono.from(driver.factory().create()).block(Databases.LIMIT);
        Mono.from(transaction.beginTransaction()).block(Databases.LIMIT);
        long before = Databases.number(transaction, "SELECT @@SESSION.innodb_lock_wait_timeout")
                .block(Databases.LIMIT);

        Throwable late = brief.lock(transaction, key)
                .<Throwable>then(Mono.just(new Throwable("had it")))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);

        assertThat(late).isInstanceOf(R2dbcTimeoutException.class);
        Databases.until("it does not wait at the server, though the row is locked", this::noneWaits);
        assertThat(Databases.number(transaction, "SELECT @@SESSION.innodb_lock_wait_timeout")
                        .block(Databases.LIMIT))
                .isEqualTo(before);
        Disposable cancelled = RowLocks.using(driver.factory(), Duration.ofSeconds(2), IMPATIENT)
                .lock(transaction, key)
                .retryWhen(Retry.max(20)) // until it is seen to wait
                .subscribe();
        Databases.until("another one waits", () -> !noneWaits());
        cancelled.dispose();
        assertThat(Databases.number(transaction, "SELECT @@SESSION.innodb_lock_wait_timeout")
                        .block(Databases.LIMIT))
                .isEqualTo(before);
        end(holder);
        assertThat(patient.withRowLock(key, Mono.just("next")).block(Databases.LIMIT))
                .isEqualTo("next");
        end(transaction);
    }

    /**
     * Each try once left a session behind beside its pool, and one of them took the lock for its client that had gone.
     * Only what is given up is asked for by a client that gives up soon; what has to be answered may take its time.
     */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aLockWhoseRowSomebodyHeldIsHadWhenTheyLetGo(Databases driver) {
        String key = UUID.randomUUID().toString();
        R2dbcLockBackend patient = driver.backend();
        R2dbcLockBackend brief = R2dbcLockBackend.connect(
                driver.factory(),
                IMPATIENT.withCommandTimeout(Duration.ofMillis(1_300)).withConnections(2));
        takesAndReleases(patient, claim(key));
        Connection holder = holding("SELECT token FROM reactive_lock WHERE lock_key = '" + key + "'");

        for (int i = 0; i < 3; i++) {
            endsAtTheServer(brief.claim(claim(key)));
        }
        end(holder);

        takesAndReleases(patient, claim(key));
        takenAndReleasedAtLast(brief, claim(key));
        brief.close().then(patient.close()).block(Databases.LIMIT);
    }

    /** As a wrapper of metrics that shows neither the pool nor its connections. */
    private record Hiding(ConnectionFactory inner) implements ConnectionFactory {
        @Override
        public Mono<Connection> create() {
            return Mono.from(inner.create()).map(connection -> (Connection) Proxy.newProxyInstance(
                    GivenUpTest.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> method.invoke(connection, arguments)));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return inner.getMetadata();
        }
    }

    /** All of its connections are there again, and each is as the application's were before. */
    private static void assertAsBefore(ConnectionPool pool) {
        Databases.until(
                "the application has its connections",
                () -> pool.getMetrics().orElseThrow().acquiredSize() == 0);
        List<Connection> all =
                Flux.range(0, SIZE).concatMap(i -> pool.create()).collectList().block(Databases.LIMIT);
        for (Connection each : all) {
            assertThat(Databases.number(each, "SELECT @@SESSION.innodb_lock_wait_timeout")
                            .block(Databases.LIMIT))
                    .isEqualTo(PATIENCE_OF_THE_APPLICATION);
            assertThat(Databases.number(
                                    each,
                                    "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id"
                                            + " = connection_id()")
                            .block(Databases.LIMIT))
                    .isZero();
        }
        Flux.fromIterable(all).concatMap(Connection::close).then().block(Databases.LIMIT);
    }

    /**
     * What is given up ends at the server in time, and nothing of it stays in the application's connections. MySQL
     * waits for whole seconds, so a client with less gives up before the server; MariaDB ends that statement too.
     */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void whatIsGivenUpOverAnApplicationsPoolLeavesTheServerAndThePool(Databases driver) {
        R2dbcLockBackend patient = driver.backend();
        for (boolean isHidden : List.of(false, true)) {
            ConnectionPool pool = driver.pool(SIZE);
            ConnectionFactory seen = isHidden ? new Hiding(pool) : pool;
            String key = UUID.randomUUID().toString();
            R2dbcLockBackend brief = using(seen, Duration.ofMillis(2_500));
            R2dbcLockBackend hasty = using(seen, Duration.ofMillis(600));
            takesAndReleases(patient, claim(key));
            takenAndReleasedAtLast(hasty, claim(key)); // a first answer may take its time
            Connection holder = holding("SELECT token FROM reactive_lock WHERE lock_key = '" + key + "'");

            endsAtTheServer(brief.claim(claim(key)));
            assertThatThrownBy(() -> hasty.claim(claim(key)).block(Databases.LIMIT))
                    .isInstanceOf(R2dbcFailure.class);
            Databases.until("what was late does not wait at the server, though the row is locked", this::noneWaits);
            assertAsBefore(pool);
            end(holder);

            takesAndReleases(patient, claim(key));
            takenAndReleasedAtLast(brief, claim(key));
            assertAsBefore(pool);
            brief.close().then(hasty.close()).block(Databases.LIMIT);
            Databases.dispose(pool);
        }
        patient.close().block(Databases.LIMIT);
    }

    private static R2dbcLockBackend using(ConnectionFactory pool, Duration timeout) {
        return R2dbcLockBackend.using(
                pool, IMPATIENT.withCommandTimeout(timeout).withoutNotifications());
    }

    /** By a client that gives up sooner than a busy machine answers. */
    private static void takenAndReleasedAtLast(R2dbcLockBackend client, Claim claim) {
        assertThat(client.claim(claim).retryWhen(Retry.max(40)).block(Databases.LIMIT))
                .isInstanceOf(ClaimResult.Granted.class);
        assertThat(client.release(claim).retryWhen(Retry.max(40)).block(Databases.LIMIT))
                .isNotNull();
    }

    private static void takesAndReleases(R2dbcLockBackend client, Claim claim) {
        assertThat(client.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(client.release(claim).block(Databases.LIMIT)).isTrue();
    }
}
