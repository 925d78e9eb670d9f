package io.github.reactivelock;

import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.engine.cohort.Queries;
import io.github.reactivelock.engine.flow.AcquireWaiter;
import io.github.reactivelock.engine.flow.WithLock;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.text.Validation;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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
 * <p>{@code withLock} waits for its lock, {@code tryWithLock} does not. How both end:
 *
 * <table>
 * <caption>What the subscriber sees</caption>
 * <tr><th>the work</th><th>the release</th><th>the subscriber sees</th></tr>
 * <tr><td>succeeds</td><td>confirmed</td><td>the value, after the release</td></tr>
 * <tr><td>ends</td><td>is not awaited ({@link LockOptions#withReleaseInBackground})</td><td>its outcome at
 * once</td></tr>
 * <tr><td>succeeds</td><td>fails</td><td>the value; log and listener get the failure, the lease runs out</td></tr>
 * <tr><td>fails</td><td>confirmed or not</td><td>the work's own error, after the release was tried</td></tr>
 * <tr><td>is cancelled by the subscriber</td><td>confirmed or not</td><td>nothing; the release goes on by
 * itself</td></tr>
 * <tr><td>is under way when the lock is lost</td><td>none</td><td>{@link LockLostException}, the work is
 * cancelled</td></tr>
 * <tr><td>never began, because the lock was taken</td><td>none</td><td>of {@code tryWithLock}: what it runs
 * instead</td></tr>
 * <tr><td>never began</td><td>none</td><td>{@link LockTimeoutException}, {@link LockUnavailableException} or
 * {@link LockClientClosedException}</td></tr>
 * </table>
 */
public final class LockClient {

    final Engine engine;
    private final LockOptions options;
    private final Queries queries;

    LockClient(Engine engine, LockOptions options) {
        this.engine = engine;
        this.options = options;
        this.queries = new Queries(engine);
    }

    /**
     * A client with default settings. Nothing is connected before the first lock is asked for, and with that it draws
     * its identity.
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
     * This client for read locks: flows that take a key through the result hold it together, and none while a flow
     * holds it through a client that does not share, whose {@code withLock} is the write lock of the same key. They are
     * served in one queue, so neither starves. Below a whole hold of the key its flow joins that; the other way round,
     * a flow that asks for the whole below its own share fails at once with {@link IllegalStateException}, for it would
     * wait for itself.
     *
     * @return a view of this client; closing either closes both
     * @throws UnsupportedOperationException if the store keeps exclusive locks only
     */
    public LockClient shared() {
        return sharing(Share.ONE);
    }

    /**
     * This client for semaphores: what it acquires takes some permits of the key. The capacity belongs to each request
     * and is kept nowhere, so a client with another one is served by its own. All in one queue: a request for many
     * permits is not overtaken by those for few, and free permits wait with it. The permits of a process that died come
     * back when its lease is over. Requests for no more permits join those that their flow holds already; for more it
     * fails at once with {@link IllegalStateException}.
     *
     * @param permits how many one acquisition takes, at least one
     * @param capacity how many may be in use at once over all clients, at least as many, less than
     *     {@code Integer.MAX_VALUE}
     * @return a view of this client; closing either closes both
     * @throws UnsupportedOperationException if the store cannot count permits
     */
    public LockClient permits(int permits, int capacity) {
        return sharing(Share.permits(permits, capacity));
    }

    private LockClient sharing(Share share) {
        LockBackend backend = engine.services.backend;
        if (!backend.supports(share)) {
            throw new UnsupportedOperationException(backend.whyUnsupported(share));
        }
        return new LockClient(engine, fitting(options.withShare(share)));
    }

    /**
     * This client with other options; closing either closes both. A lease that the clock margin
     * would use up is refused, and so are times that contradict each other. What {@link #shared} or {@link #permits}
     * said is kept.
     *
     * @param options for all that is acquired through the result
     * @return a view of this client
     */
    public LockClient with(LockOptions options) {
        LockOptions changed = Objects.requireNonNull(options, "options").withShare(this.options.share());
        return new LockClient(engine, fitting(changed));
    }

    private LockOptions fitting(LockOptions changed) {
        return ClaimOptions.supported(engine.services.backend, engine.services.timing.fitting(changed));
    }

    /** {@return the options used for everything acquired through this client} */
    public LockOptions options() {
        return options;
    }

    /**
     * Runs work under a lock: subscribes to it once the lock is held, releases when it completes, fails or is
     * cancelled, and then emits its value. Below, in the work's Context, the same key is reentrant, thousands deep if
     * the operators between have the stack for it.
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
        return WithLock.of(engine, List.of(Validation.key(key)), options, work, null)
                .mono();
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
        return WithLock.of(engine, List.of(Validation.key(key)), options, work, null)
                .flux();
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
        return WithLock.calling(
                        engine,
                        List.of(Validation.key(key)),
                        options,
                        held -> made(key, work.apply(held.handle())),
                        null)
                .mono();
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
        return WithLock.calling(
                        engine,
                        List.of(Validation.key(key)),
                        options,
                        held -> made(key, work.apply(held.handle())),
                        null)
                .flux();
    }

    /**
     * Runs work under several locks, all or nothing. They are taken one by one in the order of their keys, not in the
     * order given, so that two callers cannot wait for each other. The wait timeout covers all of them together.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public <T> Mono<T> withLock(Collection<String> keys, Mono<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLock.of(engine, Validation.sorted(keys), options, work, null).mono();
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
        return WithLock.of(engine, Validation.sorted(keys), options, work, null).flux();
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
        return WithLock.calling(
                        engine, sorted, options, held -> made(sorted, work.apply(held.last(sorted.size()))), null)
                .mono();
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
        return WithLock.calling(
                        engine, sorted, options, held -> made(sorted, work.apply(held.last(sorted.size()))), null)
                .flux();
    }

    /**
     * Runs work under a lock if that is free, and something else if it is taken: held, or waited for by a claim that
     * came first. Waits for no other holder, only for the store's answer. As work may complete empty, the caller
     * chooses what a subscriber sees in the other case: {@code Mono.empty()}, a value that no work has, an error.
     *
     * <p>What is run instead holds nothing, and its cancel, errors and values are passed on as they are. If the flow
     * holds the lock already, the work joins that hold, as with {@code withLock}.
     *
     * @param key the lock's key
     * @param work what to do under the lock
     * @param ifTaken what to do without it; not subscribed to otherwise
     * @param <T> the value's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Mono<T> tryWithLock(String key, Mono<T> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLock.of(engine, List.of(Validation.key(key)), options, work, ifTaken)
                .mono();
    }

    /**
     * Runs work that emits many values under a lock if that is free, as {@link #tryWithLock(String, Mono, Mono)}.
     *
     * @param key the lock's key
     * @param work what to do under the lock
     * @param ifTaken what to do without it; not subscribed to otherwise
     * @param <T> the values' type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Flux<T> tryWithLock(String key, Flux<T> work, Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLock.of(engine, List.of(Validation.key(key)), options, work, Flux.from(ifTaken))
                .flux();
    }

    /**
     * Runs work that wants to see its hold if the lock is free, as {@link #tryWithLock(String, Mono, Mono)}.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param ifTaken what to do without it; not subscribed to otherwise
     * @param <T> the value's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Mono<T> tryWithLock(String key, Function<? super LockHandle, ? extends Mono<T>> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> keys = List.of(Validation.key(key));
        return WithLock.calling(engine, keys, options, held -> made(key, work.apply(held.handle())), ifTaken)
                .mono();
    }

    /**
     * Runs work that wants to see its hold and emits many values if the lock is free, as
     * {@link #tryWithLock(String, Mono, Mono)}.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param ifTaken what to do without it; not subscribed to otherwise
     * @param <T> the values' type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Flux<T> tryWithLockMany(
            String key, Function<? super LockHandle, ? extends Publisher<T>> work, Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> keys = List.of(Validation.key(key));
        return WithLock.calling(engine, keys, options, held -> made(key, work.apply(held.handle())), Flux.from(ifTaken))
                .flux();
    }

    /**
     * Runs work under several locks if all of them are free, as {@link #tryWithLock(String, Mono, Mono)}: all or
     * nothing. If one is taken, those that were had before it are released before anything else is run.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do under the locks
     * @param ifTaken what to do if one is taken; not subscribed to otherwise
     * @param <T> the value's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Mono<T> tryWithLock(Collection<String> keys, Mono<T> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLock.of(engine, Validation.sorted(keys), options, work, ifTaken)
                .mono();
    }

    /**
     * Runs work that emits many values under several locks if all of them are free, as
     * {@link #tryWithLock(Collection, Mono, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do under the locks
     * @param ifTaken what to do if one is taken; not subscribed to otherwise
     * @param <T> the values' type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Flux<T> tryWithLock(Collection<String> keys, Flux<T> work, Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLock.of(engine, Validation.sorted(keys), options, work, Flux.from(ifTaken))
                .flux();
    }

    /**
     * Runs work that wants to see its holds under several locks if all of them are free, as
     * {@link #tryWithLock(Collection, Mono, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param ifTaken what to do if one is taken; not subscribed to otherwise
     * @param <T> the value's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Mono<T> tryWithLock(
            Collection<String> keys, Function<? super List<LockHandle>, ? extends Mono<T>> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> sorted = Validation.sorted(keys);
        return WithLock.calling(
                        engine, sorted, options, held -> made(sorted, work.apply(held.last(sorted.size()))), ifTaken)
                .mono();
    }

    /**
     * Runs work that wants to see its holds and emits many values under several locks if all of them are free, as
     * {@link #tryWithLock(Collection, Mono, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param ifTaken what to do if one is taken; not subscribed to otherwise
     * @param <T> the values' type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    public <T> Flux<T> tryWithLockMany(
            Collection<String> keys,
            Function<? super List<LockHandle>, ? extends Publisher<T>> work,
            Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> sorted = Validation.sorted(keys);
        return WithLock.calling(
                        engine,
                        sorted,
                        options,
                        held -> made(sorted, work.apply(held.last(sorted.size()))),
                        Flux.from(ifTaken))
                .flux();
    }

    /**
     * Gets a lock and leaves it to the caller to release it. Prefer {@code withLock}, which cannot forget. Cancelling
     * before the handle is emitted withdraws the claim, and gives back a grant that crosses it; afterwards cancelling
     * has no effect, and {@link LockHandle} says how a handle can get lost.
     *
     * @param key the lock's key
     * @return emits the handle once the lock is held, or one of the four lock errors; {@link LockLostException} where
     *     the hold is over before the handle could be emitted, because this process got no turn for long
     */
    public Mono<LockHandle> acquire(String key) {
        return AcquireWaiter.mono(engine, Validation.key(key), options, Claim.Mode.QUEUE);
    }

    /**
     * Gets a lock if it is free, without waiting for others. Cancelling is as with {@link #acquire}.
     *
     * @param key the lock's key
     * @return emits the handle; completes empty if the lock is held or another claim is first; fails as
     *     {@link #acquire} does
     */
    public Mono<LockHandle> tryAcquire(String key) {
        return AcquireWaiter.mono(engine, Validation.key(key), options, Claim.Mode.TRY);
    }

    /**
     * Waits until the store can be asked: connects, and asks a question that changes nothing. For a start-up, and
     * health. Stores are asked by a write, which fails where no lock would be granted: a replica, a database that is
     * read only, a store without a majority.
     *
     * @return completes when the store has answered; fails with {@link LockUnavailableException}, after at most 10
     *     seconds and the command timeout
     */
    public Mono<Void> ready() {
        return queries.ready();
    }

    /**
     * Why waiting flows look for their grants by time though the store has pushes, so that a lock that is given on is
     * noticed late. For health, beside {@link #ready()}; it asks the store nothing and never blocks.
     *
     * @return a sentence for people, which holds no secret; empty where pushes arrive, where none is needed yet, and
     *     where they are turned off
     */
    public Optional<String> whyNotPushed() {
        return engine.services.backend.whyNotPushed();
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
     * Whether a hold is the one in force, for a resource that can ask and cannot compare tokens: refuse what comes with
     * a token for which the answer is false. The store's answer may be old when it arrives, as a comparison in the
     * resource is not. Flows that pass the lock on in one process share a grant and look alike. True also while the
     * lock stays taken after the hold, by a minimum or a lock delay: no other holder exists then.
     *
     * @param key the lock's key
     * @param fencingToken of the hold, as {@link LockHandle#fencingToken()} shows it
     * @return false once the grant is over; fails with {@link LockUnavailableException}, also where the store cannot
     *     tell: a quorum of which too few nodes answer, or a share among more than {@link LockInfo.Held#MOST_SHOWN}
     */
    public Mono<Boolean> isCurrent(String key, long fencingToken) {
        return queries.isCurrent(Validation.key(key), fencingToken);
    }

    /**
     * Lists the held locks, in parts, with bounded memory. One that comes or goes may be missing, and one may come
     * twice.
     *
     * @param prefix what the keys begin with; empty for all
     * @return held locks in any order; fails with {@link LockUnavailableException}, also if the store cannot list
     */
    public Flux<LockInfo.Held> list(String prefix) {
        return queries.list(Objects.requireNonNull(prefix, "prefix"));
    }

    /**
     * Watches a lock, by the store's push. Begins with a snapshot, and has another after every interruption.
     *
     * @param key the lock's key
     * @return events until cancelled; fails with {@link LockUnavailableException}, and with
     *     {@link LockClientClosedException} when this client is closed
     */
    public Flux<LockEvent> events(String key) {
        return queries.events(Validation.key(key));
    }

    /**
     * Waits, without acquiring, until the store's grant that is in force at subscription has ended, for any reason.
     *
     * @param key the lock's key
     * @return completes then, at once if the lock is free; fails with {@link LockUnavailableException}, and with {@link
     *     LockClientClosedException} when this client is closed
     */
    public Mono<Void> awaitRelease(String key) {
        return queries.awaitRelease(Validation.key(key));
    }

    /**
     * Takes a lock away from its holder: looks who that is, and ends exactly that grant. For operators: the
     * holder's work is cancelled as soon as it learns of it, until then two may believe they hold the lock. Where a
     * lock is shared, its newest {@link LockInfo.Held#MOST_SHOWN} holders lose it.
     *
     * @param key the lock's key
     * @return whether the grant seen was in force until now; fails with {@link LockUnavailableException}
     */
    public Mono<Boolean> forceRelease(String key) {
        return queries.forceRelease(Validation.key(key));
    }

    /**
     * As {@link #forceRelease(String)}, of one grant only: a later holder keeps the lock.
     *
     * @param key the lock's key
     * @param fencingToken as {@link #inspect} or {@link LockHandle#fencingToken()} shows it; flows that pass the lock
     *     on share one
     * @return whether it was in force until now; fails with {@link LockUnavailableException}
     */
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return queries.forceRelease(Validation.key(key), fencingToken);
    }

    /**
     * Ends this client within 5 seconds: releases what it holds (work under it is cancelled), but for a minimum hold,
     * fails what waits with {@link LockClientClosedException}, closes the backend. Cold, idempotent; cancelling does
     * not stop it.
     *
     * @return completes when nothing of the client is left
     */
    public Mono<Void> close() {
        return engine.close();
    }

    private static void bothThere(Object work, Object ifTaken) {
        Objects.requireNonNull(work, "work");
        Objects.requireNonNull(ifTaken, "ifTaken");
    }

    /** What a function of the user returned. */
    private static <P> P made(Object locked, @Nullable P work) {
        if (work == null) {
            throw new NullPointerException("lock '" + locked
                    + "': the function that makes the work under it returned null; return Mono.empty() or Flux.empty() if there"
                    + " is nothing to do");
        }
        return work;
    }
}
