package io.github.reactivelock;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a {@link LockClient} runs under locks; apart from what else it does, for its length. */
abstract sealed class WithLock permits LockClient {

    final Engine engine;
    final LockOptions options;

    WithLock(Engine engine, LockOptions options) {
        this.engine = engine;
        this.options = options;
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
    public final <T> Mono<T> withLock(String key, Mono<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockMono.of(engine, List.of(Validation.key(key)), options, work, null);
    }

    /**
     * Runs work that emits many values under a lock. They are emitted as they come; completion follows the release.
     *
     * @param key the lock's key
     * @param work what to do
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public final <T> Flux<T> withLock(String key, Flux<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockFlux.of(engine, List.of(Validation.key(key)), options, work, null);
    }

    /**
     * Runs work that wants to see its hold, for the fencing token above all. The handle need not be released.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public final <T> Mono<T> withLock(String key, Function<? super LockHandle, ? extends Mono<T>> work) {
        Objects.requireNonNull(work, "work");
        return WithLockMono.calling(
                engine, List.of(Validation.key(key)), options, held -> made(key, work.apply(held.handle())), null);
    }

    /**
     * Runs work that wants to see its hold and emits many values.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public final <T> Flux<T> withLockMany(String key, Function<? super LockHandle, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        return WithLockFlux.calling(
                engine, List.of(Validation.key(key)), options, held -> made(key, work.apply(held.handle())), null);
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
    public final <T> Mono<T> withLock(Collection<String> keys, Mono<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockMono.of(engine, Validation.sorted(keys), options, work, null);
    }

    /**
     * Runs work that emits many values under several locks, as {@link #withLock(Collection, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do
     * @param <T> the values' type
     * @return the work's outcome, or one of the four lock errors
     */
    public final <T> Flux<T> withLock(Collection<String> keys, Flux<T> work) {
        Objects.requireNonNull(work, "work");
        return WithLockFlux.of(engine, Validation.sorted(keys), options, work, null);
    }

    /**
     * Runs work that wants to see its holds under several locks, as {@link #withLock(Collection, Mono)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param <T> the value's type
     * @return the work's outcome, or one of the four lock errors
     */
    public final <T> Mono<T> withLock(
            Collection<String> keys, Function<? super List<LockHandle>, ? extends Mono<T>> work) {
        Objects.requireNonNull(work, "work");
        List<String> sorted = Validation.sorted(keys);
        return WithLockMono.calling(
                engine, sorted, options, held -> made(sorted, work.apply(held.last(sorted.size()))), null);
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
    public final <T> Flux<T> withLockMany(
            Collection<String> keys, Function<? super List<LockHandle>, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        List<String> sorted = Validation.sorted(keys);
        return WithLockFlux.calling(
                engine, sorted, options, held -> made(sorted, work.apply(held.last(sorted.size()))), null);
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
    public final <T> Mono<T> tryWithLock(String key, Mono<T> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLockMono.of(engine, List.of(Validation.key(key)), options, work, ifTaken);
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
    public final <T> Flux<T> tryWithLock(String key, Flux<T> work, Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLockFlux.of(engine, List.of(Validation.key(key)), options, work, Flux.from(ifTaken));
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
    public final <T> Mono<T> tryWithLock(
            String key, Function<? super LockHandle, ? extends Mono<T>> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> keys = List.of(Validation.key(key));
        return WithLockMono.calling(engine, keys, options, held -> made(key, work.apply(held.handle())), ifTaken);
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
    public final <T> Flux<T> tryWithLockMany(
            String key, Function<? super LockHandle, ? extends Publisher<T>> work, Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> keys = List.of(Validation.key(key));
        return WithLockFlux.calling(
                engine, keys, options, held -> made(key, work.apply(held.handle())), Flux.from(ifTaken));
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
    public final <T> Mono<T> tryWithLock(Collection<String> keys, Mono<T> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLockMono.of(engine, Validation.sorted(keys), options, work, ifTaken);
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
    public final <T> Flux<T> tryWithLock(Collection<String> keys, Flux<T> work, Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        return WithLockFlux.of(engine, Validation.sorted(keys), options, work, Flux.from(ifTaken));
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
    public final <T> Mono<T> tryWithLock(
            Collection<String> keys, Function<? super List<LockHandle>, ? extends Mono<T>> work, Mono<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> sorted = Validation.sorted(keys);
        return WithLockMono.calling(
                engine, sorted, options, held -> made(sorted, work.apply(held.last(sorted.size()))), ifTaken);
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
    public final <T> Flux<T> tryWithLockMany(
            Collection<String> keys,
            Function<? super List<LockHandle>, ? extends Publisher<T>> work,
            Publisher<T> ifTaken) {
        bothThere(work, ifTaken);
        List<String> sorted = Validation.sorted(keys);
        return WithLockFlux.calling(
                engine,
                sorted,
                options,
                held -> made(sorted, work.apply(held.last(sorted.size()))),
                Flux.from(ifTaken));
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
