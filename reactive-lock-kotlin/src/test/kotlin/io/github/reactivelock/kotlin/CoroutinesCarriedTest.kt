package io.github.reactivelock.kotlin

import io.github.reactivelock.LockClient
import io.github.reactivelock.memory.InMemoryLockBackend
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.reactivestreams.Subscription
import reactor.core.CoreSubscriber
import reactor.core.publisher.Hooks
import reactor.core.publisher.Operators
import reactor.core.scheduler.Schedulers
import reactor.util.context.Context
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executor
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds

/**
 * What threads carry, as the agent of OpenTelemetry takes it along: by hooks on operators and by executors, and in
 * coroutines that carry something. A coroutine that carries nothing has nothing to set.
 */
class CoroutinesCarriedTest : Fixture() {
    private val user = ThreadLocal<String?>()
    private val wrong = ConcurrentLinkedQueue<String>()

    private fun <T> carrying(
        value: String?,
        step: () -> T,
    ): T {
        val before = user.get()
        user.set(value)
        try {
            return step()
        } finally {
            user.set(before)
        }
    }

    private inner class Operator<T : Any>(
        private val actual: CoreSubscriber<in T>,
    ) : CoreSubscriber<T> {
        private val kept = user.get()

        private fun signal(signal: () -> Unit) = if (kept == null) signal() else carrying(kept, signal)

        override fun currentContext(): Context = actual.currentContext()

        override fun onSubscribe(flow: Subscription) = signal { actual.onSubscribe(flow) }

        override fun onNext(value: T) = signal { actual.onNext(value) }

        override fun onError(failure: Throwable) = signal { actual.onError(failure) }

        override fun onComplete() = signal { actual.onComplete() }
    }

    /** As an executor that an agent has changed. */
    private val takingAlong =
        Executor { task ->
            val here = user.get()
            otherThreads.executor.execute { carrying(here) { task.run() } }
        }.asCoroutineDispatcher()

    private inner class Element(
        private val value: String,
    ) : ThreadContextElement<String?>,
        CoroutineContext.Key<ThreadContextElement<String?>> {
        override val key: CoroutineContext.Key<*> get() = this

        override fun updateThreadContext(context: CoroutineContext): String? = user.get().also { user.set(value) }

        override fun restoreThreadContext(
            context: CoroutineContext,
            oldState: String?,
        ) = user.set(oldState)
    }

    private fun look(own: String?) {
        if (user.get() != own) {
            wrong.add("$own saw ${user.get()}")
        }
    }

    private suspend fun underOneOfManyForms(
        form: Int,
        lock: CoroutineLockClient,
        own: String?,
    ) {
        val block: suspend () -> String = {
            look(own)
            delay(1.milliseconds)
            look(own)
            "done"
        }
        when (form % 6) {
            0 -> lock.withLock("a") { block() }
            1 -> lock.withLock(listOf("a", "b")) { block() }
            2 -> lock.tryWithLock("a", block) { block() }
            3 -> lock.withLock("a", flow { emit(block()) }).onEach { look(own) }.toList()
            4 -> lock.tryWithLock("b", flow { emit(block()) }, flow { emit(block()) }).onEach { look(own) }.toList()
            else -> lock.withLock("a") { lock.withLock("b") { block() } }
        }
        look(own)
    }

    private suspend fun CoroutineScope.manyFlows(lock: CoroutineLockClient) =
        (0 until 72)
            .map { i ->
                val own = if (i % 4 == 0) null else "user $i"
                val place = if (own == null) takingAlong else takingAlong + Element(own)
                async { withContext(place) { underOneOfManyForms(i / 4, lock, own) } }
            }.awaitAll()

    private fun hooked(body: suspend CoroutineScope.() -> Unit) {
        Hooks.onEachOperator("carried", Operators.lift<Any, Any> { _, actual -> Operator(actual) })
        try {
            test(body)
        } finally {
            Hooks.resetOnEachOperator("carried")
        }
    }

    @Test
    fun everyCoroutineSeesWhatItCarriesItself() {
        hooked { manyFlows(lock) }

        assertThat(wrong).isEmpty()
    }

    /** Unconfined, a block runs where its grant arrived, until it is suspended. */
    @Test
    fun aCoroutineThatCarriesNothingSeesNothingOnASchedulerOfTheUser() {
        val given = Schedulers.fromExecutor(takingAlong.asExecutor())
        val other =
            LockClient
                .builder(InMemoryLockBackend.create())
                .workScheduler(given)
                .build()
        try {
            hooked {
                val unconfined = async(Dispatchers.Unconfined) { carriesNothing(other.coroutines()) }
                manyFlows(other.coroutines())
                unconfined.await()
            }
        } finally {
            other.close().block()
        }

        assertThat(wrong).isEmpty()
    }

    /** Among flows that do, for each of which it has to wait. */
    private suspend fun carriesNothing(lock: CoroutineLockClient) =
        repeat(10) {
            lock.withLock("a") { look(null) }
            look(null)
        }
}
