package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.spi.Signal;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;
import reactor.util.retry.Retry;

/**
 * What a client has once: the table of cohorts, the subscription to the store's signals, one tick that renews and
 * times out, and the way out. Safe for use from any thread; all state of a single lock is in its {@link Cohort}.
 */
final class Engine {

    /** A deadline that never comes. */
    static final long NEVER = Long.MIN_VALUE;

    private static final Logger log = LoggerFactory.getLogger(Engine.class);
    private static final int RENEWAL_BATCH = 500;
    private static final long LONGEST_TICK = 250_000_000;
    private static final long SHORTEST_TICK = 5_000_000;
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(4);

    private record Due(Cohort cohort, Grant grant) {}

    private record OwnedKey(String owner, String key) {}

    final LockBackend backend;
    final long commandTimeout;
    final int maxPasses;
    final long maxPassing;
    private final String name;
    private final double marginShare;
    private final long marginFixed;
    private final Scheduler work;
    private final Scheduler timer;
    private final boolean ownTimer;
    private final LongSupplier clock;
    private final LockListener listener;

    private final Map<String, Cohort> joinable = new ConcurrentHashMap<>();
    private final Map<String, Cohort> claims = new ConcurrentHashMap<>();
    private final Map<OwnedKey, Hold> owned = new ConcurrentHashMap<>();
    private final Set<Withdrawal> withdrawals = ConcurrentHashMap.newKeySet();
    private final Queue<Due> due = new ConcurrentLinkedQueue<>();
    private final String idPrefix;
    private final AtomicLong ids = new AtomicLong();

    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicLong tickNanos = new AtomicLong(Long.MAX_VALUE);
    private final Disposable.Swap ticker = Disposables.swap();
    private final Disposable.Swap signals = Disposables.swap();
    private volatile boolean connectedBefore;
    private volatile boolean closed;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Sinks.Empty<Void> quiet = Sinks.empty();
    private final Sinks.Empty<Void> closedSink = Sinks.empty();

    Engine(LockClientBuilder settings) {
        this.backend = settings.backend;
        this.commandTimeout = settings.commandTimeout.toNanos();
        this.maxPasses = settings.maxPasses;
        this.maxPassing = settings.maxPassing.toNanos();
        this.name = settings.name;
        this.marginShare = settings.marginShare;
        this.marginFixed = settings.marginFixed.toNanos();
        this.work = settings.work;
        this.ownTimer = settings.timer == null;
        this.timer = settings.timer == null ? Schedulers.newSingle("reactive-lock-timer", true) : settings.timer;
        this.clock = settings.nanoClock;
        this.listener = settings.listener;
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        this.idPrefix = Base64.getUrlEncoder().withoutPadding().encodeToString(random) + ".";
    }

    // ---- getting locks

    Mono<LockHandle> acquire(String key, LockOptions options) {
        return AcquireWaiter.mono(this, key, options, Claim.Mode.QUEUE);
    }

    Mono<LockHandle> tryAcquire(String key, LockOptions options) {
        return AcquireWaiter.mono(this, key, options, Claim.Mode.TRY);
    }

    /** Puts a flow into the cohort it belongs to. */
    void enqueue(Waiter waiter, long deadline) {
        start();
        long now = now();
        if (closed) {
            waiter.fail(new LockClientClosedException(waiter.key));
        } else if (deadline != NEVER && deadline - now <= 0) {
            waiter.fail(new LockTimeoutException(
                    waiter.key, waiter.options.waitTimeout().orElse(Duration.ZERO)));
        } else {
            waiter.start(cohortFor(waiter), now, deadline);
        }
    }

    /** When a wait that begins now is over. */
    long deadline(LockOptions options) {
        return options.waitTimeout().map(timeout -> now() + timeout.toNanos()).orElse(NEVER);
    }

    private Cohort cohortFor(Waiter waiter) {
        if (waiter.mode == Claim.Mode.TRY || waiter.options.fairness() == Fairness.FIFO) {
            return new Cohort(this, waiter.key, false);
        }
        Cohort cohort = joinable.compute(waiter.key, (key, present) -> {
            Cohort joined = present == null ? new Cohort(this, key, true) : present;
            joined.members++;
            return joined;
        });
        return cohort;
    }

    /** A flow, or its hold, is done with the cohort; the last one takes it out of the table. */
    void depart(Cohort cohort) {
        joinable.computeIfPresent(
                cohort.key, (key, present) -> present == cohort && --cohort.members == 0 ? null : present);
    }

    /** The hold that an acquisition with this Context joins instead of waiting. */
    @Nullable
    Hold reentrant(ContextView context, String key) {
        Hold inherited = HeldLocks.find(context, this, key);
        if (inherited != null || owned.isEmpty()) {
            return inherited;
        }
        return LockContext.owner(context)
                .map(owner -> owned.get(new OwnedKey(owner, key)))
                .orElse(null);
    }

    void adopt(Hold hold, Waiter waiter) {
        LockContext.owner(waiter.context()).ifPresent(owner -> {
            hold.contextOwner = owner;
            owned.put(new OwnedKey(owner, waiter.key), hold);
        });
    }

