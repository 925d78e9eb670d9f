package io.github.reactivelock;

import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.WorkThreads;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.text.Validation;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Settings of a {@link LockClient}. Every setting has a default that suits most. Not safe for use by several threads.
 */
public final class LockClientBuilder {

    private final LockBackend backend;
    LockOptions options = LockOptions.defaults();
    /** Made with the first claim if not set. */
    private @Nullable String name;

    private Duration commandTimeout = Duration.ofSeconds(2);
    private int maxPasses = 1_000;
    private Duration maxPassing = Duration.ofMillis(50);
    private int maxRetained = 10_000;
    private double marginShare = 0.01;
    private Duration marginFixed = Duration.ofMillis(2);
    private Scheduler work = WorkThreads.SCHEDULER;

    private @Nullable Scheduler timer;

    private LongSupplier nanoClock = System::nanoTime;
    private LongSupplier wallClock = System::currentTimeMillis;

    @Nullable
    LockListener listener;

    /**
     * Prefix of claim ids, drawn with the first id if not set; a simulation sets it, because ids decide the order of
     * tables.
     */
    @Nullable
    String idPrefix;

    /** Go on with a key's events; a simulation sets it, because it has one thread. */
    Executor others = WorkThreads.SHARED;
    /** Share of a pause before signals are subscribed to again that is left to chance; a simulation sets it. */
    double jitter = 0.5;

    LockClientBuilder(LockBackend backend) {
        this.backend = Objects.requireNonNull(backend, "backend");
    }

