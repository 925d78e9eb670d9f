package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.support.SuspendClock;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** Who lost a key of {@code Once} sees no success, whatever made it lose; and no code of a user runs on our timer. */
class OnceLostTest extends EachDatabase {

    private static final Duration LONG = Duration.ofHours(1);

    private static Mono<String> run(Once once, String key, Mono<String> work, boolean isRecorded) {
        return isRecorded ? once.recorded(key, LONG, work) : once.run(key, LONG, work);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workWhoseKeyAnotherRunHasIsNoSuccess(Databases database) {
        ConnectionPool pool = database.pool(2);
        Once once = Once.using(pool, Databases.PATIENT);
        for (boolean isRecorded : new boolean[] {false, true}) {
            database.execute("DELETE FROM reactive_lock_once");
            Sinks.One<String> done = Sinks.one();
            AtomicInteger begun = new AtomicInteger();
            CompletableFuture<String> first = run(
                            once,
                            UUID.randomUUID().toString(),
                            done.asMono().doOnSubscribe(subscription -> begun.incrementAndGet()),
                            isRecorded)
                    .toFuture();
            Databases.until("it works", () -> begun.get() == 1);
            // As after a pause that was longer than the lease, in which another process began the work.
            assertThat(database.execute("UPDATE reactive_lock_once SET run_id = 'another'"))
                    .isEqualTo(1);

            done.tryEmitValue("done").orThrow();

            assertThat(first)
                    .failsWithin(Databases.LIMIT)
                    .withThrowableOfType(ExecutionException.class)
                    .withMessageContaining("was lost");
            assertThat(database.select(
                            "SELECT count(*) FROM reactive_lock_once WHERE run_id = 'another' AND outcome IS NULL"))
                    .isEqualTo(1);
        }
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workWhoseRowWasOnlyCleanedAwayIsASuccess(Databases database) {
        ConnectionPool pool = database.pool(2);
        Once once = Once.using(pool, Databases.PATIENT);
        String key = UUID.randomUUID().toString();
        database.execute("DELETE FROM reactive_lock_once");

        assertThat(once.recorded(
                                key,
                                LONG,
                                Mono.fromSupplier(() -> "rows " + database.execute("DELETE FROM reactive_lock_once"))
                                        .subscribeOn(Schedulers.boundedElastic()))
                        .block(Databases.LIMIT))
                .isEqualTo("rows 1");

        assertThat(once.recorded(key, LONG, Mono.just("again")).block(Databases.LIMIT))
                .isEqualTo("rows 1");
        Databases.dispose(pool);
    }

    /** A database that gives no connection from some moment on. */
    private static final class Silent implements ConnectionFactory {
        private final ConnectionFactory real;
        private final Sinks.Empty<Void> speaks = Sinks.empty();
        private volatile boolean silent;

        Silent(ConnectionFactory real) {
            this.real = real;
        }

        @Override
        public Publisher<? extends Connection> create() {
            return silent ? speaks.asMono().then(Mono.from(real.create())) : real.create();
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatTheDatabaseDoesNotConfirmIsNoSuccessAndIsConfirmedLater(Databases database) {
        ConnectionPool pool = database.pool(2);
        Silent silent = new Silent(pool);
        String key = UUID.randomUUID().toString();
        Once once = Once.using(silent, Databases.PATIENT).withLease(Duration.ofSeconds(5));

        assertThatThrownBy(() -> once.recorded(key, LONG, Mono.fromSupplier(() -> {
                            silent.silent = true;
                            return "done";
                        }))
                        .block(Databases.LIMIT))
                .hasMessageContaining("it is not known whether");

        silent.silent = false;
        silent.speaks.tryEmitEmpty().orThrow();
        Databases.until(
                "it is written",
                () -> database.select("SELECT count(*) FROM reactive_lock_once WHERE outcome = 'done'") == 1);
        database.execute("DELETE FROM reactive_lock_once");
        Databases.dispose(pool);
    }

    @Test
    void workEndsSoonAfterItsMachineSleptLongerThanTheLease() {
        AtomicLong slept = new AtomicLong();
        SuspendClock clock = new SuspendClock(System::nanoTime, () -> System.currentTimeMillis() + slept.get());
        Duration lease = Duration.ofMinutes(10);
        OnceRun run = new OnceRun(
                new Database(databases().get(2).factory(), Databases.PATIENT),
                UUID.randomUUID().toString(),
                "run",
                LONG,
                lease,
                Context.empty(),
                clock);
        assertThat(run.begin().block(Databases.LIMIT).runId()).isEqualTo("run");
        CompletableFuture<Object> work =
                run.of(Mono.never(), value -> Optional.empty()).toFuture();
        assertThat(work).isNotDone();

        slept.set(lease.toMillis());

        assertThat(work)
                .failsWithin(Databases.LIMIT)
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("was lost");
    }

    @Test
    void noCodeOfAUserRunsOnTheTimer() {
        Queue<String> used = new ConcurrentLinkedQueue<>();
        Runnable note = () -> used.add(Thread.currentThread().getName());
        Databases h2 = databases().get(2);
        Silent silent = new Silent(h2.factory());
        Duration brief = Duration.ofSeconds(3); // in which the work begins also on a busy machine
        R2dbcBackendOptions options = R2dbcBackendOptions.defaults().withCommandTimeout(brief);
        Once once = Once.using(silent, options).withLease(brief);
        AtomicInteger begun = new AtomicInteger();
        Mono<Object> work =
                Mono.never().doOnSubscribe(s -> begun.incrementAndGet()).doOnCancel(note);
        Function<Runnable, Mono<?>> none = before -> Mono.fromRunnable(before).then(Mono.never());

        CompletableFuture<?> first = once.run(UUID.randomUUID().toString(), brief, work)
                .doOnError(error -> note.run())
                .toFuture();
        Databases.until("its work has begun", () -> begun.get() == 1);
        CompletableFuture<?> second = once.run(
                        UUID.randomUUID().toString(),
                        LONG,
                        none.apply(() -> silent.silent = true).doOnCancel(note))
                .doOnError(error -> note.run())
                .toFuture();
        assertThat(List.of(first, second)).allSatisfy(each -> assertThat(each).failsWithin(Databases.LIMIT));
        List<Mono<?>> late = List.of(
                RowLocks.using(silent, Databases.LIMIT, options).withRowLock("k", Mono.just(1)),
                R2dbcLockBackend.using(silent, options).fencingGuard().write("k", 5, connection -> Mono.just(1)),
                R2dbcLockBackend.using(silent, options).createTables(),
                once.run(UUID.randomUUID().toString(), LONG, Mono.just(1)));
        List<CompletableFuture<?>> failed = new ArrayList<>();
        late.forEach(each -> failed.add(each.doOnError(error -> note.run()).toFuture()));
        assertThat(failed).allSatisfy(each -> assertThat(each).failsWithin(Databases.LIMIT));

        assertThat(used)
                .hasSize(8)
                .noneMatch(thread -> thread.startsWith("reactive-lock-store-timer") || thread.startsWith("parallel"));
    }
}
