package io.github.reactivelock.spring

import io.github.reactivelock.LockClient
import io.github.reactivelock.LockHandle
import io.github.reactivelock.LockLostException
import io.github.reactivelock.LockTimeoutException
import io.github.reactivelock.kotlin.coroutines
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.reactor.awaitSingleOrNull
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Test
import java.util.concurrent.Executors
import kotlin.time.Duration.Companion.minutes

/** Suspend functions under locks. */
class SuspendTest {
    private val context = Contexts.of(Shop::class.java)
    private val client = context.getBean(LockClient::class.java)
    private val shop = context.getBean(Shop::class.java)

    @AfterEach
    fun close() {
        client.close().block()
        context.close()
    }

    internal open class Shop(
        private val client: LockClient,
    ) {
        private val lock = client.coroutines()
        private val steps = Steps()

        open fun steps() = steps

        @WithLock(name = "order", key = "#id")
        open suspend fun isLocked(id: Long): Boolean {
            withContext(Dispatchers.Default) { }
            return client.inspect("order:$id").awaitSingle().isHeld
        }

        @WithLock(name = "order", key = "#id")
        open suspend fun find(id: Long): String? = if (id == 0L) null else "order $id"

        @WithLock(name = "order", key = "#id")
        open suspend fun fails(id: Long): String = error("no order $id")

        @WithLock(name = "order", key = "#p0")
        open suspend fun holds(id: Long) {
            steps.began.complete(Unit)
            try {
                steps.end.await()
            } finally {
                withContext(NonCancellable) {
                    steps.cleaning.complete(Unit)
                    steps.cleaned.await()
                }
            }
        }

        @WithLock(name = "order", key = "#id")
        open suspend fun launches(id: Long) =
            coroutineScope {
                launch { steps.end.await() }
                steps.began.complete(Unit)
                Unit
            }

        @WithLock(name = "order", key = "#id", waitTimeout = "1s")
        open suspend fun impatient(id: Long) = "ran"

        @WithLock(name = "order", key = "#id", ifFree = true)
        open suspend fun ifFree(id: Long): String? = "ran"

        @WithLock(name = "order", key = "#id", ifFree = true)
        open suspend fun visit(id: Long) {
            steps.began.complete(Unit)
        }

        @WithLock(name = "order", key = "#id")
        open suspend fun token(
            id: Long,
            held: LockHandle? = null,
        ): Long = held!!.fencingToken()

        @WithLock(name = "order", key = "#id")
        open suspend fun below(
            id: Long,
            held: LockHandle? = null,
        ): Boolean = lock.withLock("order:$id") { it.fencingToken() == held!!.fencingToken() }

        @WithLock(name = "order", key = "{#from, #to}")
        open suspend fun move(
            from: Long,
            to: Long,
            held: List<LockHandle> = listOf(),
        ): List<String> = held.map { it.key() }
    }

    /** What a test and the function that it calls tell one another. */
    internal class Steps {
        val began = CompletableDeferred<Unit>()
        val end = CompletableDeferred<Unit>()
        val cleaning = CompletableDeferred<Unit>()
        val cleaned = CompletableDeferred<Unit>()
    }

    @Test
    fun aSuspendFunctionRunsUnderTheLock() =
        test {
            assertThat(shop.isLocked(42)).isTrue()
            assertThat(isHeld("order:42")).isFalse()
        }

    @Test
    fun itMayReturnNull() =
        test {
            assertThat(shop.find(0)).isNull()
            assertThat(shop.find(42)).isEqualTo("order 42")
        }

    @Test
    fun whatItThrowsIsThrownAfterTheRelease() =
        test {
            val thrown = runCatching { shop.fails(42) }.exceptionOrNull()

            assertThat(thrown).isInstanceOf(IllegalStateException::class.java).hasMessage("no order 42")
            assertThat(isHeld("order:42")).isFalse()
        }

    @Test
    fun functionsExcludeOneAnother() =
        test {
            val steps = shop.steps()
            val first = launch { shop.holds(42) }
            steps.began.await()

            val thrown = runCatching { shop.impatient(42) }.exceptionOrNull()
            assertThat(thrown)
                .isInstanceOf(LockTimeoutException::class.java)
                .isNotInstanceOf(CancellationException::class.java)
            assertThat(shop.ifFree(42)).isNull()
            assertThat(shop.ifFree(43)).isEqualTo("ran")

            steps.cleaned.complete(Unit)
            steps.end.complete(Unit)
            first.join()
            assertThat(shop.ifFree(42)).isEqualTo("ran")
        }

