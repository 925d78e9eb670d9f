package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RowLocksTest {

    private List<Databases> databases;

    @BeforeAll
    void start() {
        databases = List.of(Databases.postgres(), Databases.mariaDb("mariadb"), Databases.h2());
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

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void noUpdateIsLostInsideTheTransaction(Databases database) {
        ConnectionPool pool = database.pool(8);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT);
        Mono<Long> increment = rows.withRowLock(
                "counter",
                connection -> Databases.number(connection, "SELECT amount FROM counter WHERE id = 1")
                        .flatMap(amount -> Databases.number(
                                connection, "UPDATE counter SET amount = " + (amount + 1) + " WHERE id = 1")));

        Flux.range(0, 8).flatMap(flow -> increment.repeat(4), 8).then().block(Databases.LIMIT);

        assertThat(database.select("SELECT amount FROM counter WHERE id = 1")).isEqualTo(40);
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatFailsLeavesNothingWrittenAndTheLockFree(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT);
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
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aCancelledHolderFreesTheLockAndItsConnection(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT);
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
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWaiterGivesUpInTime(Databases database) {
        ConnectionPool pool = database.pool(2);
        RowLocks impatient = RowLocks.using(pool, Duration.ofMillis(500));
        String key = UUID.randomUUID().toString();
        Mono<String> twice = impatient.withRowLock(key, impatient.withRowLock(key, Mono.just("both")));

        assertThatThrownBy(() -> twice.block(Databases.LIMIT))
                .isInstanceOf(R2dbcTimeoutException.class)
                .hasMessageContaining(key);
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void anExhaustedPoolIsAnErrorThatSaysSo(Databases database) {
        ConnectionPool pool = database.pool(1);
        RowLocks rows = RowLocks.using(
                pool, Databases.LIMIT, R2dbcLockOptions.defaults().withCommandTimeout(Duration.ofSeconds(1)));
        AtomicInteger ran = new AtomicInteger();
        Mono<Integer> other = rows.withRowLock("other", Mono.fromCallable(ran::incrementAndGet));

        assertThatThrownBy(() -> rows.withRowLock("one", other).block(Databases.LIMIT))
                .isInstanceOf(R2dbcTransientResourceException.class)
                .hasMessageContaining("more connections");

        assertThat(ran).hasValue(0);
        pool.disposeLater().block(Databases.LIMIT);
    }
}
