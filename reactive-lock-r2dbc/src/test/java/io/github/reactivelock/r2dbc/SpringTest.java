package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.R2dbcTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
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
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aRowLockWithATransactionOfItsOwnIsRefusedInsideOneOfSpring(Databases database) {
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
        pool.disposeLater().block(Databases.LIMIT);
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
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whatIsKeptOnceIsNotRolledBackWithSpringsTransaction(Databases database) {
        ConnectionPool pool = database.pool(3);
        Once once = Once.using(new TransactionAwareConnectionFactoryProxy(pool), Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        Duration day = Duration.ofDays(1);

        assertThatThrownBy(() -> operator(pool)
                        .transactional(once.recorded(key, day, Mono.just("one"))
                                .then(Mono.error(new ArithmeticException("rolled back"))))
                        .block(Databases.LIMIT))
                .hasMessageContaining("rolled back");

        assertThat(once.recorded(key, day, Mono.just("two")).block(Databases.LIMIT))
                .isEqualTo("one");
        pool.disposeLater().block(Databases.LIMIT);
    }
}
