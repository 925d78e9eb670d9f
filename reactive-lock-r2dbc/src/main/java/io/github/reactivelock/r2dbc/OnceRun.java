package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.spi.support.SuspendClock;
import io.r2dbc.spi.R2dbcNonTransientException;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.ContextView;
import reactor.util.retry.Retry;
import reactor.util.retry.RetryBackoffSpec;

/**
 * One run of the work of a key. Its row has a lease while the work runs and its full time afterwards. Whether the work
 * has completed decides what becomes of the key; it is set by the work's own signal, before any other subscriber gets
 * that.
 */
final class OnceRun {

    private static final Logger log = LoggerFactory.getLogger(OnceRun.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    /** Between two looks whether the lease is over: no timer goes on while the machine is suspended. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private static final int MOST_UNSEEN = 20;
    private static final int TRIES_AFTER_THE_KEY = 7;

    /** Another run has the key, or may have it. */
    private static final class Lost extends IllegalStateException {

        private static final long serialVersionUID = 1L;

        Lost(String key, Duration lease) {
            super("the key '" + key + "' was lost while its work ran: the database could not be asked for "
                    + lease.toMillis()
                    + " ms, or the process or its machine stood still; the work was cancelled, or had completed, and"
                    + " another process may have begun it");
        }
    }

    private final Database database;
    private final String key;
    private final byte[] name;
    private final String id;
    private final Duration ttl;
    private final Duration lease;
    /** The caller's, also for what goes on without the caller: a factory may choose the database by it. */
    private final ContextView context;

    private final SuspendClock clock;
    private final long beganAt;
    private final AtomicBoolean completed = new AtomicBoolean();
    private volatile long confirmedAt;

    OnceRun(
            Database database,
            String key,
            String id,
            Duration ttl,
            Duration lease,
            ContextView context,
            SuspendClock clock) {
        this.database = database;
        this.key = key;
        this.name = KeyLayout.bytes(key);
        this.id = id;
        this.ttl = ttl;
        this.lease = least(lease, ttl);
        this.context = context;
        this.clock = clock;
        this.beganAt = clock.lookAndTell();
        this.confirmedAt = beganAt;
    }

    String id() {
        return id;
    }

    /**
     * Takes the key if it is free; says whose it is. The question goes on when its caller leaves, because what frees
     * the key has to reach the database after it.
     */
    Mono<Once.Found> begin() {
        return Mono.create(sink -> {
            AtomicBoolean left = new AtomicBoolean();
            AtomicBoolean answered = new AtomicBoolean();
            sink.onCancel(() -> {
                left.set(true);
                if (answered.get()) {
                    undo();
                }
            });
            FireAndForget.run(
                    "taking a key",
                    taken(left)
                            .doOnNext(found -> {
                                answered.set(true);
                                if (left.get()) {
                                    undo();
                                } else {
                                    sink.success(found);
                                }
                            })
                            .doOnError(error -> {
                                undo();
                                sink.error(error);
                            })
                            .contextWrite(context));
        });
    }

    /** Empty if the caller left before there was a connection. */
    private Mono<Once.Found> taken(AtomicBoolean left) {
        return database.runAgain(session -> left.get() ? Mono.empty() : asked(session));
    }

    /** Asks again if the row that was in the way is gone before it is read. */
    private Mono<Once.Found> asked(SqlSession session) {
        return session.alone(session.change("once_begin", name, id, Micros.of(lease)))
                .then(session.alone(session.one(
                        "once_look",
                        row -> new Once.Found(LockRow.text(row, "run_id"), row.get("outcome", String.class)),
                        (Object) name)))
                .repeatWhenEmpty(times -> times.concatMap(time -> time < MOST_UNSEEN
                        ? Mono.delay(FIRST_PAUSE, DriverThreads.timer())
                        : Mono.error(
                                () -> new IllegalStateException("the key '" + key + "' was not kept: does a trigger or"
                                        + " a policy of the database keep rows from the table of keys?"))));
    }

    /** Runs the work under the lease, and keeps what is to be kept of its value. */
    <T> Mono<T> of(Mono<T> work, Function<T, Optional<String>> kept) {
        return Mono.usingWhen(
                        Mono.just(id),
                        run -> Mono.firstWithSignal(
                                        work.timeout(ttl, DriverThreads.forUsers())
                                                .map(Optional::of)
                                                .defaultIfEmpty(Optional.empty())
                                                .doOnNext(value -> completed.set(true)),
                                        Mono.firstWithSignal(renewed(), ended())
                                                .publishOn(DriverThreads.forUsers())
                                                .then(Mono.<Optional<T>>never()))
                                .flatMap(value -> recorded(value.flatMap(kept)).thenReturn(value)),
                        run -> Mono.empty(),
                        (run, error) -> freed(),
                        run -> freed())
                .flatMap(Mono::justOrEmpty);
    }

    /** A key whose lease ended is free, so its caller need not wait for a database that does not answer. */
    private Mono<Void> freed() {
        return completed.get() || isOver()
                ? Mono.empty()
                : change("once_undo", name, id).onErrorComplete().then();
    }

    private void undo() {
        FireAndForget.run("freeing a key", change("once_undo", name, id));
    }

    /** Fails when the lease is lost, and does nothing else that can be seen. */
    private Mono<Void> renewed() {
        return Mono.defer(() -> Mono.delay(least(lease.dividedBy(3), left()), DriverThreads.timer()))
                .then(Mono.defer(this::renewal))
                .repeat()
                .then();
    }

    /** Fails soon after the lease is over, also when that was while the machine was suspended. */
    private Mono<Void> ended() {
        return Mono.defer(() -> Mono.delay(least(LOOK, left()), DriverThreads.timer()))
                .repeat(() -> !isOver())
                .then(Mono.error(() -> new Lost(key, lease)));
    }

    private Mono<Void> renewal() {
        long askedAt = clock.lookAndTell();
        return change("once_renew", Micros.of(lease), name, id)
                .timeout(least(lease, left()), DriverThreads.timer())
                .onErrorResume(error -> isOver() ? Mono.just(0L) : Mono.empty())
                .flatMap(rows -> {
                    if (rows == 0) {
                        return Mono.error(new Lost(key, lease));
                    }
                    confirmedAt = askedAt;
                    return Mono.empty();
                });
    }

    private Duration left() {
        Duration left = lease.minusNanos(clock.lookAndTell() - confirmedAt);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private boolean isOver() {
        return left().isZero();
    }

    /**
     * Completes when the row says that the key is this run's, and keeps what is to be kept. Fails if another run has
     * the key, or if there was no answer for a lease, when another run may have it; writing goes on then.
     */
    private Mono<Void> recorded(Optional<String> outcome) {
        Sinks.Empty<Void> over = Sinks.empty();
        FireAndForget.run(
                "recording an outcome",
                written(outcome.orElse(null))
                        .doOnError(error -> {
                            log.warn("what became of '{}' could not be recorded", key, error);
                            over.tryEmitError(error);
                        })
                        .doOnSuccess(nothing -> {
                            over.tryEmitEmpty();
                        }));
        return over.asMono()
                .timeout(
                        SilenceClock.ofThisProcess().silence(lease).publishOn(DriverThreads.forUsers()),
                        Mono.error(() -> new IllegalStateException("the work of '" + key + "' has completed, but the"
                                + " database did not answer for " + lease.toMillis() + " ms, so it is not known whether"
                                + " the key was kept, and another process may have begun the work; writing goes on"
                                + " here. Run it again to learn what is kept")));
    }

    /**
     * After a failure the key is kept first, by a statement that nothing about the outcome can make fail. What fails
     * again and again right after that fails because of the outcome, such as one that is too long for a packet.
     */
    private Mono<Void> written(@Nullable String outcome) {
        if (outcome == null) {
            return done(null).retryWhen(untilOver());
        }
        AtomicBoolean kept = new AtomicBoolean();
        Mono<Void> again = done(null)
                .retryWhen(untilOver())
                .then(Mono.defer(() -> {
                    kept.set(true);
                    return done(outcome);
                }))
                .retryWhen(Retry.backoff(TRIES_AFTER_THE_KEY, FIRST_PAUSE)
                        .scheduler(DriverThreads.mayBlock())
                        .filter(error -> kept.get() && !wasRefused(error) && !(error instanceof Lost))
                        .onRetryExhaustedThrow((attempts, last) -> last.failure()));
        return done(outcome)
                .onErrorResume(error -> !(error instanceof Lost), first -> again)
                .onErrorResume(error -> kept.get() && !(error instanceof Lost), error -> {
                    log.warn("the key '{}' is kept, but not its outcome, which the database does not take", key, error);
                    return Mono.empty();
                });
    }

    private RetryBackoffSpec untilOver() {
        return EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE)
                .scheduler(DriverThreads.mayBlock())
                .filter(error -> !(error instanceof Lost) && !timeLeft().isZero())
                .onRetryExhaustedThrow((attempts, last) -> last.failure());
    }

    /** Whether the database has answered that it will not have it. */
    private static boolean wasRefused(Throwable error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        return cause instanceof R2dbcNonTransientException && !(cause instanceof R2dbcNonTransientResourceException);
    }

    /** A row whose lease ended may have been cleaned away, or belong to another run. */
    private Mono<Void> done(@Nullable String outcome) {
        Mono<Long> written = Mono.defer(() -> {
            long time = Micros.of(timeLeft());
            return outcome == null
                    ? change("once_done", time, name, id)
                    : change("once_outcome", outcome, time, name, id);
        });
        return written.flatMap(rows -> rows > 0
                        ? Mono.just(rows)
                        : change("once_begin", name, id, Micros.of(lease)).then(written))
                .flatMap(rows -> rows > 0 ? Mono.empty() : Mono.error(new Lost(key, lease)));
    }

    private Duration timeLeft() {
        Duration left = ttl.minusNanos(clock.lookAndTell() - beganAt);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Mono<Long> change(String statement, Object... parameters) {
        return database.run(session -> session.alone(session.change(statement, parameters)))
                .contextWrite(context);
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
