package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.RandomId;
import io.github.reactivelock.spi.support.Snapshots;
import io.github.reactivelock.spi.support.SuspendClock;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Work that runs once for each key, over all processes: like a lock that is never released before its time is over. The
 * number of an order as the key keeps the order from being charged twice.
 *
 * <pre>{@code
 * once.run("charge:" + order, Duration.ofDays(7), charge(order));            // the second caller gets nothing
 * once.recorded("charge:" + order, Duration.ofDays(7), charge(order));       // the second caller gets the receipt
 * }</pre>
 *
 * <ol>
 *   <li>A key is taken when its work begins, for a lease of 30 seconds, which is renewed every third of it while the
 *       work runs. When the work has completed, the key stays taken until its time is over.
 *   <li>Work that fails or is cancelled frees its key, <b>but only while it has not completed</b>: from then on neither
 *       a cancel nor a database that cannot be reached frees it. What is to be written then is written again until it
 *       is, in the background where the caller has left.
 *   <li>A process that dies in the middle of the work leaves the key taken for the rest of the lease. <b>Then the work
 *       may begin anew, although it is not known what it had done</b>: hand the key on to what it calls, as most
 *       payment services allow, or use a longer lease.
 *   <li>Work whose lease could not be renewed in time is cancelled, because another process may have begun it; where
 *       the machine was suspended meanwhile, within about a second of its waking. A caller whose key is lost, or not
 *       confirmed, gets an error, also when the work has completed.
 *   <li>In a transaction of Spring nothing begins, because a key would stay taken for work that is rolled back. Begin
 *       the transaction in the work.
 * </ol>
 *
 * <p>Keys are those of this class alone. Rows whose time is over are removed while the class is in use. Needs no
 * closing. Safe for use from any thread.
 */
public final class Once {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final SuspendClock CLOCK = new SuspendClock();
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
    /** What a longer time counts as; three times as much is more nanoseconds than there are numbers. */
    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    private final Database database;
    private final Sweep sweep;
    private final Duration lease;
    private final LateId process = new LateId(() -> RandomId.next() + ".");
    private final AtomicLong runs = new AtomicLong();
    private final Running running = new Running();

    private Once(Database database, Duration lease) {
        this.database = database;
        this.sweep = Sweep.ofOnce(database);
        this.lease = lease;
        Snapshots.join(running);
    }

    /**
     * Keeps keys in the tables of this library.
     *
     * @param pool a pool of the application, which is never closed here
     * @return work once
     */
    public static Once using(ConnectionFactory pool) {
        return using(pool, R2dbcBackendOptions.defaults());
    }

    /**
     * Keeps keys in the tables of this library.
     *
     * @param pool a pool of the application, which is never closed here
     * @param options which tables
     * @return work once
     */
    public static Once using(ConnectionFactory pool, R2dbcBackendOptions options) {
        return new Once(new Database(pool, options), LEASE);
    }

    /**
     * Changes how long a key stays taken after its process died in the middle of the work, and how long the work goes
     * on when the database cannot be reached. All processes should have the same.
     *
     * @param lease at least 100 milliseconds; 30 seconds unless changed
     * @return work once with this lease
     */
    public Once withLease(Duration lease) {
        if (lease.compareTo(SHORTEST_LEASE) < 0) {
            throw new IllegalArgumentException("lease must be at least 100 ms but is " + lease);
        }
        return new Once(database, lease);
    }

    /**
     * Runs work unless it was begun before. Cold; of all subscriptions with a key one runs its work. Cancelling cancels
     * the work and frees the key, unless the work has completed.
     *
     * @param key what must happen once, 1 to 512 bytes of UTF-8
     * @param ttl how long the key stays taken after the work began, and the longest that the work may take
     * @param work cancelled if it takes longer than {@code ttl}, which is a
     *     {@link java.util.concurrent.TimeoutException}
     * @param <T> the value's type
     * @return the work's outcome, when the database has confirmed that the key is kept; empty for all other callers,
     *     also while the work still runs; an {@link IllegalStateException} if the key was lost, if it was not confirmed
     *     for a lease after the work, or in a transaction of Spring
     */
    public <T> Mono<T> run(String key, Duration ttl, Mono<T> work) {
        return begun(key, ttl, work, found -> Mono.empty(), value -> Optional.empty());
    }

