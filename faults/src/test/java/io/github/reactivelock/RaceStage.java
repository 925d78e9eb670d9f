package io.github.reactivelock;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.hold.HoldInside;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A client for one round of a race, and its store, which answers at once. Time stands still and everything runs where
 * it arises, so that nothing happens but on the two threads of the race. Timers run when they are told to.
 */
@NullMarked
final class RaceStage implements LockBackend, Scheduler {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final ClaimResult[] GRANTS = {
        new ClaimResult.Granted(1L << PASS_BITS, LEASE),
        new ClaimResult.Granted(2L << PASS_BITS, LEASE),
        new ClaimResult.Granted(3L << PASS_BITS, LEASE),
    };

    /** Claims that own a lock. */
    final Set<String> held = ConcurrentHashMap.newKeySet();

    final AtomicInteger releases = new AtomicInteger();
    private final AtomicInteger claims = new AtomicInteger();
    final LockClient client;
    final Engine engine;
    /** The last one that was set; the client's periodic tick is none. */
    volatile @Nullable Runnable timer;

    static {
        ((Logger) LoggerFactory.getLogger("io.github.reactivelock")).setLevel(Level.OFF); // millions of losses
    }

    RaceStage() {
        LockClientBuilder builder = LockClient.builder(this)
                .timing(this, () -> 0)
                .workScheduler(Schedulers.immediate())
                .options(LockOptions.defaults().withLease(LEASE));
        builder.idPrefix = "race-";
        client = builder.build();
        engine = client.engine;
    }

    /** A hold, as its flow has it. */
    Handle hold() {
        Handle[] held = new Handle[1];
        Disposable unused = client.acquire("k").subscribe(handle -> held[0] = (Handle) handle);
        return held[0];
    }

    static void lose(Hold hold) {
        HoldInside.lose(hold, LossReason.HELD_TOO_LONG);
    }

    /** Which grant a token is of, from 1. */
    static int grant(LockHandle handle) {
        return (int) (handle.fencingToken() >> PASS_BITS);
    }

    // ---- the store

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        held.add(claim.id());
        return Mono.just(GRANTS[claims.getAndIncrement()]);
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return Mono.never();
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return Mono.fromSupplier(() -> held.remove(claim.id()) && releases.incrementAndGet() > 0);
    }

    @Override
    public Flux<Signal> signals() {
        return Flux.never();
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return Mono.never();
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return Flux.never();
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return Mono.never();
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    // ---- the timer

    @Override
    public Disposable schedule(Runnable task) {
        throw new IllegalStateException("a timer without a time");
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        timer = task;
        return Disposables.single();
    }

    @Override
    public Worker createWorker() {
        return new Worker() {
            @Override
            public Disposable schedule(Runnable task) {
                return RaceStage.this.schedule(task);
            }

            @Override
            public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
                return Disposables.single();
            }

            @Override
            public void dispose() {}
        };
    }
}
