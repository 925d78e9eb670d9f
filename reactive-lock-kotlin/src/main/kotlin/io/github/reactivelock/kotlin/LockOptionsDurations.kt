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