    /**
     * The options of everything acquired through the client, unless {@link LockClient#with} gives others.
     *
     * @param options {@link LockOptions#defaults()} if not called
     * @return this builder
     */
    public LockClientBuilder options(LockOptions options) {
        this.options = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * The client's name, which people see as a lock's owner unless {@link LockOptions#owner()} gives another.
     *
     * @param name as for {@link LockOptions#withOwner}; host, process id and a random part if not called, as in
     *     {@code shop-3/pid-4711/x8Kq2LmT}
     * @return this builder
     */
    public LockClientBuilder name(String name) {
        this.name = Validation.owner(name);
        return this;
    }

    /**
     * How long the store may take to answer one command before it counts as unavailable.
     *
     * @param commandTimeout between 10 milliseconds and 365 days; 2 seconds if not called
     * @return this builder
     */
    public LockClientBuilder commandTimeout(Duration commandTimeout) {
        this.commandTimeout = LockOptions.checked("commandTimeout", commandTimeout, Duration.ofMillis(10));
        return this;
    }

    /**
     * How often and for how long a process may pass a lock on among its own flows before the store decides again. The
     * one that is spent first counts. With {@link Fairness#COHORT} a client waits at most about as long as the other
     * clients' budgets together: the last hold that a budget allows runs to its end, and each hand-over comes on top.
     * With {@link Fairness#FIFO} a process passes a lock on only to the flow that the store would serve next. With no
     * passes at all every hold has a claim of its own at the store.
     *
     * @param passes 0 to 4,095; 1,000 if not called
     * @param time 50 milliseconds if not called
     * @return this builder
     */
    public LockClientBuilder passBudget(int passes, Duration time) {
        int most = FencingTokens.MOST_PASSES;
        if (passes < 0 || passes > most || time.isNegative() || time.compareTo(LockOptions.LONGEST) > 0) {
            throw new IllegalArgumentException("pass budget must be 0 to " + most
                    + " passes and a time of 0 to 365 days but is " + passes + " and " + time);
        }
        this.maxPasses = passes;
        this.maxPassing = time;
        return this;
    }

    /**
     * How many locks that no flow needs are kept at the same time ({@link LockOptions#withRetention}). One more sends
     * the oldest back to the store. A lock is passed on as often as {@link #passBudget} says before it goes back.
     *
     * @param most 0 to 1,000,000; 10,000 if not called
     * @return this builder
     */
    public LockClientBuilder maxRetained(int most) {
        if (most < 0 || most > 1_000_000) {
            throw new IllegalArgumentException("maxRetained must be 0 to 1,000,000 but is " + most);
        }
        this.maxRetained = most;
        return this;
    }

    /**
     * How much earlier than the lease a hold ends here, against clocks that run at different speeds.
     *
     * @param share of the lease, 0 to 0.5; 0.01 if not called
     * @param fixed added to it; 2 milliseconds if not called
     * @return this builder
     */
    public LockClientBuilder clockMargin(double share, Duration fixed) {
        if (!(share >= 0 && share <= 0.5) || fixed.isNegative() || fixed.compareTo(LockOptions.LONGEST) > 0) {
            throw new IllegalArgumentException("clock margin must be a share of 0 to 0.5 and a time of"
                    + " 0 to 365 days but is " + share + " and " + fixed);
        }
        this.marginShare = share;
        this.marginFixed = fixed;
        return this;
    }

    /**
     * Where work and handles are emitted, and where the client calls all other code of yours. By default these are
     * threads of the library, made when they are needed and shared by all its clients, on which a flow that blocks or
     * computes delays only itself; from 256 of them on the next may wait for a second. On a scheduler with fewer
     * threads, such as {@code Schedulers.parallel()} with one for each processor, flows that keep them hold up the
     * others: their locks are held but not delivered, and news of a loss comes late. {@code Schedulers.immediate()}
     * leaves everything on the driver's thread, which is a hop quicker and safe only for code that never blocks and
     * never waits for the same driver.
     *
     * <p>What the scheduler refuses, because it is full or disposed, runs on the default threads, which is logged. One
     * that drops what it cannot run loses locks with it, and one that runs it on the caller's thread is like
     * {@code immediate()}.
     *
     * @param work threads of the library if not called; never disposed by the client
     * @return this builder
     */
    public LockClientBuilder workScheduler(Scheduler work) {
        this.work = Objects.requireNonNull(work, "work scheduler");
        return this;
    }

    /**
     * What drives renewals and deadlines; for tests in virtual time.
     *
     * @param timer where timers run, a daemon thread of the client's own if not called; never disposed by the client
     * @param nanoClock the monotonic clock that belongs to it, in nanoseconds; {@code System::nanoTime} if not called
     * @return this builder
     */
    public LockClientBuilder timing(Scheduler timer, LongSupplier nanoClock) {
        return timing(timer, nanoClock, () -> 0);
    }

    /** With a wall clock in milliseconds, which goes on while the machine is suspended; one that stands is ignored. */
    LockClientBuilder timing(Scheduler timer, LongSupplier nanoClock, LongSupplier wallClockMillis) {
        this.timer = Objects.requireNonNull(timer, "timer");
        this.nanoClock = Objects.requireNonNull(nanoClock, "nanoClock");
        this.wallClock = Objects.requireNonNull(wallClockMillis, "wallClockMillis");
        return this;
    }

    /**
     * Hears what the client's locks do.
     *
     * @param listener nothing if not called
     * @return this builder
     */
    public LockClientBuilder listener(LockListener listener) {
        this.listener = Objects.requireNonNull(listener, "listener");
        return this;
    }

    /**
     * Who hears what the client's locks do, for one who adds a listener to that.
     *
     * @return empty if none was set
     */
    public Optional<LockListener> listener() {
        return Optional.ofNullable(listener);
    }

    /**
     * Makes the client. Refuses options whose lease the clock margin would use up.
     *
     * @return a client that nothing is connected for yet
     */
    public LockClient build() {
        LockOptions fitting = Timing.fitting(options, marginShare, marginFixed.toNanos());
        LockOptions supported = ClaimOptions.supported(backend, fitting);
        return new LockClient(engine(), supported);
    }

    Engine engine() {
        return new Engine(settings());
    }

    Settings settings() {
        return new Settings(
                backend,
                name,
                commandTimeout,
                maxPasses,
                maxPassing,
                maxRetained,
                marginShare,
                marginFixed,
                work,
                others,
                timer,
                nanoClock,
                wallClock,
                listener,
                idPrefix,
                jitter);
    }
}
