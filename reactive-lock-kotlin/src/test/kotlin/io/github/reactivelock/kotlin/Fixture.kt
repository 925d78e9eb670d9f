package io.github.reactivelock.kotlin

import io.github.reactivelock.LockClient
import io.github.reactivelock.memory.InMemoryLockBackend
import io.github.reactivelock.spi.LockBackend
import io.github.reactivelock.state.LockInfo
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration

/**
 * Where tests run. Not `Dispatchers.Default`: where `Dispatchers.IO` is used too, a task may lie in its queue until
 * another one comes, while all its threads sleep (Kotlin/kotlinx.coroutines#4491).
 */
internal val threads = pool("test")

/** Others than those. */
internal val otherThreads = pool("other")

private fun pool(name: String) =
    Executors.newFixedThreadPool(2) { task -> Thread(task, name).apply { isDaemon = true } }.asCoroutineDispatcher()

/** A client for each test, over the store in the process unless a class says otherwise. */
abstract class Fixture {
    private val patience = 60.seconds
    internal val client: LockClient by lazy {
        LockClient.builder(backend()).commandTimeout(patience.toJavaDuration()).build()
    }
    internal val lock by lazy { client.coroutines() }

    internal open fun backend(): LockBackend = InMemoryLockBackend.create()

    @AfterEach
    fun close() {
        client.close().block()
    }

    internal fun test(body: suspend CoroutineScope.() -> Unit) = runBlocking(threads) { withTimeout(patience) { body() } }

    internal suspend fun isHeld(key: String) = client.inspect(key).awaitSingle() is LockInfo.Held

    internal suspend fun eventuallyFree(key: String) {
        while (isHeld(key)) {
            delay(2.milliseconds)
        }
    }

    /** Holds a lock in a coroutine of its own until told to let go. */
    internal suspend fun CoroutineScope.holder(key: String): Holder {
        val held = CompletableDeferred<Unit>()
        val letGo = CompletableDeferred<Unit>()
        val job =
            launch {
                lock.withLock(key) {
                    held.complete(Unit)
                    letGo.await()
                }
            }
        held.await()
        return Holder(job, letGo)
    }

    internal class Holder(
        private val job: Job,
        private val letGo: CompletableDeferred<Unit>,
    ) {
        suspend fun release() {
            letGo.complete(Unit)
            job.join()
        }
    }
}

/** Runs what is dispatched when the test says so. */
internal class Stepwise : CoroutineDispatcher() {
    private val tasks = LinkedBlockingQueue<Runnable>()

    override fun dispatch(
        context: CoroutineContext,
        block: Runnable,
    ) {
        tasks.put(block)
    }

    /** Waits for the next task, and gives it to the test. */
    fun next(): Runnable = checkNotNull(tasks.poll(1, java.util.concurrent.TimeUnit.MINUTES)) { "no task came" }

    fun runAll() {
        generateSequence { tasks.poll() }.forEach { it.run() }
    }
}
