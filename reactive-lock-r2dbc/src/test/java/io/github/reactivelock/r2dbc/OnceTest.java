package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.r2dbc.pool.ConnectionPool;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
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
class OnceTest {

    private static final Duration LONG = Duration.ofHours(1);

    private List<Databases> databases;

    @BeforeAll
    void start() {
        databases = List.of(Databases.postgres(), Databases.mariaDb("mariadb"), Databases.h2());
        databases.forEach(Databases::createTables);
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
    void ofManyCallersOneRunsTheWork(Databases database) {
        ConnectionPool pool = database.pool(4);
        List<Once> processes = List.of(Once.using(pool), Once.using(pool));
        AtomicInteger ran = new AtomicInteger();
        String key = UUID.randomUUID().toString();

        List<Integer> values = Flux.range(0, 20)
                .flatMap(i -> processes.get(i % 2).run(key, LONG, Mono.fromCallable(ran::incrementAndGet)))
                .collectList()
                .block(Databases.LIMIT);

        assertThat(values).containsExactly(1);
        assertThat(ran).hasValue(1);
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aRecordedOutcomeIsForThoseWhoComeLater(Databases database) {
        ConnectionPool pool = database.pool(2);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(pool);

        assertThat(once.recorded(key, LONG, Mono.just("receipt 1")).block(Databases.LIMIT))
                .isEqualTo("receipt 1");

        assertThat(Once.using(pool).recorded(key, LONG, Mono.just("receipt 2")).block(Databases.LIMIT))
                .isEqualTo("receipt 1");
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aFailureAndACancelFreeTheKey(Databases database) {
        ConnectionPool pool = database.pool(2);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(pool);
        assertThatThrownBy(() -> once.run(key, LONG, Mono.error(new ArithmeticException()))
                        .block(Databases.LIMIT))
                .isInstanceOf(ArithmeticException.class);
        AtomicInteger begun = new AtomicInteger();
        Disposable cancelled = once.run(key, LONG, Mono.never().doOnSubscribe(subscription -> begun.incrementAndGet()))
                .subscribe();
        Databases.until("it runs", () -> begun.get() == 1);
        cancelled.dispose();

        Databases.until(
                "the key is free",
                () -> "done".equals(once.run(key, LONG, Mono.just("done")).block(Databases.LIMIT)));
        pool.disposeLater().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyIsFreeAgainWhenItsTimeIsOver(Databases database) {
        ConnectionPool pool = database.pool(2);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(pool);
        assertThat(once.recorded(key, Duration.ofMillis(200), Mono.just("old")).block(Databases.LIMIT))
                .isEqualTo("old");

        Databases.until(
                "it runs again",
                () -> "new".equals(once.recorded(key, LONG, Mono.just("new")).block(Databases.LIMIT)));
        pool.disposeLater().block(Databases.LIMIT);
    }
}
