package io.github.reactivelock.blocking;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A view of a {@link LockClient} for code that blocks: it waits on the calling thread, and runs the work there. Safe
 * for use from any thread; it shares everything with its client, and has nothing of its own to close. A virtual thread
 * that waits never pins its carrier.
 *
 * <p>Bad arguments throw {@link IllegalArgumentException} at once. All else that can go wrong with a lock is one of the
 * four {@link io.github.reactivelock.LockException}s, but for what cannot be had below a hold, as in the reactive view.
 * A call on a thread that must not block, which is one that Reactor marks so or an event loop of Netty or Vert.x,
 * throws {@link IllegalStateException} and asks for nothing. How a {@code withLock} ends:
 *
 * <table>
 * <caption>What the caller gets</caption>
 * <tr><th>the work</th><th>the release</th><th>the caller gets</th></tr>
 * <tr><td>returns</td><td>confirmed</td><td>the result, after the release</td></tr>
 * <tr><td>returns</td><td>fails</td><td>the result; log and listener get the failure, the lease runs out</td></tr>
 * <tr><td>throws</td><td>confirmed or not</td><td>what it threw, after the release was tried</td></tr>
 * <tr><td>is under way when the lock is lost</td><td>none</td><td>an interrupt during the work, and
 * {@link LockLostException} when it has ended; what it threw is suppressed in that</td></tr>
 * <tr><td>never began, because the caller was interrupted</td><td>none</td><td>{@link InterruptedException}; the claim
 * is withdrawn in the background</td></tr>
 * <tr><td>never began, because the lock was taken</td><td>none</td><td>of {@code tryWithLock}: what it calls
 * instead</td></tr>
 * <tr><td>never began</td><td>none</td><td>one of the other three lock errors, or {@link LockLostException} if it was
 * lost before the work could begin</td></tr>
 * </table>
 *
 * <p>The thread is interrupted once for each call that it is in, before the lease can have run out at the store, and
 * only while the work runs; an interrupt that is left over is taken back when it has ended, even if it is one of others
 * that came after it. Work that does not heed interrupts runs on without its lock: then only the fencing token
 * protects. After {@code maxHold}, and when the client is closed, others may have the lock right after the interrupt.
 *
 * <p>Only {@link #asLock} is reentrant by thread. Elsewhere the hold is passed along by {@link #within}; without that,
 * work that asks for its own key waits for itself, until the wait timeout if there is one.
 */
public final class BlockingLockClient {

    /** What threads hold through {@link #asLock}, over all views. */
    final ThreadHolds threads;

    private final LockClient client;
    private final Context above;
    private final boolean interrupts;

    private BlockingLockClient(LockClient client, Context above, boolean interrupts, ThreadHolds threads) {
        this.client = client;
        this.above = above;
        this.interrupts = interrupts;
        this.threads = threads;
    }

    /**
     * The locks of a client for code that blocks. Make one and share it: {@link #asLock} knows the threads of its own
     * view only, and of those made from it.
     *
     * @param client whose locks they are
     * @return a view of it
     */
    public static BlockingLockClient of(LockClient client) {
        return new BlockingLockClient(
                Objects.requireNonNull(client, "client"), Context.empty(), true, new ThreadHolds());
    }

    private BlockingLockClient of(LockClient changed, Context inside) {
        return new BlockingLockClient(changed, inside, interrupts, threads);
    }

    /**
     * These locks with other options, as {@link LockClient#with}.
     *
     * @param options for all that is acquired through the result
     * @return a view of the same client
     */
    public BlockingLockClient with(LockOptions options) {
        return of(client.with(options), above);
    }

    /**
     * These locks as read locks, see {@link LockClient#shared}.
     *
     * @return a view of the same client
     * @throws UnsupportedOperationException if the store keeps exclusive locks only
     */
    public BlockingLockClient shared() {
        return of(client.shared(), above);
    }

    /**
     * These locks as semaphores, see {@link LockClient#permits}.
     *
     * @param permits how many one acquisition takes, at least one
     * @param capacity how many may be in use at once over all clients, at least as many
     * @return a view of the same client
     * @throws UnsupportedOperationException if the store cannot count permits
     */
    public BlockingLockClient permits(int permits, int capacity) {
        return of(client.permits(permits, capacity), above);
    }

    /**
     * These locks inside of holds: what is acquired through the result joins a hold of the same key that the Context
     * carries, and is of the flow that it names ({@link io.github.reactivelock.LockContext#owner}).
     *
     * @param context of {@link HeldLock#context()}, or of reactive code that calls code which blocks
     * @return a view of the same client
     */
    public BlockingLockClient within(ContextView context) {
        return of(client, Context.of(context));
    }

    /**
     * These locks without interrupts, for work that an interrupt would harm. A loss shows in {@link HeldLock#isHeld()}
     * and in {@link LockHandle#lost()}, and at the end.
     *
     * @return a view of the same client
     */
    public BlockingLockClient withoutInterrupts() {
        return new BlockingLockClient(client, above, false, threads);
    }

    /** {@return the options used for everything acquired through this view} */
    public LockOptions options() {
        return client.options();
    }

    /**
     * Waits for a lock, runs work that sees its hold, and releases.
     *
     * @param key the lock's key
     * @param work what to do
     * @param <T> the type of its result
     * @param <E> what it throws
     * @return what it returned
     * @throws E what the work threw
     * @throws InterruptedException if the caller is interrupted before the work begins
     */
    public <T extends @Nullable Object, E extends Exception> T withLock(String key, LockedCall<T, E> work)
            throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        return call(granted(asking(key).await()), work);
    }

    /**
     * Waits for a lock, runs work without a result, and releases.
     *
     * @param key the lock's key
     * @param work what to do
     * @param <E> what it throws
     * @throws E what the work threw
     * @throws InterruptedException if the caller is interrupted before the work begins
     */
    public <E extends Exception> void withLock(String key, LockedRun<E> work) throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        run(granted(asking(key).await()), work);
    }

    /**
     * Waits for several locks, all or nothing, runs work, and releases. They are taken one by one in the order of their
     * keys, not in the order given, so that two callers cannot wait for each other. The wait timeout covers all of them
     * together.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what to do
     * @param <T> the type of its result
     * @param <E> what it throws
     * @return what it returned
     * @throws E what the work threw
     * @throws InterruptedException if the caller is interrupted before the work begins
     */
    public <T extends @Nullable Object, E extends Exception> T withLock(Collection<String> keys, LockedCall<T, E> work)
            throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        return call(
                granted(section(inside -> client.withLock(keys, inside), keys).await()), work);
    }

    /**
     * Runs work under a lock if that is free, and something else if it is taken: held, or waited for by a claim that
     * came first. Waits for no other holder, only for the store's answer.
     *
     * @param key the lock's key
     * @param work what to do under the lock
     * @param ifTaken what to do without it
     * @param <T> the type of the result
     * @param <E> what the work throws
     * @return what one of the two returned
     * @throws E what the work threw
     * @throws InterruptedException if the caller is interrupted before the work begins
     */
    public <T extends @Nullable Object, E extends Exception> T tryWithLock(
            String key, LockedCall<T, E> work, Supplier<? extends T> ifTaken) throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        Objects.requireNonNull(ifTaken, "ifTaken");
        HeldLock held = askingIfFree(key).await();
        return held == null ? ifTaken.get() : call(held, work);
    }

    /**
     * Runs work without a result under a lock if that is free, as {@link #tryWithLock(String, LockedCall, Supplier)}.
     *
     * @param key the lock's key
     * @param work what to do under the lock
     * @param <E> what the work throws
     * @return whether it was done; false if the lock was taken
     * @throws E what the work threw
     * @throws InterruptedException if the caller is interrupted before the work begins
     */
    public <E extends Exception> boolean tryWithLock(String key, LockedRun<E> work) throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        HeldLock held = askingIfFree(key).await();
        if (held == null) {
            return false;
        }
        run(held, work);
        return true;
    }

    /**
     * Waits for a lock, and leaves it to the caller to close it, best in a {@code try} with resources. A loss
     * interrupts the thread that called this, until the hold is closed, on any thread. If another thread goes on with
     * the hold, use {@link #withoutInterrupts()}.
     *
     * @param key the lock's key
     * @return the hold
     * @throws InterruptedException if the caller is interrupted while it waits
     */
    public HeldLock acquire(String key) throws InterruptedException {
        return granted(asking(key).await());
    }

    /**
     * Gets a lock if it is free, without waiting for others. Otherwise as {@link #acquire}.
     *
     * @param key the lock's key
     * @return the hold; empty if the lock is held or another claim is first
     * @throws InterruptedException if the caller is interrupted while it waits for the store's answer
     */
    public Optional<HeldLock> tryAcquire(String key) throws InterruptedException {
        return Optional.ofNullable(askingIfFree(key).await());
    }

    /**
     * A key as a {@link Lock}, for code that wants one. It keeps that interface's contract, and more:
     *
     * <ul>
     *   <li>It is reentrant by thread, over all {@code Lock}s of one key that come from this view or those made from
     *       it; each {@code lock} needs an {@code unlock}. A task that was given to an executor is on another thread
     *       and waits; two tasks that one thread runs, one inside the other, are both in.
     *   <li>{@code lock} and {@code tryLock()} wait through interrupts, also that of a loss; {@code lockInterruptibly}
     *       and {@code tryLock(time, unit)} end with {@link InterruptedException}. Where the store cannot be asked, all
     *       throw {@link io.github.reactivelock.LockUnavailableException}; {@code lock} and {@code lockInterruptibly}
     *       throw {@link io.github.reactivelock.LockTimeoutException} if the options have a wait timeout, and
     *       {@code tryLock(time, unit)} counts its own time instead, 365 days at most; less than a millisecond is a
     *       try.
     *   <li>{@code unlock} by a thread that does not hold it throws {@link IllegalMonitorStateException}; after a loss,
     *       which interrupts the thread, it throws {@link LockLostException}. It waits for the store as
     *       {@link HeldLock#close()} does.
     *   <li>{@code newCondition} throws {@link UnsupportedOperationException}.
     * </ul>
     *
     * <p>A thread that ends without {@code unlock} keeps the lock, renewed, until the longest hold is over or the
     * client is closed.
     *
     * @param key the lock's key
     * @return asks the store for nothing yet
     */
    public Lock asLock(String key) {
        asking(key); // refuses a bad key now and not when it is locked
        return new ThreadLock(this, key);
    }

    Section asking(String key) {
        return section(work -> client.withLock(key, held -> work.apply(List.of(held))), key);
    }

    Section askingIfFree(String key) {
        return section(work -> client.tryWithLock(key, held -> work.apply(List.of(held)), Mono.empty()), key);
    }

    private Section section(Section.Locks locks, Object named) {
        return new Section(locks, named, above, interrupts);
    }

    static HeldLock granted(@Nullable HeldLock held) {
        return Objects.requireNonNull(held, "a lock that is waited for is never taken");
    }

    private static <T extends @Nullable Object, E extends Exception> T call(HeldLock held, LockedCall<T, E> work)
            throws E {
        T result;
        try {
            result = work.call(held);
        } catch (Throwable thrown) {
            held.finishAfter(thrown);
            throw thrown;
        }
        held.finish();
        return result;
    }

    private static <E extends Exception> void run(HeldLock held, LockedRun<E> work) throws E {
        try {
            work.run();
        } catch (Throwable thrown) {
            held.finishAfter(thrown);
            throw thrown;
        }
        held.finish();
    }
}
