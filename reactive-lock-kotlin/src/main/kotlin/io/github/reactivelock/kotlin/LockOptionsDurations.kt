package io.github.reactivelock.kotlin

import io.github.reactivelock.LockOptions
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * Sets how long the store keeps a hold without hearing from its client.
 *
 * @param lease between 100 milliseconds and 365 days, or [IllegalArgumentException] is thrown
 * @return a changed copy
 */
public fun LockOptions.withLease(lease: Duration): LockOptions = withLease(lease.toJavaDuration())

/**
 * Limits the wait; it then ends in [io.github.reactivelock.LockTimeoutException].
 *
 * @param waitTimeout more than zero and at most 365 days, or [IllegalArgumentException] is thrown
 * @return a changed copy
 */
public fun LockOptions.withWaitTimeout(waitTimeout: Duration): LockOptions = withWaitTimeout(waitTimeout.toJavaDuration())

/**
 * Ends a hold that lasts longer, as a loss with `HELD_TOO_LONG`.
 *
 * @param maxHold between 100 milliseconds and 365 days, or [IllegalArgumentException] is thrown
 * @return a changed copy
 */
public fun LockOptions.withMaxHold(maxHold: Duration): LockOptions = withMaxHold(maxHold.toJavaDuration())

/**
 * Keeps a lock whose hold ends sooner for the rest of this time.
 *
 * @param minHold between 1 millisecond and 365 days, or [IllegalArgumentException] is thrown; not more than the longest
 *     hold, nor than the lease of a hold that is not renewed
 * @return a changed copy
 */
public fun LockOptions.withMinHold(minHold: Duration): LockOptions = withMinHold(minHold.toJavaDuration())

/**
 * Keeps a lock that was lost taken for this long after its lease.
 *
 * @param lockDelay between 1 millisecond and 365 days, or [IllegalArgumentException] is thrown
 * @return a changed copy
 */
public fun LockOptions.withLockDelay(lockDelay: Duration): LockOptions = withLockDelay(lockDelay.toJavaDuration())

/**
 * Keeps a lock that no flow needs for the next flow of its client, for this long at most.
 *
 * @param retention at least 1 millisecond, or [IllegalArgumentException] is thrown; not more than the lease
 * @return a changed copy
 */
public fun LockOptions.withRetention(retention: Duration): LockOptions = withRetention(retention.toJavaDuration())