    void disown(Hold hold) {
        if (hold.contextOwner != null) {
            owned.remove(new OwnedKey(hold.contextOwner, hold.cohort.key), hold);
        }
    }

    String ownerOf(Waiter waiter) {
        return waiter.options
                .owner()
                .or(() -> LockContext.owner(waiter.context()))
                .orElse(name);
    }

    /** Unique, and unguessable without having seen another: 128 random bits of this client and a count. */
    String newClaimId() {
        return idPrefix + Long.toString(ids.getAndIncrement(), Character.MAX_RADIX);
    }

    /** Makes a claim known to signals and to the tick; false once the client is closed. */
    boolean register(Claim claim, Cohort cohort) {
        claims.put(claim.id(), cohort);
        tickAtLeastEvery(claim.lease().toNanos() / 12);
        return !closed;
    }

    void forget(Claim claim) {
        claims.remove(claim.id());
    }

    // ---- giving them up

    /** Ends a claim at the store; {@code outcome} hears how the first attempt went. */
    void withdraw(Claim claim, Withdrawal.@Nullable Outcome outcome) {
        claims.remove(claim.id());
        Withdrawal withdrawal = new Withdrawal(this, claim, outcome);
        withdrawals.add(withdrawal);
        withdrawal.ask();
    }

    void ended(Withdrawal withdrawal) {
        withdrawals.remove(withdrawal);
        checkQuiet();
    }

    void retryLater(long nanos, Withdrawal withdrawal) {
        Disposable unused = after(nanos, withdrawal::ask);
    }

    /** A hold ended by a release that needed the store. */
    void reportRelease(
            Hold hold, boolean owned, @Nullable Throwable failure, Consumer<@Nullable LockException> outcome) {
        if (failure == null && owned) {
            reportRelease(hold, outcome);
        } else if (failure == null) {
            LockLostException loss =
                    new LockLostException(hold.cohort.key, hold.fencingToken, LossReason.EXPIRED, null);
            reportLoss(loss);
            run(() -> outcome.accept(loss));
        } else {
            LockUnavailableException unreleased =
                    new LockUnavailableException(hold.cohort.key, "released (it is tried again)", failure);
            log.warn("{}", unreleased.getMessage());
            run(() -> {
                tell(l -> l.releaseFailed(unreleased));
                outcome.accept(unreleased);
            });
        }
    }

    void reportRelease(Hold hold, Consumer<@Nullable LockException> outcome) {
        run(() -> {
            tell(l -> l.released(hold.cohort.key, hold.fencingToken, since(hold.since)));
            outcome.accept(null);
        });
    }

    void reportLoss(LockLostException loss) {
        log.warn("{}", loss.getMessage());
        run(() -> tell(l -> l.lost(loss)));
    }

    // ---- time

    long now() {
        return clock.getAsLong();
    }

    Duration since(long then) {
        return Duration.ofNanos(now() - then);
    }

    long margin(long lease) {
        return (long) (lease * marginShare) + marginFixed;
    }

    long tickNanos() {
        return tickNanos.get();
    }

    String commandTimeoutText() {
        return TimeUnit.NANOSECONDS.toMillis(commandTimeout) + " ms";
    }

    Disposable after(long nanos, Runnable task) {
        return timer.schedule(guarded(task), Math.max(0, nanos), TimeUnit.NANOSECONDS);
    }