    @Test
    fun aFunctionOfUnitIsLeftOutIfTheLockIsTaken() =
        test {
            val other = client.acquire("order:42").awaitSingle()
            shop.visit(42)
            assertThat(shop.steps().began.isCompleted).isFalse()

            other.release().awaitSingleOrNull()
            shop.visit(42)
            assertThat(shop.steps().began.isCompleted).isTrue()
        }

    @Test
    fun theLockIsHeldUntilCleanUpThatCannotBeCancelledIsDone() =
        test {
            val steps = shop.steps()
            val work = launch { shop.holds(42) }
            steps.began.await()

            work.cancel()
            steps.cleaning.await()
            work.join()
            assertThat(work.isCancelled).isTrue()
            assertThat(runCatching { shop.impatient(42) }.exceptionOrNull())
                .isInstanceOf(LockTimeoutException::class.java)
            assertThat(isHeld("order:42")).isTrue()

            steps.cleaned.complete(Unit)
            client.awaitRelease("order:42").awaitSingleOrNull()
        }

    @Test
    fun aLossCancelsTheFunctionAndIsThrown() =
        test {
            val steps = shop.steps()
            steps.cleaned.complete(Unit)
            val thrown = CompletableDeferred<Throwable?>()
            launch { thrown.complete(runCatching { shop.holds(42) }.exceptionOrNull()) }
            steps.began.await()

            assertThat(client.forceRelease("order:42").awaitSingle()).isTrue()

            assertThat(thrown.await()).isInstanceOf(LockLostException::class.java)
            assertThat(steps.cleaning.isCompleted).isTrue()
        }

    @Test
    fun coroutinesOfTheFunctionAreAPartOfIt() =
        test {
            val steps = shop.steps()
            val work = launch { shop.launches(42) }
            steps.began.await()
            assertThat(isHeld("order:42")).isTrue()

            steps.end.complete(Unit)
            work.join()
            assertThat(isHeld("order:42")).isFalse()
        }

    @Test
    fun theFunctionGetsItsHoldAndWhatIsBelowJoinsIt() =
        test {
            assertThat(shop.token(42)).isPositive()
            assertThat(shop.below(42)).isTrue()
            assertThat(shop.move(7, 3)).containsExactly("order:3", "order:7")
        }

    @Test
    fun theFunctionKeepsItsCallersDispatcher() =
        test {
            Executors.newSingleThreadExecutor { Thread(it, "mine") }.asCoroutineDispatcher().use { mine ->
                withContext(mine) { assertThat(context.getBean(Shop::class.java).find(42)).isEqualTo("order 42") }
            }
        }

    @Test
    fun whatTheLockWouldNotCoverIsRefused() {
        refused(
            OfFlow::class.java,
            "it is a suspend function that returns kotlinx.coroutines.flow.Flow<kotlin.String>, which is collected " +
                "when the lock is released again",
        )
        refused(
            NotNullable::class.java,
            "it returns null if the lock is taken, and kotlin.String is not nullable; let it return kotlin.String?",
        )
        refused(FlowAlone::class.java, "it returns Flow, and only methods that return Mono or Flux")
        refused(NotOpen::class.java, "it is final, so no proxy can lock it; take that away, in Kotlin with open")
    }

    internal open class OfFlow {
        @WithLock(name = "order")
        open suspend fun all(): Flow<String> = flowOf()
    }

    internal open class FlowAlone {
        @WithLock(name = "order")
        open fun all(): Flow<String> = flowOf()
    }

    internal open class NotNullable {
        @WithLock(name = "order", ifFree = true)
        open suspend fun one(): String = ""
    }

    internal open class NotOpen {
        @WithLock(name = "order")
        suspend fun one(): String = awaitCancellation()
    }

    private fun refused(
        bean: Class<*>,
        message: String,
    ) {
        assertThatThrownBy { Contexts.of(bean) }.hasMessageContaining(message)
    }

    private fun test(body: suspend CoroutineScope.() -> Unit) =
        runBlocking(Dispatchers.Default) { withTimeout(1.minutes) { body() } }

    private suspend fun isHeld(key: String) = client.inspect(key).awaitSingle().isHeld
}
