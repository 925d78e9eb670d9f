package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.support.Snapshots;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OnceTest {

    private static final Duration LONG = Duration.ofHours(1);

    private List<Databases> databases;

    @BeforeAll
    void start() {
        Databases mariaDb = Databases.mariaDb("mariadb");
        databases = List.of(Databases.postgres(), mariaDb, mariaDb.byMySqlDriver(), Databases.h2());
        databases.stream().filter(each -> !each.isMySqlDriver()).forEach(Databases::createTables);
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
        List<Once> processes = List.of(Once.using(pool, Databases.PATIENT), Once.using(pool, Databases.PATIENT));
        AtomicInteger ran = new AtomicInteger();
        String key = UUID.randomUUID().toString();

        List<Integer> values = Flux.range(0, 20)
                .flatMap(i -> processes.get(i % 2).run(key, LONG, Mono.fromCallable(ran::incrementAndGet)))
                .collectList()
                .block(Databases.LIMIT);

        assertThat(values).containsExactly(1);
        assertThat(ran).hasValue(1);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void noSnapshotIsTakenWhileWorkRuns(Databases database) {
        ConnectionPool pool = database.pool(2);
        Sinks.One<String> end = Sinks.one();
        AtomicInteger begun = new AtomicInteger();
        CompletableFuture<String> work = Once.using(pool, Databases.PATIENT)
                .run(
                        UUID.randomUUID().toString(),
                        LONG,
                        end.asMono().doOnSubscribe(subscription -> begun.incrementAndGet()))
                .toFuture();
        Databases.until("it runs", () -> begun.get() == 1);

        try {
            assertThatThrownBy(Snapshots::begin).hasMessageContaining("work of Once is running");
        } finally {
            Snapshots.end();
        }
        end.tryEmitValue("done").orThrow();
        assertThat(work.orTimeout(1, TimeUnit.MINUTES).join()).isEqualTo("done");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aRecordedOutcomeIsForThoseWhoComeLater(Databases database) {
        ConnectionPool pool = database.pool(2);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(pool, Databases.PATIENT);

        assertThat(once.recorded(key, LONG, Mono.just("receipt 1")).block(Databases.LIMIT))
                .isEqualTo("receipt 1");

        assertThat(Once.using(pool, Databases.PATIENT)
                        .recorded(key, LONG, Mono.just("receipt 2"))
                        .block(Databases.LIMIT))
                .isEqualTo("receipt 1");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aFailureAndACancelFreeTheKey(Databases database) {
        ConnectionPool pool = database.pool(2);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(pool, Databases.PATIENT);
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
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyIsFreeAgainWhenItsTimeIsOver(Databases database) {
        ConnectionPool pool = database.pool(2);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(pool, Databases.PATIENT);
        assertThat(once.recorded(key, Duration.ofMillis(200), Mono.just("old")).block(Databases.LIMIT))
                .isEqualTo("old");

        Databases.until(
                "it runs again",
                () -> "new".equals(once.recorded(key, LONG, Mono.just("new")).block(Databases.LIMIT)));
        Databases.dispose(pool);
    }

    /** A database that a test cuts off: some connections fail, or all of them come late. */
    private static final class Cut implements ConnectionFactory {
        private final ConnectionFactory real;
        private final AtomicInteger failing = new AtomicInteger();
        private final AtomicInteger late = new AtomicInteger();
        private volatile Mono<Void> gate = Mono.empty();

        Cut(ConnectionFactory real) {
            this.real = real;
        }

        @Override
        public Publisher<? extends Connection> create() {
            if (gate != Mono.<Void>empty()) {
                late.incrementAndGet();
            }
            return gate.then(Mono.defer(() -> failing.getAndUpdate(left -> Math.max(0, left - 1)) > 0
                    ? Mono.error(new R2dbcNonTransientResourceException("connection reset"))
                    : Mono.from(real.create())));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aConnectionResetUnderTheOutcomeDoesNotRunTheWorkAgain(Databases database) {
        ConnectionPool pool = database.pool(2);
        Cut cut = new Cut(pool);
        Once once = Once.using(cut, Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        AtomicInteger charged = new AtomicInteger();
        Mono<String> charge = Mono.fromCallable(() -> "receipt " + charged.incrementAndGet());

        String first = once.recorded(key, LONG, charge.doOnNext(done -> cut.failing.set(1)))
                .block(Databases.LIMIT);

        assertThat(first).isEqualTo("receipt 1");
        assertThat(once.recorded(key, LONG, charge).block(Databases.LIMIT)).isEqualTo("receipt 1");
        assertThat(charged).hasValue(1);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aCancelWhileTheOutcomeIsWrittenDoesNotRunTheWorkAgain(Databases database) {
        ConnectionPool pool = database.pool(2);
        Cut cut = new Cut(pool);
        Once once = Once.using(cut, Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        AtomicInteger charged = new AtomicInteger();
        Sinks.Empty<Void> gate = Sinks.empty();
        Mono<String> charge = Mono.fromCallable(() -> "receipt " + charged.incrementAndGet());

        Disposable request = once.recorded(key, LONG, charge.doOnNext(done -> cut.gate = gate.asMono()))
                .subscribe();
        Databases.until("the outcome is being written", () -> cut.late.get() > 0);
        request.dispose();
        cut.gate = Mono.empty();
        gate.tryEmitEmpty().orThrow();

        Databases.until(
                "there is a receipt", () -> once.recorded(key, LONG, charge).block(Databases.LIMIT) != null);
        assertThat(once.recorded(key, LONG, charge).block(Databases.LIMIT)).isEqualTo("receipt 1");
        assertThat(charged).hasValue(1);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void anyTextIsAnOutcome(Databases database) {
        ConnectionPool pool = database.pool(2);
        Once once = Once.using(pool, Databases.PATIENT);
        for (String receipt : List.of(
                "nul \0, mark \u001a, both \u001a0\0\u001a1",
                "halves \ud83d, \ude00\ud83d, \ud83d\ud83d\ude00, \u001a2d83d, \u001a2\ud83d",
                "\ud83d\ude00\u001a",
                "\u001a2",
                "",
                "\udfff")) {
            String key = UUID.randomUUID().toString();
            assertThat(once.recorded(key, LONG, Mono.just(receipt)).block(Databases.LIMIT))
                    .isEqualTo(receipt);
            assertThat(once.recorded(key, LONG, Mono.just("another")).block(Databases.LIMIT))
                    .isEqualTo(receipt);
        }
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aProcessCutOffKeepsItsKeyForALeaseAndCancelsItsWork(Databases database) {
        ConnectionPool pool = database.pool(2);
        Cut cut = new Cut(pool);
        // No caller waits for a command to be given up.
        Once gone = Once.using(cut, Databases.PATIENT.withCommandTimeout(LONG)).withLease(Duration.ofSeconds(6));
        String key = UUID.randomUUID().toString();
        AtomicInteger cancelled = new AtomicInteger();
        Sinks.Empty<Void> gate = Sinks.empty();
        CompletableFuture<Object> work = gone.run(
                        key,
                        LONG,
                        Mono.never()
                                .doOnSubscribe(begun -> cut.gate = gate.asMono())
                                .doOnCancel(cancelled::incrementAndGet))
                .toFuture();
        Databases.until("a renewal gets no answer", () -> cut.late.get() > 0);

        Databases.until(
                "another runs it",
                () -> "done"
                        .equals(Once.using(pool, Databases.PATIENT)
                                .run(key, LONG, Mono.just("done"))
                                .block(Databases.LIMIT)));

        assertThatThrownBy(() -> work.get(60, TimeUnit.SECONDS)).hasMessageContaining("was lost while its work ran");
        Databases.until("its work is cancelled", () -> cancelled.get() == 1);
        gate.tryEmitEmpty().orThrow();
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatTakesManyLeasesIsNotBegunAnew(Databases database) {
        ConnectionPool pool = database.pool(2);
        Once once = Once.using(pool, Databases.PATIENT).withLease(Duration.ofSeconds(6));
        database.execute("DELETE FROM reactive_lock_once"); // the keys of other cases have longer times
        String key = UUID.randomUUID().toString();
        Sinks.One<String> done = Sinks.one();
        CompletableFuture<String> work = once.recorded(key, LONG, done.asMono()).toFuture();
        String leaseEnd = "SELECT coalesce(max(expires), 0) FROM reactive_lock_once WHERE outcome IS NULL";
        Databases.until("it began", () -> Databases.select(pool, leaseEnd) > 0);
        long first = Databases.select(pool, leaseEnd);

        Databases.until("another lease", () -> Databases.select(pool, leaseEnd) > first + 6_500_000);
        assertThat(once.recorded(key, LONG, Mono.just("twice")).blockOptional(Databases.LIMIT))
                .isEmpty();
        done.tryEmitValue("one").orThrow();

        assertThat(work.orTimeout(60, TimeUnit.SECONDS).join()).isEqualTo("one");
        assertThat(once.recorded(key, LONG, Mono.just("twice")).block(Databases.LIMIT))
                .isEqualTo("one");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void keysWhoseTimeIsOverAreRemovedHundredsAtATime(Databases database) {
        ConnectionPool pool = database.pool(2);
        assertThat(Once.using(pool, Databases.PATIENT)
                        .run(UUID.randomUUID().toString(), LONG, Mono.just("living"))
                        .block(Databases.LIMIT))
                .isEqualTo("living");
        for (int hundred = 0; hundred < 12; hundred++) {
            StringBuilder rows = new StringBuilder();
            for (int i = 0; i < 100; i++) {
                String name = "CAST('old " + hundred + "-" + i + "' AS "
                        + (database.url().contains("postgresql")
                                ? "BYTEA"
                                : database.url().contains(":h2:") ? "VARBINARY(512)" : "BINARY")
                        + ")";
                rows.append(i == 0 ? "" : ", ").append("(").append(name).append(", 'r', 5, NULL)");
            }
            database.execute("INSERT INTO reactive_lock_once (once_key, run_id, expires, outcome) VALUES " + rows);
        }
        Database asked = new Database(pool, Databases.PATIENT);
        long living = database.select("SELECT count(*) FROM reactive_lock_once WHERE expires > 5");

        Sweep.ofOnce(asked).swept().block(Databases.LIMIT);

        assertThat(database.select("SELECT count(*) FROM reactive_lock_once WHERE expires = 5"))
                .isZero();
        assertThat(living).isPositive();
        Databases.dispose(pool);
    }
}
