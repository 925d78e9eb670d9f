package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.r2dbc.pool.ConnectionPool;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code onErrorContinue} of a subscriber, which its Context brings to all operators above, decides nothing here. */
class ContinuedErrorsTest extends EachDatabase {

    private static final Duration DAY = Duration.ofDays(1);

    private static <T> Mono<T> failing() {
        return Mono.just("an answer").map(answer -> {
            throw new ArithmeticException("cannot be read");
        });
    }

    private static Throwable continued(Publisher<?> source) {
        return Flux.from(source)
                .onErrorContinue((error, value) -> {})
                .then(Mono.just(new Throwable("no error")))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatFailedLeavesItsKeyFree(Databases database) {
        ConnectionPool pool = database.pool(2);
        Once once = Once.using(pool, Databases.PATIENT);
        String key = UUID.randomUUID().toString();

        assertThat(continued(once.run(key, DAY, failing()))).isInstanceOf(ArithmeticException.class);
        assertThat(continued(once.recorded(key, DAY, failing()))).isInstanceOf(ArithmeticException.class);

        assertThat(once.recorded(key, DAY, Mono.just("done")).block(Databases.LIMIT))
                .isEqualTo("done");
        Databases.dispose(pool);
    }

    private static Mono<Long> insert(io.r2dbc.spi.Connection connection, String key) {
        return Databases.number(
                connection, "INSERT INTO reactive_lock_row (row_key, locked_at) VALUES (" + key + ", 77)");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatFailedIsRolledBack(Databases database) {
        ConnectionPool pool = database.pool(2);
        String text = database.url().contains("postgresql") ? "CAST('w' AS BYTEA)" : "CAST('w' AS BINARY)";
        String written = "SELECT count(*) FROM reactive_lock_row WHERE locked_at = 77";
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        R2dbcFencingGuard guard =
                R2dbcLockBackend.using(pool, Databases.PATIENT).fencingGuard();

        assertThat(continued(rows.withRowLock(
                        "k", connection -> insert(connection, text).then(failing()))))
                .isInstanceOf(ArithmeticException.class);
        assertThat(continued(guard.write(
                        "k", 5, connection -> insert(connection, text).then(failing()))))
                .isInstanceOf(ArithmeticException.class);
        assertThat(continued(rows.withRowLock(
                        "k",
                        connection -> insert(connection, text)
                                .then(Databases.number(connection, "UPDATE nowhere SET x = 1")))))
                .isNotInstanceOf(ArithmeticException.class)
                .hasMessageNotContaining("no error");
        if (database.url().contains("postgresql")) {
            AdvisoryLocks advisory = AdvisoryLocks.using(pool, Databases.PATIENT);
            assertThat(continued(advisory.tryWithLock(
                            "k", connection -> insert(connection, text).then(failing()))))
                    .isInstanceOf(ArithmeticException.class);
            assertThat(continued(advisory.tryWithSessionLock("k", failing()))).isInstanceOf(ArithmeticException.class);
        }

        assertThat(database.select(written)).isZero();
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void tablesThatAreNotThereAreAnError(Databases database) {
        ConnectionPool pool = database.pool(2);
        R2dbcBackendOptions elsewhere = Databases.PATIENT.withPrefix("nowhere");

        assertThat(continued(Once.using(pool, elsewhere).run("k", DAY, Mono.just("done"))))
                .hasMessageContaining("has no tables");
        assertThat(continued(RowLocks.using(pool, Databases.LIMIT, elsewhere).withRowLock("k", Mono.just("done"))))
                .hasMessageContaining("has no tables");
        assertThat(continued(R2dbcLockBackend.using(pool, elsewhere)
                        .fencingGuard()
                        .write("k", 5, connection -> Mono.just("done"))))
                .isInstanceOf(Exception.class);
        Databases.dispose(pool);
    }
}
