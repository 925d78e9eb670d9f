package io.github.reactivelock.engine.time;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.engine.user.OwnThread;
import io.github.reactivelock.spi.support.OwnScheduler;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.spi.support.SuspendClock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Scheduler;

/**
 * A client's monotonic clock, its timer, and the one tick from which everything periodic hangs. The tick is as fast as
 * the shortest lease so far needs; only a deadline that falls before the next tick but one gets a timer of its own.
 * Times are nanoseconds of the clock, which may overflow and are compared by difference.
 */
public final class Timing {

    /** A deadline that never comes. */
    public static final long NEVER = Long.MIN_VALUE;

    private static final Logger log = LoggerFactory.getLogger(Timing.class);
    private static final long LONGEST_TICK = Duration.ofMillis(250).toNanos();
    private static final long SHORTEST_TICK = Duration.ofMillis(5).toNanos();
    private static final int TICKS_A_LEASE = 12;
    /**
     * Nanoseconds before a deadline from which on {@link #isBeforeNextTick} may be true, however slow the tick becomes.
     */
    public static final long BEFORE_A_DEADLINE = 2 * LONGEST_TICK;
    /**
     * Nanoseconds: what is due so soon after the client was closed is done when its timer ends, for flows in
     * {@code KeyContext}.
     */
    private static final long LAST_TASKS = Duration.ofMillis(10).toNanos();
    /** Share of a lease. A grant with less than a third left is given to no flow, and an answer takes its time too. */
    private static final double LEAST_USABLE = 0.4;

    private static final int TICKS_A_COMMAND = 8;

    public final long commandTimeout;
    private final double marginShare;
    private final long marginFixed;
    private final SuspendClock clock;
    private final Scheduler timer;
    /** None where the timer is the caller's. */
    private final @Nullable OwnScheduler ownTimer;

    private final Runnable onTick;
    private final AtomicLong tickNanos = new AtomicLong(Long.MAX_VALUE);
    private final Disposable.Swap ticker = Disposables.swap();
    /** What the silence of a store is measured by: it stands still while this process gets no turn. */
    public final SilenceClock silenceClock;

    private final Disposable.Swap counting = Disposables.swap();

    public Timing(Settings settings, Runnable onTick) {
        this.commandTimeout = settings.commandTimeout().toNanos();
        this.marginShare = settings.marginShare();
        this.marginFixed = settings.marginFixed().toNanos();
        this.clock = new SuspendClock(settings.nanoClock(), settings.wallClock());
        Scheduler given = settings.timer();
        this.ownTimer = given == null ? newTimer() : null;
        this.timer = ownTimer == null ? Objects.requireNonNull(given) : ownTimer;
        // A tick that takes long, with very many locks, is no pause of the process: another thread counts, where there
        // is one.
        this.silenceClock =
                given == null ? SilenceClock.ofThisProcess() : new SilenceClock(settings.nanoClock(), given);
        this.onTick = guarded(() -> {
            nowForCertain();
            onTick.run();
        });
    }

    private static OwnScheduler newTimer() {
        return OwnScheduler.on(TimerThread::new);
    }

    public long now() {
        return clock.now();
    }

    /** As {@link #now}, and notices a suspension of the machine: for deciding whether a lock is still held. */
    public long nowForCertain() {
        return clock.lookAndTell();
    }

    /**
     * As {@link #now}, of a clock that stands still while this process gets no turn: for how long the store has been
     * silent.
     */
    public long silentNow() {
        return silenceClock.now();
    }

    /** An answer that does not come in time is an error that names the silence. Cold. */
    public <T> Mono<T> answeredIn(Duration limit, Mono<T> question, Supplier<? extends Throwable> silence) {
        return silenceClock.timeout(question, limit, Mono.error(silence));
    }

    public Duration since(long then) {
        return Duration.ofNanos(now() - then);
    }

    /** By how much a hold ends earlier here than its lease at the store. */
    public long margin(long lease) {
        return margin(lease, marginShare, marginFixed);
    }

    private static long margin(long lease, double share, long fixed) {
        return (long) (lease * share) + fixed;
    }

    /**
     * Refuses options that contradict each other, or whose lease is used up by the margin before a flow could work
     * under it; which locks may be kept is rule 8 of {@code docs/design/retention.md}.
     */
    public LockOptions fitting(LockOptions options) {
        return fitting(options, marginShare, marginFixed);
    }

    public static LockOptions fitting(LockOptions options, double share, long fixed) {
        checkTogether(options);
        long lease = options.lease().toNanos();
        Duration left = Duration.ofNanos(Math.max(0, lease - margin(lease, share, fixed)));
        if (left.toNanos() < lease * LEAST_USABLE) {
            throw new IllegalArgumentException("a lease of " + options.lease() + " leaves only " + left
                    + " to work with when clockMargin(" + share + ", " + Duration.ofNanos(fixed)
                    + ") is taken off, and two fifths of it are the least; use a longer lease or a smaller margin");
        }
        return options;
    }

    /** Refuses times that contradict each other, of which any may be said first. */
    private static void checkTogether(LockOptions options) {
        Duration minHold = options.minHold().orElse(Duration.ZERO);
        if (!options.isRenewed() && minHold.compareTo(options.lease()) > 0) {
            throw new IllegalArgumentException(
                    "minHold of " + minHold + " is longer than the lease of " + options.lease()
                            + ", which ends every hold that is not renewed; use a longer lease or withRenewal()");
        }
        options.retention().ifPresent(retention -> checkKept(options, retention));
    }

