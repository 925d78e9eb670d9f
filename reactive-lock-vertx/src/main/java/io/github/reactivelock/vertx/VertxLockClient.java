package io.github.reactivelock.vertx;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.streams.ReadStream;
import io.vertx.redis.client.RedisOptions;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks by key, with futures, for verticles. Make one per Vert.x and store, share it among verticles, close it at the
 * end; if it is made in a verticle's {@code start}, undeploying the verticle closes it too. No method blocks. Every
 * callback runs on the caller's context, or on one of the {@link Vertx} if the caller has none.
 *
 * <p><b>Reentrancy</b> needs no thread. {@code withLock} runs the work on a duplicate of the caller's context: the same
 * event loop and context data, and in its local data the holds. A call for the same key from there, also later in a
 * chain of futures that began there, joins the hold and completes at once. Two requests that are served by the same
 * event loop have no such duplicate in common and exclude one another. A message over the event bus or a call to
 * another verticle does not carry the hold.
 *
 * <p>A future cannot be cancelled. When a lock is lost, the future of {@code withLock} fails at once and the work's own
 * future is ignored; so the work has to look at {@link VertxLockHandle#isHeld()} before each act, or the resource has
 * to refuse its fencing token. To stop waiting, set {@link LockOptions#withWaitTimeout}.
 *
 * <p>Bad arguments throw {@link IllegalArgumentException} at once. Everything else arrives as one of the four {@link
 * io.github.reactivelock.LockException}s, as with {@link LockClient}.
 */
public interface VertxLockClient {

    /**
     * A client with default settings on a Redis. Nothing is connected before the first lock is asked for.
     *
     * @param vertx where everything runs; not closed
     * @param redis how to connect, as for {@link VertxLockBackend#connect(Vertx, RedisOptions)}
     * @return the client
     */
    static VertxLockClient create(Vertx vertx, RedisOptions redis) {
        VertxVersion.check();
        return create(vertx, VertxLockBackend.connect(vertx, redis));
    }

    /**
     * A client with default settings on any store.
     *
     * @param vertx where callbacks run; not closed
     * @param backend the store; closed together with the client
     * @return the client
     */
    static VertxLockClient create(Vertx vertx, LockBackend backend) {
        VertxVersion.check();
        return ContextLockClient.create(vertx, backend);
    }

    /**
     * Wraps a client that has its own settings or that reactive code uses as well.
     *
     * @param vertx where callbacks run; not closed
     * @param client does the work; closing either closes both
     * @return the client
     */
    static VertxLockClient create(Vertx vertx, LockClient client) {
        VertxVersion.check();
        return ContextLockClient.create(vertx, client);
    }

    /**
     * This client with other options. It shares everything with this one, so closing either closes both.
     *
     * @param options for all that is acquired through the result
     * @return a view of this client
     */
    VertxLockClient with(LockOptions options);

    /**
     * This client for read locks, as {@link LockClient#shared}.
     *
     * @return a view of this client
     * @throws UnsupportedOperationException if the store keeps exclusive locks only
     */
    VertxLockClient shared();

    /**
     * This client for semaphores, as {@link LockClient#permits}.
     *
     * @param permits how many one acquisition takes, at least one
     * @param capacity how many may be in use at once over all clients, at least as many
     * @return a view of this client
     * @throws UnsupportedOperationException if the store cannot count permits
     */
    VertxLockClient permits(int permits, int capacity);

    /**
     * Runs work under a lock and releases it when the work's future has completed or failed.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param <T> the result's type
     * @return the work's outcome, after the release was tried, or one of the four lock errors
     */
    <T> Future<T> withLock(String key, Supplier<Future<T>> work);

    /**
     * Runs work that wants to see its hold, for the fencing token above all. The handle need not be released.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param <T> the result's type
     * @return the work's outcome, after the release was tried, or one of the four lock errors
     */
    <T> Future<T> withLock(String key, Function<VertxLockHandle, Future<T>> work);

    /**
     * Runs work under several locks, all or nothing. They are taken one by one in the order of their keys, not in the
     * given order, so that two callers cannot wait for each other. The wait timeout covers all of them together.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do, called once all locks are held
     * @param <T> the result's type
     * @return the work's outcome, after the releases were tried, or one of the four lock errors
     */
    <T> Future<T> withLock(Collection<String> keys, Supplier<Future<T>> work);

    /**
     * Runs work that wants to see its holds under several locks, as {@link #withLock(Collection, Supplier)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param <T> the result's type
     * @return the work's outcome, after the releases were tried, or one of the four lock errors
     */
    <T> Future<T> withLock(Collection<String> keys, Function<List<VertxLockHandle>, Future<T>> work);

    /**
     * Runs work under a lock if that is free, and something else if it is taken: held, or waited for by a claim that
     * came first. Waits for no other holder, only for the store's answer. As work may complete with null, what the
     * caller sees in the other case is its own to say: null, a value that no work has, a failed future.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param ifTaken what to do without the lock; not called otherwise
     * @param <T> the result's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    <T> Future<T> tryWithLock(String key, Supplier<Future<T>> work, Supplier<Future<T>> ifTaken);

    /**
     * Runs work that wants to see its hold if the lock is free, as {@link #tryWithLock(String, Supplier, Supplier)}.
     *
     * @param key the lock's key
     * @param work what to do, called once the lock is held
     * @param ifTaken what to do without the lock; not called otherwise
     * @param <T> the result's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    <T> Future<T> tryWithLock(String key, Function<VertxLockHandle, Future<T>> work, Supplier<Future<T>> ifTaken);

    /**
     * Runs work under several locks if all of them are free, as {@link #tryWithLock(String, Supplier, Supplier)}: all
     * or nothing. If one is taken, those that were had before it are released before anything else is run.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do, called once all locks are held
     * @param ifTaken what to do if one is taken; not called otherwise
     * @param <T> the result's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    <T> Future<T> tryWithLock(Collection<String> keys, Supplier<Future<T>> work, Supplier<Future<T>> ifTaken);

    /**
     * Runs work that wants to see its holds under several locks if all of them are free, as
     * {@link #tryWithLock(Collection, Supplier, Supplier)}.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do; gets the handles in the order of their keys
     * @param ifTaken what to do if one is taken; not called otherwise
     * @param <T> the result's type
     * @return the outcome of one of the two, or one of the four lock errors
     */
    <T> Future<T> tryWithLock(
            Collection<String> keys, Function<List<VertxLockHandle>, Future<T>> work, Supplier<Future<T>> ifTaken);

    /**
     * Gets a lock and leaves it to the caller to release it. Prefer {@code withLock}, which cannot forget and makes
     * what is below it reentrant.
     *
     * @param key the lock's key
     * @return the handle once the lock is held, or one of the four lock errors
     */
    Future<VertxLockHandle> acquire(String key);

    /**
     * Gets a lock if it is free, without waiting for others.
     *
     * @param key the lock's key
     * @return the handle, or null if the lock is held or another claim is first
     */
    Future<@Nullable VertxLockHandle> tryAcquire(String key);

    /**
     * Waits until the store can be asked: connects, which may take 10 seconds, and asks a question that changes
     * nothing.
     *
     * @return completes when the store has answered; fails with {@link io.github.reactivelock.LockUnavailableException}
     */
    Future<Void> ready();

    /**
     * Why waiting calls look for their grants by time though the store has pushes, as
     * {@link LockClient#whyNotPushed()}. It asks the store nothing.
     *
     * @return a sentence for people; empty where pushes arrive, where none is needed yet, and where they are turned off
     */
    Optional<String> whyNotPushed();

    /**
     * Looks at a lock without changing it.
     *
     * @param key the lock's key
     * @return the lock as the store shows it; fails with {@link io.github.reactivelock.LockUnavailableException}
     */
    Future<LockInfo> inspect(String key);

    /**
     * Watches a lock, by the store's push. Begins with a snapshot, and gives another after every interruption. The
     * watch begins when a handler is set and ends when it is set to null.
     *
     * @param key the lock's key
     * @return events on the context of this method's caller, without end; its exception handler hears
     *     {@link io.github.reactivelock.LockUnavailableException}
     */
    ReadStream<LockEvent> events(String key);

    /**
     * A candidate in an election, as {@link io.github.reactivelock.election.LeaderElection} describes it. Call it once
     * for a key.
     *
     * @param key the election's key, which is a lock's key and used for nothing else
     * @return the candidate, which does not campaign yet; its futures end when this client is closed
     */
    VertxLeaderElection election(String key);

    /**
     * Whether a hold is the one in force, for a resource that can ask and cannot compare tokens, as
     * {@link io.github.reactivelock.LockClient#isCurrent}.
     *
     * @param key the lock's key
     * @param fencingToken of the hold
     * @return false once the grant is over; fails with {@link io.github.reactivelock.LockUnavailableException}
     */
    Future<Boolean> isCurrent(String key, long fencingToken);

    /**
     * Takes a lock away from its holder. For operators: until the holder learns of it, two may believe they hold
     * the lock.
     *
     * @param key the lock's key
     * @return whether the lock was held; fails with {@link io.github.reactivelock.LockUnavailableException}
     */
    Future<Boolean> forceRelease(String key);

    /**
     * As {@link #forceRelease(String)}, of one grant only: a later holder keeps the lock.
     *
     * @param key the lock's key
     * @param fencingToken as {@link #inspect} or the handle shows it; all flows among which a process passed the lock
     *     on share one grant
     * @return whether that grant was in force until now; fails with
     *     {@link io.github.reactivelock.LockUnavailableException}
     */
    Future<Boolean> forceRelease(String key, long fencingToken);

    /**
     * Ends this client: releases what it holds, fails what waits with
     * {@link io.github.reactivelock.LockClientClosedException}, and closes the backend. Takes at most 5 seconds.
     * Idempotent.
     *
     * @return completes when nothing of the client is left
     */
    Future<Void> close();
}
