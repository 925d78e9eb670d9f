package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RowLocksTest {

    private List<Databases> databases;

    @BeforeAll
    void start() {
        Databases mariaDb = Databases.mariaDb("mariadb");
        databases = List.of(Databases.postgres(), mariaDb, mariaDb.byMySqlDriver(), Databases.h2());
        databases.stream().filter(each -> !each.isMySqlDriver()).forEach(database -> {
            database.createTables();
            database.execute("CREATE TABLE counter (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL)");
            database.execute("INSERT INTO counter (id, amount) VALUES (1, 0)");
        });
    }

    @AfterAll
    void stop() {
        databases.forEach(Databases::close);
    }

    List<Databases> databases() {
        return databases;
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void noUpdateIsLostInsideTheTransaction(Databases database) {
        ConnectionPool pool = database.pool(8);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        long before = database.select("SELECT amount FROM counter WHERE id = 1");
        Mono<Long> increment = rows.withRowLock(
                "counter",
                connection -> Databases.number(connection, "SELECT amount FROM counter WHERE id = 1")
                        .flatMap(amount -> Databases.number(
                                connection, "UPDATE counter SET amount = " + (amount + 1) + " WHERE id = 1")));

        Flux.range(0, 8).flatMap(flow -> increment.repeat(4), 8).then().block(Databases.LIMIT);

        assertThat(database.select("SELECT amount FROM counter WHERE id = 1")).isEqualTo(before + 40);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatFailsLeavesNothingWrittenAndTheLockFree(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        String key = UUID.randomUUID().toString();

        assertThatThrownBy(() -> rows.withRowLock(
                                key,
                                connection -> Databases.number(connection, "INSERT INTO counter VALUES (9, 9)")
                                        .then(Mono.error(new ArithmeticException("the work's own"))))
                        .block(Databases.LIMIT))
                .isInstanceOf(ArithmeticException.class);

        assertThat(database.select("SELECT count(*) FROM counter WHERE id = 9")).isZero();
        assertThat(rows.withRowLock(key, Mono.just("next")).block(Databases.LIMIT))
                .isEqualTo("next");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aCancelledHolderFreesTheLockAndItsConnection(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        for (int i = 0; i < 4; i++) {
            AtomicBoolean begun = new AtomicBoolean();
            Disposable flow = rows.withRowLock(key, Mono.never().doOnSubscribe(subscription -> begun.set(true)))
                    .subscribe();
            Databases.until("it is held", begun::get);
            flow.dispose();
        }

        assertThat(rows.withRowLock(key, Mono.just("next")).block(Databases.LIMIT))
                .isEqualTo("next");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWaiterGivesUpInTime(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks patient = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        RowLocks impatient = RowLocks.using(pool, Duration.ofMillis(500), Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        Mono<String> twice = patient.withRowLock(key, impatient.withRowLock(key, Mono.just("both")));

        assertThatThrownBy(() -> twice.block(Databases.LIMIT))
                .isInstanceOf(R2dbcTimeoutException.class)
                .hasMessageContaining(key);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void anExhaustedPoolIsAnErrorThatSaysSo(Databases database) {
        ConnectionPool pool = database.pool(1);
        RowLocks rows = RowLocks.using(
                pool, Databases.LIMIT, R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(4)));
        AtomicInteger ran = new AtomicInteger();
        Mono<Integer> other = rows.withRowLock("other", Mono.fromCallable(ran::incrementAndGet));

        assertThatThrownBy(() -> rows.withRowLock("one", other).block(Databases.LIMIT))
                .isInstanceOf(R2dbcTransientResourceException.class)
                .hasMessageContaining("more connections");

        assertThat(ran).hasValue(0);
        Databases.dispose(pool);
    }

    private static Connection transaction(Databases database, String level) {
        boolean isMaria = database.url().contains("/mysql");
        String set = isMaria ? "SET SESSION TRANSACTION" : "SET SESSION CHARACTERISTICS AS TRANSACTION";
        return Mono.from(database.factory().create())
                .cast(Connection.class)
                .flatMap(connection -> Databases.number(connection, set + " ISOLATION LEVEL " + level)
                        .then(Mono.from(connection.beginTransaction()))
                        .thenReturn(connection))
                .subscribeOn(Schedulers.boundedElastic())
                .block(Databases.LIMIT);
    }

    @CanIgnoreReturnValue
    private static <T> T on(Mono<T> step) {
        return step.subscribeOn(Schedulers.boundedElastic()).block(Databases.LIMIT);
    }

    private static void end(Connection connection) {
        on(Mono.from(connection.rollbackTransaction()).then(Mono.from(connection.close())));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aLockInTheCallersTransactionIsFreeWhenThatEnds(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks patient = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        RowLocks impatient = RowLocks.using(pool, Duration.ofMillis(500), Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        Connection mine = transaction(database, "READ COMMITTED");

        on(patient.lock(mine, key));
        on(patient.lock(mine, key));
        assertThatThrownBy(() -> impatient.withRowLock(key, Mono.just("other")).block(Databases.LIMIT))
                .isInstanceOf(R2dbcTimeoutException.class);
        on(Mono.from(mine.commitTransaction()));

        assertThat(patient.withRowLock(key, Mono.just("other")).block(Databases.LIMIT))
                .isEqualTo("other");
        assertThatThrownBy(() -> on(patient.lock(mine, key))).hasMessageContaining("begin a transaction first");
        end(mine);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whoWaitsInATransactionOfItsOwnGivesUpAndCanRollBack(Databases database) {
        RowLocks patient = RowLocks.using(database.factory(), Databases.LIMIT, Databases.PATIENT);
        RowLocks impatient = RowLocks.using(database.factory(), Duration.ofMillis(500), Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        Connection holder = transaction(database, "READ COMMITTED");
        Connection waiter = transaction(database, "READ COMMITTED");
        on(patient.lock(holder, key));

        assertThatThrownBy(() -> on(impatient.lock(waiter, key)))
                .isInstanceOf(R2dbcTimeoutException.class)
                .hasMessageContaining("rolled back");

        end(waiter);
        end(holder);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aTransactionThatReadBeforeItLockedLosesNoUpdate(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        assertThat(rows.withRowLock(key, Mono.just("first")).block(Databases.LIMIT))
                .isEqualTo("first");
        Connection late = transaction(database, "REPEATABLE READ");
        long read = on(Databases.number(late, "SELECT amount FROM counter WHERE id = 1"));
        String add = "UPDATE counter SET amount = amount + 1 WHERE id = 1";
        on(rows.withRowLock(key, connection -> Databases.number(connection, add)));
        String overwrite = "UPDATE counter SET amount = " + (read + 1) + " WHERE id = 1";

        assertThatThrownBy(() -> on(rows.lock(late, key).then(Mono.defer(() -> Databases.number(late, overwrite)))))
                .satisfies(error -> assertThat(R2dbcFailure.wasRolledBack(error)
                                || error.getMessage().contains("Lock before the first read"))
                        .as(String.valueOf(error))
                        .isTrue());

        end(late);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aTransactionThatLocksFirstMayBeAtRepeatableRead(Databases database) {
        String key = UUID.randomUUID().toString();
        RowLocks rows = RowLocks.using(database.factory(), Databases.LIMIT, Databases.PATIENT);
        for (int i = 0; i < 2; i++) {
            Connection first = transaction(database, "REPEATABLE READ");
            on(rows.lock(first, key));
            on(Mono.from(first.commitTransaction()));
            end(first);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void rowsThatNobodyLockedForAnHourAreRemovedUnlessTheyAreLocked(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        assertThat(rows.withRowLock("unused", Mono.just(1)).block(Databases.LIMIT))
                .isEqualTo(1);
        assertThat(rows.withRowLock("in use", Mono.just(1)).block(Databases.LIMIT))
                .isEqualTo(1);
        database.execute("UPDATE reactive_lock_row SET locked_at = 5");
        assertThat(rows.withRowLock("fresh", Mono.just(1)).block(Databases.LIMIT))
                .isEqualTo(1);
        Connection mine = transaction(database, "READ COMMITTED");
        on(rows.lock(mine, "in use"));

        Sweep.ofRows(new Database(pool, Databases.PATIENT)).swept().block(Databases.LIMIT);

        assertThat(database.select("SELECT count(*) FROM reactive_lock_row WHERE locked_at = 5"))
                .isEqualTo(1);
        assertThat(database.select("SELECT count(*) FROM reactive_lock_row WHERE locked_at > 5"))
                .isEqualTo(1);
        end(mine);
        Databases.dispose(pool);
    }

    /** H2 closes a session also while a thread is in it, and what that thread does then stays in the database. */
    @Test
    void noConnectionOfH2IsClosedWhileAStatementOfItWaits() {
        String url = "r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=600000";
        try (Databases h2 = new Databases(url, () -> {})) {
            h2.createTables();
            AtomicInteger closed = new AtomicInteger();
            ConnectionPool pool = Databases.pool(counting(h2.factory(), closed), 2);
            RowLocks rows = RowLocks.using(pool, Duration.ofMillis(500), Databases.PATIENT);
            Connection holder = transaction(h2, "READ COMMITTED");
            on(rows.lock(holder, "key"));

            assertThatThrownBy(() -> rows.withRowLock("key", Mono.just("late")).block(Databases.LIMIT))
                    .isInstanceOf(R2dbcTimeoutException.class);
            assertThat(closed).as("while its statement waits for the row").hasValue(0);

            end(holder);
            Databases.until("it is closed", () -> closed.get() > 0);
            Databases.dispose(pool);
        }
    }

    private static ConnectionFactory counting(ConnectionFactory real, AtomicInteger closed) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.from(real.create()).map(opened -> counting(opened, closed));
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return real.getMetadata();
            }
        };
    }

    private static Connection counting(Connection real, AtomicInteger closed) {
        return (Connection) Proxy.newProxyInstance(
                RowLocksTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(real, arguments);
                    return method.getName().equals("close")
                            ? Mono.from((Publisher<?>) answer).doOnSubscribe(begun -> closed.incrementAndGet())
                            : answer;
                });
    }

    /** H2 waits for a lock on the thread that asks; a pool hands a connection over on the thread that gave it back. */
    @Test
    void anH2ConnectionHandedOverDoesNotBlockTheHoldersThread() {
        String url = "r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=600000";
        try (Databases h2 = new Databases(url, () -> {})) {
            h2.createTables();
            ConnectionPool pool = h2.pool(2);
            RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
            Scheduler only = Schedulers.newSingle("the only thread");
            Mono<Long> work = rows.withRowLock("key", Mono.delay(Duration.ofMillis(20), only));

            List<Long> done = Flux.range(0, 4)
                    .flatMap(flow -> work.repeat(4), 4)
                    .collectList()
                    .block(Duration.ofSeconds(50));

            assertThat(done).hasSize(20);
            only.dispose();
            Databases.dispose(pool);
        }
    }
}
