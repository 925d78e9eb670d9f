package io.github.reactivelock.kotlin

import io.github.reactivelock.LockClient
import io.github.reactivelock.LockHandle
import io.github.reactivelock.LockOptions
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.flow.Flow
import reactor.core.publisher.Mono

/**
 * The locks of this client for coroutines. The result shares everything with this client, so close only one of them. A
 * name of its own is needed: for `lock.withLock(key) { … }` Kotlin always takes the member function, whose function
 * returns a `Mono`, and never an extension.
 */
public fun LockClient.coroutines(): CoroutineLockClient = CoroutineLockClient(this)

/**
 * A view of a [LockClient] for coroutines. Safe for use from any coroutine and thread; it has nothing to close.
 *
 * Bad arguments throw [IllegalArgumentException] at once; all else that can go wrong with a lock is one of the four
 * [io.github.reactivelock.LockException]s, and never a `CancellationException`. The work runs in the caller's
 * dispatcher.
 *
 * How a `withLock` ends:
 *
 * | the block                             | the release       | the caller gets                                   |
 * |---------------------------------------|-------------------|---------------------------------------------------|
 * | returns                               | confirmed         | the value, after the release                      |
 * | returns                               | fails             | the value; log and listener get the failure       |
 * | throws                                | confirmed or not  | what it threw, after the release was tried        |
 * | is cancelled together with the caller | goes on by itself | the cancellation, when the block has completed    |
 * | runs when the lock is lost            | none              | `LockLostException`, when the block has completed |
 * | never began                           | none              | one of the other three lock errors                |
 *
 * A block has completed when its clean-up is done, under `NonCancellable` too, and all coroutines that it launched in
 * its scope are done. Until then the lock is held, renewed and not released.
 *
 * A block that is below another one of the same key joins that hold: the holds travel in the `ReactorContext` of the
 * coroutine, into `withContext`, into coroutines that are launched there and into `mono { }`. Two coroutines launched
 * below one hold do not exclude one another. They do not travel into `runBlocking { }`: the same key inside it waits
 * for the hold around it, and so for itself, until the wait timeout if there is one.
 */
