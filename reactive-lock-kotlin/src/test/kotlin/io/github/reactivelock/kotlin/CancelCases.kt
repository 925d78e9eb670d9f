package io.github.reactivelock.kotlin

import io.github.reactivelock.LockOptions
import io.github.reactivelock.LockTimeoutException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

/** What ends a wait for a lock, or a block under it, before it is done. */
abstract class CancelCases : Fixture() {
    @Test
    fun aCoroutineThatIsCancelledWhileItWaitsIsWithdrawn() =
        test {
            val holder = holder("a")
            val waiter = launch { lock.withLock("a") { error("it was withdrawn") } }
            delay(50.milliseconds)

            waiter.cancelAndJoin()
            holder.release()

            assertThat(waiter.isCancelled).isTrue()
            eventuallyFree("a")
        }

    @Test
    fun aTimeoutAroundTheWaitWithdraws() =
        test {
            val holder = holder("a")

            val seen = withTimeoutOrNull(50.milliseconds) { lock.withLock("a") { "never" } }

            assertThat(seen).isNull()
            holder.release()
            eventuallyFree("a")
        }

    @Test
    fun aTimeoutAroundABlockCancelsAndOneInsideIsItsError() =
        test {
            val around = runCatching { withTimeout(50.milliseconds) { lock.withLock("a") { awaitCancellation() } } }
            eventuallyFree("a")
            val inside = runCatching { lock.withLock("a") { withTimeout(50.milliseconds) { awaitCancellation() } } }

            assertThat(around.exceptionOrNull()).isInstanceOf(TimeoutCancellationException::class.java)
            assertThat(inside.exceptionOrNull()).isInstanceOf(TimeoutCancellationException::class.java)
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun theWaitTimeoutOfTheOptionsIsALockErrorAndNoCancellation() =
        test {
            val holder = holder("a")

            val seen = lock.with(LockOptions.defaults().withWaitTimeout(3.seconds)).ends("a")

            assertThat(
                seen,
            ).isInstanceOf(LockTimeoutException::class.java).isNotInstanceOf(CancellationException::class.java)
            holder.release()
        }

    @Test
    fun aCancelAtAnyMomentLeavesNoLockBehind() =
        test {
            val patient = lock.with(LockOptions.defaults().withWaitTimeout(1.minutes))
            repeat(300) { round ->
                val work = launch { lock.withLock("a") { yield() } }
                val cancel =
                    launch {
                        repeat(round % 40) { yield() }
                        work.cancel()
                    }
                work.join()
                cancel.join()
                assertThat(patient.withLock("a") { it.isHeld }).isTrue()
            }
            eventuallyFree("a")
        }

    /** The error with which a lock could not be had. */
    protected suspend fun CoroutineLockClient.ends(key: String) = runCatching { withLock(key) { } }.exceptionOrNull()
}
