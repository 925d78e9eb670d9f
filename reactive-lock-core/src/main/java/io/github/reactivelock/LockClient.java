package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The entry point: locks by key in one store. Make one per application and store, share it, close it at the end. Safe
 * for use from any thread; no method blocks. Every publisher is cold: each subscription is an acquisition of its own.
 *
 * <p>Bad arguments fail at once with {@link IllegalArgumentException}. Everything else arrives as one of the four
 * {@link LockException}s. Work and handles are emitted on the client's work scheduler, never on a driver's thread.
 *
 * <p>How a {@code withLock} ends:
 *
 * <table>
 * <caption>What the subscriber sees</caption>
 * <tr><th>the work</th><th>the release</th><th>the subscriber sees</th></tr>
 * <tr><td>succeeds</td><td>confirmed</td><td>the value, after the release</td></tr>
 * <tr><td>ends</td><td>is not awaited ({@link LockOptions#withReleaseInBackground})</td><td>its outcome at once</td></tr>
 * <tr><td>succeeds</td><td>fails</td><td>the value; log and listener get the failure, the lease runs out</td></tr>
 * <tr><td>fails</td><td>whatever</td><td>the work's own error, after the release was tried</td></tr>
 * <tr><td>is cancelled by the subscriber</td><td>whatever</td><td>nothing; the release goes on by itself</td></tr>
 * <tr><td>is under way when the lock is lost</td><td>none</td><td>{@link LockLostException}, the work is cancelled</td></tr>
 * <tr><td>never began</td><td>none</td><td>{@link LockTimeoutException}, {@link LockUnavailableException} or
 * {@link LockClientClosedException}</td></tr>
 * </table>
 */
public final class LockClient {

    final Engine engine;
    private final Queries queries;
    private final LockOptions options;

    LockClient(Engine engine, LockOptions options) {
        this.engine = engine;
        this.queries = new Queries(engine);
        this.options = options;
    }

    /**
     * A client with default settings. Nothing is connected before the first lock is asked for. Make it at start-up: it
     * draws its identity from the system's random source, which may block where threads must not.
     *
     * @param backend the store; closed together with the client
     * @return the client
     */
    public static LockClient create(LockBackend backend) {
        return builder(backend).build();
    }

    /**
     * A client with settings of its own.
     *
     * @param backend the store; closed together with the client
     * @return a builder
     */
    public static LockClientBuilder builder(LockBackend backend) {
        return new LockClientBuilder(backend);
    }

    /**
     * This client with other options. It shares everything with this one, so closing either closes both. Options whose
     * lease the clock margin would use up are refused.
     *
     * @param options for all that is acquired through the result
     * @return a view of this client
     */
    public LockClient with(LockOptions options) {
        return new LockClient(engine, engine.services.timing.fitting(Objects.requireNonNull(options, "options")));
    }

    /** {@return the options used for everything acquired through this client} */
    public LockOptions options() {
        return options;
    }

    /**
     * Runs work under a lock: subscribes to it once the lock is held, releases when it completes, fails or is
     * cancelled, and then emits its value. Below, in the work's Context, the same key is reentrant.
     *
     * <p>A cancel during the work cancels the work; the lock is released when that and the subscribing have both
     * returned. Cancellation is cooperative: blocking code on another thread continues without the lock.
     *
     * @param key the lock's key
     * @param work what to do
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Mono<T> withLock(String key, Mono<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockMono.of(engine, List.of(Validation.key(key)), options, work);
    }

    /**
     * Runs work that emits many values under a lock. They are emitted as they come; completion follows the release.
     *
     * @param key the lock's key
     * @param work what to do
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Flux<T> withLock(String key, Flux<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockFlux.of(engine, List.of(Validation.key(key)), options, work);
    }

    /**
     * Runs work that wants to see its hold, for the fencing token above all. The handle need not be released.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Mono<T> withLock(String key, Function<? super LockHandle, ? extends Mono<T>> work) {
        Objects.requireNonNull(work, "work");
        return WithLockMono.calling(engine, List.of(Validation.key(key)), options, held -> work.apply(held.handle()));
    }

    /**
     * Runs work that wants to see its hold and emits many values.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Flux<T> withLockMany(String key, Function<? super LockHandle, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        return WithLockFlux.calling(engine, List.of(Validation.key(key)), options, held -> work.apply(held.handle()));
    }

    /**
     * Runs work under several locks, all or nothing. They are taken one by one in the order of their keys, whatever
     * order is given, so that two callers cannot wait for each other. The wait timeout covers all of them together.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Mono<T> withLock(Collection<String> keys, Mono<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockMono.of(engine, Validation.sorted(keys), options, work);
    }

    /**
     * Runs work that emits many values under several locks, as {@link #withLock(Collection, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Flux<T> withLock(Collection<String> keys, Flux<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockFlux.of(engine, Validation.sorted(keys), options, work);
    }

    /**
     * Runs work that wants to see its holds under several locks, as {@link #withLock(Collection, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Mono<T> withLock(Collection<String> keys, Function<? super List<LockHandle>, ? extends Mono<T>> work) {
        Objects.requireNonNull(work, "work");
        List<String> sorted = Validation.sorted(keys);
        return WithLockMono.calling(engine, sorted, options, held -> work.apply(held.last(sorted.size())));
    }

    /**
     * Runs work that wants to see its holds and emits many values under several locks, as
     * {@link #withLock(Collection, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Flux<T> withLockMany(
            Collection<String> keys, Function<? super List<LockHandle>, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        List<String> sorted = Validation.sorted(keys);
        return WithLockFlux.calling(engine, sorted, options, held -> work.apply(held.last(sorted.size())));
    }

    /**
     * Gets a lock and leaves it to the caller to release it. Prefer {@code withLock}, which cannot forget. Cancelling
     * before the handle is emitted withdraws the claim, and gives back a grant that crosses it; afterwards cancelling
     * has no effect.
     *
     * <p>The lock is held until you release the handle; {@link LockHandle} says how one can get lost.
     *
     * @param key the lock's key
     * @return emits the handle once the lock is held, or one of the four lock errors
     */
    public Mono<LockHandle> acquire(String key) {
        return AcquireWaiter.mono(engine, Validation.key(key), options, Claim.Mode.QUEUE);
    }

    /**
     * Gets a lock if it is free, without waiting for others. Cancelling is as with {@link #acquire}.
     *
     * @param key the lock's key
     * @return emits the handle; completes empty if the lock is held or another claim is first
     */
    public Mono<LockHandle> tryAcquire(String key) {
        return AcquireWaiter.mono(engine, Validation.key(key), options, Claim.Mode.TRY);
    }

    /**
     * Waits until the store can be asked: connects, which may take 10 seconds, and asks a question that changes nothing.
     * For an application that starts, so that its first lock need not wait, and for health checks. Cold; may be subscribed
     * to at any time.
     *
     * @return completes when the store has answered; fails with {@link LockUnavailableException}, at the latest after those
     *     10 seconds and the command timeout
     */
    public Mono<Void> ready() {
        return queries.ready();
    }

    /**
     * Looks at a lock without changing it.
     *
     * @param key the lock's key
     * @return the lock as the store shows it; fails with {@link LockUnavailableException}
     */
    public Mono<LockInfo> inspect(String key) {
        return queries.inspect(Validation.key(key));
    }

    /**
     * Watches a lock, by the store's push. Begins with a snapshot, and gives another after every interruption.
     *
     * @param key the lock's key
     * @return events until cancelled; fails with {@link LockUnavailableException}
     */
    public Flux<LockEvent> events(String key) {
        return queries.events(Validation.key(key));
    }

    /**
     * Waits, without acquiring, until the store's grant that is in force at subscription has ended, by release or by
     * the end of its lease.
     *
     * @param key the lock's key
     * @return completes then, at once if the lock is free; fails with {@link LockUnavailableException}
     */
    public Mono<Void> awaitRelease(String key) {
        return queries.awaitRelease(Validation.key(key));
    }

    /**
     * Takes a lock away from its holder: looks who that is, and ends exactly that grant. For operators: the
     * holder's work is cancelled as soon as it learns of it, until then two may believe they hold the lock.
     *
     * @param key the lock's key
     * @return whether the lock was held; false as well if the grant seen has ended by itself meanwhile; fails with
     *     {@link LockUnavailableException}
     */
    public Mono<Boolean> forceRelease(String key) {
        return queries.forceRelease(Validation.key(key));
    }

    /**
     * As {@link #forceRelease(String)}, of one grant only: a later holder keeps the lock.
     *
     * @param key the lock's key
     * @param fencingToken as {@link #inspect} or {@link LockHandle#fencingToken()} shows it; all flows among which a
     *     process passed the lock on share one grant
     * @return whether that grant was in force until now; fails with {@link LockUnavailableException}
     */
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return queries.forceRelease(Validation.key(key), fencingToken);
    }

    /**
     * Ends this client: releases what it holds (work under it is cancelled), fails what waits with
     * {@link LockClientClosedException}, and closes the backend. Takes at most 5 seconds. Cold, idempotent; cancelling
     * does not stop it.
     *
     * @return completes when nothing of the client is left
     */
    public Mono<Void> close() {
        return engine.close();
    }
}
