package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.connection.SingleConnectionFactory;
import org.springframework.r2dbc.connection.TransactionAwareConnectionFactoryProxy;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Mono;

/** Row locks and what is kept once beside Spring's transactions. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpringTest {

    private List<Databases> databases;

    @BeforeAll
    void start() {
        databases = List.of(Databases.postgres(), Databases.mariaDb("mariadb"));
        databases.forEach(database -> {
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

    private static TransactionalOperator operator(ConnectionPool pool) {
        return TransactionalOperator.create(new R2dbcTransactionManager(pool));
    }

    private static Mono<Long> increment(DatabaseClient client) {
        return client.sql("UPDATE counter SET amount = amount + 1 WHERE id = 1")
                .fetch()
                .rowsUpdated();
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void lockAndDataAreOneTransactionOfSpring(Databases database) {
        ConnectionPool pool = database.pool(3);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        DatabaseClient client = DatabaseClient.create(pool);
        String key = UUID.randomUUID().toString();
        long before = database.select("SELECT amount FROM counter WHERE id = 1");
        RowLocks others = RowLocks.using(database.factory(), Duration.ofMillis(500), Databases.PATIENT);
        Mono<Void> booked = client.inConnection(connection -> rows.lock(connection, key))
                .then(increment(client))
                .then(others.withRowLock(key, Mono.just("other"))
                        .onErrorResume(R2dbcTimeoutException.class, held -> Mono.just("held")))
                .flatMap(seen -> seen.equals("held") ? Mono.empty() : Mono.error(new AssertionError(seen)));

        assertThatThrownBy(() -> operator(pool)
                        .transactional(booked.then(Mono.error(new ArithmeticException("rolled back"))))
                        .block(Databases.LIMIT))
                .hasMessageContaining("rolled back");
        assertThat(database.select("SELECT amount FROM counter WHERE id = 1")).isEqualTo(before);
        operator(pool).transactional(booked).block(Databases.LIMIT);

        assertThat(database.select("SELECT amount FROM counter WHERE id = 1")).isEqualTo(before + 1);
        assertThat(RowLocks.using(database.factory(), Databases.LIMIT, Databases.PATIENT)
                        .withRowLock(key, Mono.just("other"))
                        .block(Databases.LIMIT))
                .isEqualTo("other");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aRowLockWithItsOwnTransactionIsRefusedInsideOneOfSpring(Databases database) {
        ConnectionPool pool = database.pool(3);
        DatabaseClient client = DatabaseClient.create(pool);
        for (RowLocks rows : List.of(
                RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT),
                RowLocks.using(new TransactionAwareConnectionFactoryProxy(pool), Databases.LIMIT, Databases.PATIENT))) {
            assertThatThrownBy(() -> operator(pool)
                            .transactional(increment(client).then(rows.withRowLock("key", increment(client))))
                            .block(Databases.LIMIT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("lock(connection, key)");
            assertThat(rows.withRowLock("key", Mono.just("outside")).block(Databases.LIMIT))
                    .isEqualTo("outside");
        }
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aDatabaseClientOverTheLocksConnectionIsInItsTransaction(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        long before = database.select("SELECT amount FROM counter WHERE id = 1");

        assertThatThrownBy(() -> rows.withRowLock(
                                "one",
                                connection -> increment(DatabaseClient.create(
                                                new SingleConnectionFactory(connection, pool.getMetadata(), true)))
                                        .then(Mono.error(new ArithmeticException("rolled back"))))
                        .block(Databases.LIMIT))
                .hasMessageContaining("rolled back");

        assertThat(database.select("SELECT amount FROM counter WHERE id = 1")).isEqualTo(before);
        Databases.dispose(pool);
    }

    /** As one that traces. */
    private static final class Wrapping implements ConnectionFactory, Wrapped<ConnectionFactory> {
        private final ConnectionFactory inner;

        Wrapping(ConnectionFactory inner) {
            this.inner = inner;
        }

        @Override
        public Publisher<? extends Connection> create() {
            return inner.create();
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return inner.getMetadata();
        }

        @Override
        public ConnectionFactory unwrap() {
            return inner;
        }
    }

    /** Each way in which the application may have put things around its pool. */
    private static List<ConnectionFactory> around(ConnectionPool pool) {
        return List.of(
                pool,
                new TransactionAwareConnectionFactoryProxy(pool),
                new Wrapping(pool),
                new Wrapping(new TransactionAwareConnectionFactoryProxy(new Wrapping(pool))));
    }

    private static void assertRefusedInside(TransactionalOperator operator, Mono<?> call, String advice) {
        assertThatThrownBy(() -> operator.transactional(call).block(Databases.LIMIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("this runs in a transaction of Spring")
                .hasMessageContaining(advice);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void noWorkIsCommittedBesideATransactionOfSpring(Databases database) {
        ConnectionPool pool = database.pool(3);
        for (ConnectionFactory factory : around(pool)) {
            RowLocks rows = RowLocks.using(factory, Databases.LIMIT, Databases.PATIENT);
            R2dbcFencingGuard guard =
                    R2dbcLockBackend.using(factory, Databases.PATIENT).fencingGuard();
            assertRefusedInside(operator(pool), rows.withRowLock("k", Mono.just(1)), "lock(connection, key)");
            assertRefusedInside(operator(pool), guard.write("k", 5, c -> Mono.just(1)), "check(connection,");
            assertRefusedInside(
                    TransactionalOperator.create(new R2dbcTransactionManager(new Wrapping(pool))),
                    rows.withRowLock("k", Mono.just(1)),
                    "lock(connection, key)");
            if (database.url().contains("postgresql")) {
                AdvisoryLocks locks = AdvisoryLocks.using(factory, Databases.PATIENT);
                assertRefusedInside(
                        operator(pool), locks.tryWithLock("k", c -> Mono.just(1)), "tryLock(connection, key)");
                assertRefusedInside(
                        operator(pool), locks.tryWithSessionLock("k", Mono.just(1)), "tryLock(connection, key)");
                assertThat(locks.tryWithLock("k", c -> Mono.just(1)).block(Databases.LIMIT))
                        .isEqualTo(1);
            }
        }
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyIsNotKeptForWorkThatIsRolledBackWithSpringsTransaction(Databases database) {
        ConnectionPool pool = database.pool(3);
        DatabaseClient client = DatabaseClient.create(pool);
        Duration day = Duration.ofDays(1);
        long before = database.select("SELECT amount FROM counter WHERE id = 1");
        for (ConnectionFactory factory : around(pool)) {
            Once once = Once.using(factory, Databases.PATIENT);
            String key = UUID.randomUUID().toString();
            Mono<Long> work = increment(client);

            assertRefusedInside(operator(pool), once.run(key, day, work), "operator.transactional(work)");
            assertThatThrownBy(() -> once.run(
                                    key,
                                    day,
                                    operator(pool)
                                            .transactional(
                                                    work.then(Mono.error(new ArithmeticException("rolled back")))))
                            .block(Databases.LIMIT))
                    .hasMessageContaining("rolled back");

            assertThat(once.run(key, day, operator(pool).transactional(work)).block(Databases.LIMIT))
                    .isEqualTo(1);
            assertThat(once.run(key, day, work).blockOptional(Databases.LIMIT)).isEmpty();
        }
        assertThat(database.select("SELECT amount FROM counter WHERE id = 1")).isEqualTo(before + 4);
        Databases.dispose(pool);
    }
}
