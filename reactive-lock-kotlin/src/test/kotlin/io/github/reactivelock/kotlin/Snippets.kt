package io.github.reactivelock.kotlin

import io.github.reactivelock.HoldState
import io.github.reactivelock.LockClient
import io.github.reactivelock.LockLostException
import io.github.reactivelock.LockOptions
import io.github.reactivelock.LockTimeoutException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.conflate
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactive.asFlow
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.withContext
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

internal class Order(
    val id: String,
)

/** The snippets of docs/kotlin.md, and what they use without saying where it comes from. Compiled only. */
internal abstract class Snippets(
    private val client: LockClient,
    private val order: Order,
) {
    abstract suspend fun charge(
        order: Order,
        fencingToken: Long,
    ): String

    abstract suspend fun ship(order: Order)

    abstract suspend fun notify(order: Order)

    abstract suspend fun hangUp()

    abstract fun lines(order: Order): Flow<String>

    abstract suspend fun print(line: String)

    suspend fun first() {
        val lock: CoroutineLockClient = client.coroutines()

        val receipt =
            lock.withLock("order:42") { held ->
                charge(order, held.fencingToken())
            }
        println(receipt)
    }

    private val lock = client.coroutines()

    suspend fun scope() {
        lock.withLock("order:42") {
            launch { notify(order) } // the lock is held until this has completed, too
            try {
                ship(order)
            } finally {
                withContext(NonCancellable) { hangUp() } // and this
            }
        }
    }

    suspend fun errors() {
        try {
            lock.withLock("order:42") { ship(order) }
        } catch (e: LockTimeoutException) {
            // others had it for all of the wait timeout: nothing was done
        } catch (e: LockLostException) {
            // check what was written by e.fencingToken(), then lock again
        }
    }

    suspend fun atRisk() {
        lock.withLock("order:42") { held ->
            val watching =
                launch {
                    held.states().asFlow().conflate().collect { state ->
                        if (state is HoldState.AtRisk) print("${state.remaining} left: ${state.cause}")
                    }
                }
            ship(order)
            watching.cancel()
        }
    }

    suspend fun several() {
        lock.withLock(listOf("account:7", "account:9")) { (from, to) ->
            println("${from.key()} and ${to.key()}")
        }
    }

    suspend fun ifFree() {
        val receipt =
            lock.tryWithLock("order:42", ifTaken = { null }) { held ->
                charge(order, held.fencingToken())
            }
        println(receipt)
    }

    suspend fun flows() {
        val lines: Flow<String> = lock.withLock("order:42", lines(order))

        lines.collect { print(it) } // under the lock
    }

    fun options() {
        val patient = lock.with(LockOptions.defaults().withWaitTimeout(2.seconds).withMaxHold(5.minutes))
        val jobs = lock.with(LockOptions.defaults().withMinHold(20.seconds))
        val careful = lock.with(LockOptions.defaults().withLockDelay(15.seconds))
        val keeping = lock.with(LockOptions.defaults().withRetention(5.seconds))
        println(listOf(patient, jobs, careful, keeping))
    }

    suspend fun look() {
        val now = client.inspect("order:42").awaitSingle()
        println(now)
    }
}