    void arm(long nanos, Runnable task) {
        Disposable unused = after(nanos, task);
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                log.error("a timer of the lock client failed; please report this", e);
            }
        };
    }

    private void tickAtLeastEvery(long nanos) {
        long wanted = Math.max(SHORTEST_TICK, Math.min(nanos, Math.min(LONGEST_TICK, commandTimeout / 8)));
        long current = tickNanos.get();
        while (wanted < current) {
            if (tickNanos.compareAndSet(current, wanted)) {
                ticker.update(Flux.interval(Duration.ofNanos(wanted), timer)
                        .onBackpressureDrop()
                        .subscribe(count -> guarded(this::tick).run(), e -> log.error("the tick ended", e)));
                return;
            }
            current = tickNanos.get();
        }
    }

    private void tick() {
        claims.values().forEach(Cohort::tick);
        long now = now();
        withdrawals.forEach(withdrawal -> withdrawal.tick(now));
        renewDue();
    }

    void due(Cohort cohort, Grant grant) {
        due.add(new Due(cohort, grant));
    }

    /** Renews what is due, in batches that do not depend on one another. */
    void renewDue() {
        while (!due.isEmpty()) {
            List<Due> batch = new ArrayList<>();
            for (Due next = due.poll(); next != null; next = batch.size() < RENEWAL_BATCH ? due.poll() : null) {
                batch.add(next);
            }
            if (batch.isEmpty()) {
                return;
            }
            List<Claim> held = batch.stream().map(d -> d.grant().claim).toList();
            long sentAt = now();
            ask(
                    () -> backend.renew(held),
                    answer -> batch.forEach(d -> d.cohort().renewed(d.grant(), sentAt, answer)),
                    failure -> batch.forEach(d -> d.cohort().renewalFailed(d.grant(), failure)));
        }
    }

    // ---- the store

    /** The one place where the engine subscribes for itself: to a question whose answer becomes an event. */
    <T> void ask(Supplier<Mono<T>> question, Consumer<T> onAnswer, Consumer<Throwable> onFailure) {
        Mono<T> asked;
        try {
            asked = question.get();
        } catch (RuntimeException e) {
            asked = Mono.error(e);
        }
        Disposable unused = asked.subscribe(onAnswer, onFailure);
    }

    private void start() {
        if (started.compareAndSet(false, true)) {
            signals.update(Flux.defer(backend::signals)
                    .concatWith(Mono.error(() -> new IllegalStateException("the store's signals ended")))
                    .doOnError(e -> log.debug("signals of the store were interrupted", e))
                    .retryWhen(Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(50))
                            .maxBackoff(Duration.ofSeconds(1))
                            .scheduler(timer)
                            .transientErrors(true))
                    .subscribe(this::signalled, e -> log.error("signals of the store ended", e)));
        }
    }

    private void signalled(Signal signal) {
        if (signal instanceof Signal.Grant grant) {
            Cohort cohort = claims.get(grant.claimId());
            if (cohort != null) {
                cohort.pushed(grant.claimId(), grant.fencingToken());
            }
        } else if (signal instanceof Signal.Suspect suspect) {
            Cohort cohort = claims.get(suspect.claimId());
            if (cohort != null) {
                cohort.suspect(suspect.claimId(), suspect.reason());
            }
        } else if (signal instanceof Signal.Recheck recheck) {
            claims.values().stream().filter(c -> c.key.equals(recheck.key())).forEach(c -> c.recheck(false));
        } else if (signal instanceof Signal.Reconnected) {
            boolean again = connectedBefore;
            connectedBefore = true;
            claims.values().forEach(c -> c.recheck(again));
        }
    }

    // ---- users

    /** Runs user code: always on the work scheduler, never inside a drain. */
    void run(Runnable task) {
        try {
            Disposable unused = work.schedule(task);
        } catch (RejectedExecutionException e) {
            log.warn("the work scheduler of a lock client is disposed; a signal is delivered where it arises");
            task.run();
        }
    }

    void tell(Consumer<LockListener> news) {
        try {
            news.accept(listener);
        } catch (RuntimeException e) {
            log.warn("a LockListener threw; it is ignored", e);
        }
    }

    /** A question to the store that has an answer of its own, emitted on the work scheduler. */
    <T> Mono<T> question(String key, String action, Supplier<Mono<T>> question) {
        return Mono.defer(() -> closed ? Mono.<T>error(new LockClientClosedException(key)) : question.get())
                .timeout(Duration.ofNanos(commandTimeout), timer)
                .onErrorMap(e -> !(e instanceof LockException), e -> unavailable(key, action, e))
                .publishOn(work);
    }

    <T> Flux<T> stream(String key, String action, Supplier<Flux<T>> stream) {
        return Flux.defer(() -> closed ? Flux.<T>error(new LockClientClosedException(key)) : stream.get())
                .onErrorMap(e -> !(e instanceof LockException), e -> unavailable(key, action, e))
                .publishOn(work);
    }

    Mono<Long> delay(Duration pause) {
        return Mono.delay(pause, timer);
    }

    private LockUnavailableException unavailable(String key, String action, Throwable failure) {
        return new LockUnavailableException(
                key,
                action,
                failure instanceof TimeoutException
                        ? new TimeoutException("the store did not answer within " + commandTimeoutText())
                        : failure);
    }

    // ---- the end

    Mono<Void> close() {
        return Mono.defer(() -> {
            if (closing.compareAndSet(false, true)) {
                beginClose();
            }
            return closedSink.asMono().publishOn(work);
        });
    }

    private void beginClose() {
        closed = true;
        signals.dispose();
        claims.values().forEach(Cohort::close);
        checkQuiet();
        Disposable unused = quiet.asMono()
                .timeout(CLOSE_LIMIT, timer)
                .onErrorResume(e -> {
                    log.warn("{} releases were not confirmed while closing; their leases run out", withdrawals.size());
                    return Mono.empty();
                })
                .then(Mono.defer(backend::close).timeout(Duration.ofSeconds(1), timer))
                .onErrorResume(e -> {
                    log.warn("the lock backend did not close cleanly", e);
                    return Mono.empty();
                })
                .doFinally(end -> {
                    ticker.dispose();
                    Sinks.EmitResult ignored = closedSink.tryEmitEmpty();
                    if (ownTimer) {
                        timer.dispose();
                    }
                })
                .subscribe(nothing -> {}, e -> log.error("closing a lock client failed", e));
    }

    private void checkQuiet() {
        if (closed && withdrawals.isEmpty()) {
            Sinks.EmitResult ignored = quiet.tryEmitEmpty();
        }
    }
}