    private static void checkKept(LockOptions options, Duration retention) {
        String obstacle = "";
        if (options.fairness() == Fairness.FIFO) {
            obstacle = "Fairness.FIFO gives the lock in the store's order, which a flow of this process would leave;"
                    + " use Fairness.COHORT";
        } else if (!options.share().isWhole()) {
            obstacle = "only a lock that is not shared can be kept, and this one is asked for as "
                    + options.share().text();
        } else if (options.minHold().isPresent()) {
            obstacle = "a minHold keeps the lock from flows of this process too; leave it out";
        } else if (!options.isRenewed()) {
            obstacle = "a hold that is not renewed goes to no other flow; use withRenewal()";
        } else if (retention.compareTo(options.lease()) > 0) {
            obstacle = "it is longer than the lease of " + options.lease() + ", and what is kept is not renewed;"
                    + " use a longer lease";
        }
        if (!obstacle.isEmpty()) {
            throw new IllegalArgumentException(
                    "a retention of " + retention + " cannot be: " + obstacle + ", or withoutRetention()");
        }
    }

    /** When a wait that begins now is over. */
    public long deadline(LockOptions options) {
        Duration timeout = options.waitTimeout().orElse(null);
        return timeout == null ? NEVER : now() + timeout.toNanos();
    }

    public Scheduler timer() {
        return timer;
    }

    /** Does nothing once the timer is disposed, as it is when the client is closed. */
    public Disposable after(long nanos, Runnable task) {
        try {
            return timer.schedule(guarded(task), Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("a timer was not set because the lock client is closed", e);
            return Disposables.disposed();
        }
    }

    public Mono<Long> delay(Duration pause) {
        return Mono.delay(pause, timer);
    }

    /** Whether a deadline is so near that waiting for the tick to notice it would be late. */
    public boolean isBeforeNextTick(long deadline, long now) {
        return deadline - now < 2 * tickNanos.get();
    }

    /** Keeps the tick fast enough for a lease, in nanoseconds. */
    public void serve(long lease) {
        long wanted = tickFor(lease);
        long current = tickNanos.get();
        while (wanted < current) {
            if (tickNanos.compareAndSet(current, wanted)) {
                if (current == Long.MAX_VALUE) {
                    counting.update(silenceClock.count());
                }
                startTick();
                return;
            }
            current = tickNanos.get();
        }
    }

    /**
     * Lets the tick be slow again once nothing short is in use. A lease that comes into use meanwhile either finds the
     * slow tick and makes it faster, or is found by the second look.
     */
    public void relax(LongSupplier shortestLease) {
        long wanted = tickFor(shortestLease.getAsLong());
        long current = tickNanos.get();
        if (wanted / 2 >= current && tickNanos.compareAndSet(current, wanted)) {
            startTick();
            serve(shortestLease.getAsLong());
        }
    }

    private long tickFor(long lease) {
        long byLease = Math.max(SHORTEST_TICK, lease / TICKS_A_LEASE);
        return Math.min(Math.min(byLease, LONGEST_TICK), commandTimeout / TICKS_A_COMMAND);
    }

    /** If two threads start a tick at once, the slower tick must not be the one that stays. */
    private void startTick() {
        long started;
        do {
            started = tickNanos.get();
            tickEvery(started);
        } while (started != tickNanos.get());
    }

    /** With no operator, whose hook would keep for ever what the thread of the first flow carried. */
    private void tickEvery(long nanos) {
        Scheduler.Worker ticks = timer.createWorker();
        ticker.update(ticks);
        try {
            ticks.schedulePeriodically(onTick, nanos, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("no tick was set because the lock client is closed", e);
        }
    }

    /** How long to wait for an answer that a lease depends on, so that there is time to ask again before it ends. */
    public long patience(long lease) {
        return Math.min(commandTimeout, lease / 3);
    }

    public TimeoutException silence(long patience, String reason) {
        return new TimeoutException(
                "the store did not answer within " + TimeUnit.NANOSECONDS.toMillis(patience) + " ms: " + reason);
    }

    /** Why grant after grant was over, or nearly so, before a flow could have it. */
    public IllegalStateException tooLate(int times, Duration granted, Duration delay, long askedAt) {
        return new IllegalStateException("the store granted it " + times + " times in a row, but the last answer took "
                + TimeUnit.NANOSECONDS.toMillis(now() - askedAt) + " ms, which with a clock margin of "
                + TimeUnit.NANOSECONDS.toMillis(margin(granted.toNanos())) + " ms"
                + (delay.isZero() ? "" : " and a lock delay of " + delay.toMillis() + " ms")
                + " leaves less than a third of the lease of " + granted.toMillis()
                + " ms; use a longer lease" + (delay.isZero() ? "" : " or a shorter lock delay"));
    }

    /** Nothing is left to a timer of this client after it. */
    public void dispose() {
        ticker.dispose();
        counting.dispose();
        if (ownTimer != null) {
            ownTimer.disposeAfter(LAST_TASKS);
        }
    }

    /** What is set from now on is not done. */
    public boolean isDisposed() {
        return ticker.isDisposed();
    }

    /** Nothing on it may block. */
    private static final class TimerThread extends OwnThread implements NonBlocking {

        static final String NAME = "reactive-lock-timer";
        private static final AtomicLong NUMBERS = new AtomicLong();

        TimerThread(Runnable task) {
            super(NAME + "-" + NUMBERS.incrementAndGet(), task);
        }
    }

    /** One failure must never end what is periodic. */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable e) {
                log.error("a timer of the lock client failed; please report this", e);
            }
        };
    }
}