public class CoroutineLockClient internal constructor(
    private val client: LockClient,
) {
    /**
     * These locks with other options. Options whose lease the clock margin would use up throw
     * [IllegalArgumentException].
     *
     * @param options for all that is locked through the result
     * @return a view of the same client
     */
    public fun with(options: LockOptions): CoroutineLockClient = CoroutineLockClient(client.with(options))

    /**
     * These locks as read locks, see [LockClient.shared]. A store that keeps exclusive locks only throws
     * [UnsupportedOperationException].
     *
     * @return a view of the same client
     */
    public fun shared(): CoroutineLockClient = CoroutineLockClient(client.shared())

    /**
     * These locks as semaphores, see [LockClient.permits]. A store that cannot count permits throws
     * [UnsupportedOperationException].
     *
     * @param permits how many one block takes, at least one
     * @param capacity how many may be in use at once over all clients, at least as many
     * @return a view of the same client
     */
    public fun permits(
        permits: Int,
        capacity: Int,
    ): CoroutineLockClient = CoroutineLockClient(client.permits(permits, capacity))

    /**
     * Runs a block under a lock: waits until the lock is held, runs the block as a scope of its own, and releases when
     * the block has completed.
     *
     * A cancel while waiting withdraws the claim. A cancel during the block cancels the block. A loss of the lock
     * cancels the block with a `CancellationException` whose cause is the [io.github.reactivelock.LockLostException];
     * when the block has completed, that is thrown to the caller, and what the block threw meanwhile is among its
     * suppressed exceptions.
     *
     * @param key the lock's key
     * @param block what to do; gets the hold, for the fencing token above all
     * @return what the block returned, null allowed
     */
    public suspend fun <T> withLock(
        key: String,
        block: suspend CoroutineScope.(LockHandle) -> T,
    ): T = underLock(one(key), block = block)

    /**
     * Runs a block under several locks, all or nothing, and otherwise as with one. They are taken one by one in the
     * order of their keys, not in the order given, so that two callers cannot wait for each other. The wait timeout
     * covers all of them together.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param block what to do; gets the holds in the order of their keys
     * @return what the block returned, null allowed
     */
    public suspend fun <T> withLock(
        keys: Collection<String>,
        block: suspend CoroutineScope.(List<LockHandle>) -> T,
    ): T = underLock(all(keys), block = block)

    /**
     * A flow under a lock: each collection of it waits for the lock, collects the work, and releases when the work has
     * completed, failed, or been cancelled, and its clean-up is done. Completion follows the release.
     *
     * The collector runs while the lock is held, because a flow emits in its collector's coroutine, and a loss cancels
     * it as well. So it must not ask for the same key: it is not below the hold and would wait for itself. What has to
     * be, belongs into the work.
     *
     * @param key the lock's key
     * @param work what is collected once the lock is held
     * @return the values as they come; fails as `withLock` with a block does
     */
    public fun <T> withLock(
        key: String,
        work: Flow<T>,
    ): Flow<T> = flowUnderLock(one(key), work)

    /**
     * A flow under several locks, which are taken as for a block with several locks.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what is collected once all locks are held
     * @return the values as they come; fails as `withLock` with a block does
     */
    public fun <T> withLock(
        keys: Collection<String>,
        work: Flow<T>,
    ): Flow<T> = flowUnderLock(all(keys), work)

    /**
     * Runs a block under a lock if that is free, and something else if it is taken: held, or waited for by a claim that
     * came first. Waits for no other holder, only for the store's answer. If the coroutine is below a hold of the key,
     * the block joins it.
     *
     * @param key the lock's key
     * @param ifTaken what to do without the lock
     * @param block what to do under it, as with `withLock`
     * @return what one of the two returned, null allowed
     */
    public suspend fun <T> tryWithLock(
        key: String,
        ifTaken: suspend () -> T,
        block: suspend CoroutineScope.(LockHandle) -> T,
    ): T = underLock(oneIfFree(key), ifTaken, block)

    /**
     * Runs a block under several locks if all of them are free: all or nothing. If one is taken, those that were had
     * before it are released before anything else is run.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param ifTaken what to do if one is taken
     * @param block what to do under the locks, as with `withLock`
     * @return what one of the two returned, null allowed
     */
    public suspend fun <T> tryWithLock(
        keys: Collection<String>,
        ifTaken: suspend () -> T,
        block: suspend CoroutineScope.(List<LockHandle>) -> T,
    ): T = underLock(allIfFree(keys), ifTaken, block)

    /**
     * A flow that is one of two: at each collection the work under a lock if that is free, or else the other one
     * without it.
     *
     * @param key the lock's key
     * @param work what is collected under the lock, as with `withLock`
     * @param ifTaken what is collected without it
     * @return the values of one of the two as they come
     */
    public fun <T> tryWithLock(
        key: String,
        work: Flow<T>,
        ifTaken: Flow<T>,
    ): Flow<T> = flowUnderLock(oneIfFree(key), work, ifTaken)

    /**
     * A flow that is one of two: at each collection the work under several locks if all of them are free, or else the
     * other one without any.
     *
     * @param keys the locks' keys; at least one, repetitions count once
     * @param work what is collected under the locks, as with `withLock`
     * @param ifTaken what is collected without them
     * @return the values of one of the two as they come
     */
    public fun <T> tryWithLock(
        keys: Collection<String>,
        work: Flow<T>,
        ifTaken: Flow<T>,
    ): Flow<T> = flowUnderLock(allIfFree(keys), work, ifTaken)

    private fun one(key: String) = Locks<LockHandle> { client.withLock(key, it) }

    private fun all(keys: Collection<String>) = Locks<List<LockHandle>> { client.withLock(keys, it) }

    private fun oneIfFree(key: String) = Locks<LockHandle> { client.tryWithLock(key, it, Mono.empty()) }

    private fun allIfFree(keys: Collection<String>) = Locks<List<LockHandle>> { client.tryWithLock(keys, it, Mono.empty()) }
}