    /**
     * Runs work unless it was begun before, and keeps its value for those who come later. Cold. Cancelling is as with
     * {@link #run}; a value that the work has produced is kept.
     *
     * <p>The value is emitted when it was written. If the database does not answer for a lease after the work's end,
     * another process may have the key, so the caller gets an {@link IllegalStateException}; writing goes on then. A
     * value that the database refuses, because it is too long, is emitted and logged; the key stays taken, and later
     * callers get nothing.
     *
     * @param key what must happen once, 1 to 512 bytes of UTF-8
     * @param ttl how long the key stays taken after the work began and its value is kept, and the longest that the work
     *     may take
     * @param work cancelled if it takes longer than {@code ttl}; its value is any text
     * @return the value, from the work or from the record; empty while the work still runs elsewhere; fails as
     *     {@link #run} does
     */
    public Mono<String> recorded(String key, Duration ttl, Mono<String> work) {
        return begun(
                key,
                ttl,
                work,
                found -> Mono.justOrEmpty(Outcomes.read(found.outcome())),
                value -> Optional.of(Outcomes.written(value)));
    }

    private <T> Mono<T> begun(
            String key,
            Duration ttl,
            Mono<T> work,
            Function<Found, Mono<T>> otherwise,
            Function<T, Optional<String>> kept) {
        if (!KeyLayout.isName(key)) {
            throw new IllegalArgumentException("key must be 1 to 512 bytes of UTF-8 but is " + KeyLayout.shown(key));
        }
        if (ttl.isNegative() || ttl.isZero()) {
            throw new IllegalArgumentException("ttl of '" + key + "' must be positive but is " + ttl);
        }
        return Mono.<T>deferContextual(context -> {
                    if (Wrappers.isInAnyTransaction(context)) {
                        return Mono.error(new IllegalStateException(
                                "the key '" + key + "': this runs in a transaction of Spring, and"
                                        + " the key would stay taken if that is rolled back. Begin the transaction in the work:"
                                        + " once.run(key, ttl, operator.transactional(work))"));
                    }
                    sweep.begin(context);
                    Duration time = ttl.compareTo(FOR_EVER) < 0 ? ttl : FOR_EVER;
                    return running.during(key, () -> {
                        OnceRun run = new OnceRun(
                                database, key, process.get() + runs.getAndIncrement(), time, lease, context, CLOCK);
                        return run.begin()
                                .flatMap(found ->
                                        found.runId().equals(run.id()) ? run.of(work, kept) : otherwise.apply(found));
                    });
                })
                .onErrorStop(); // an error of the work decides what becomes of the key
    }

    /** No snapshot of the process is taken while work runs, which would go on in each copy. */
    private static final class Running implements Snapshots.Participant {

        private final AtomicInteger count = new AtomicInteger();

        <T> Mono<T> during(String key, Supplier<Mono<T>> run) {
            count.incrementAndGet();
            Mono<T> begun = Snapshots.isBeingTaken()
                    ? Mono.error(new IllegalStateException(
                            "the key '" + key + "': a snapshot of this process is being taken; try again after it"))
                    : Mono.defer(run);
            return begun.doFinally(signal -> count.decrementAndGet());
        }

        @Override
        public String obstacle() {
            return count.get() == 0 ? "" : "work of Once is running; let it end before the snapshot";
        }
    }

    /** Whose key it is, and what is kept of it. */
    record Found(String runId, @Nullable String outcome) {}
}
