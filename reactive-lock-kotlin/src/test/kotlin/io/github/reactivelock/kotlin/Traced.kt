package io.github.reactivelock.kotlin

import io.github.reactivelock.LockClient
import io.github.reactivelock.lettuce.LettuceLockBackend
import io.github.reactivelock.memory.InMemoryLockBackend
import io.github.reactivelock.spi.LockBackend
import io.opentelemetry.api.GlobalOpenTelemetry
import io.opentelemetry.api.baggage.Baggage
import io.opentelemetry.api.trace.Span
import io.opentelemetry.context.Context
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import reactor.core.scheduler.Schedulers
import java.util.concurrent.ConcurrentHashMap
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.milliseconds

private val tracer = GlobalOpenTelemetry.getTracer("traced")
private val seen = ConcurrentHashMap<String, Int>()
private val places = mapOf("a pool" to threads, "Default" to Dispatchers.Default, "Unconfined" to Dispatchers.Unconfined)

/** What a coroutine sees of its trace, every fourth being without one; a program for a JVM with an agent. */
internal fun main(arguments: Array<String>) {
    val clients =
        mapOf(
            "memory" to client(InMemoryLockBackend.create()),
            "Redis" to client(LettuceLockBackend.connect(arguments.single())),
            "memory, on a scheduler of the user" to
                LockClient
                    .builder(InMemoryLockBackend.create())
                    .workScheduler(Schedulers.newBoundedElastic(4, 100_000, "elastic"))
                    .build(),
        )
    runBlocking {
        clients
            .flatMap { (store, client) ->
                places.flatMap { (place, dispatcher) ->
                    (0 until 60).map { i ->
                        traced(i, dispatcher) { look ->
                            inOneOfManyForms(i / 4, client.coroutines()) { look("$store, $place") }
                        }
                    }
                }
            }.awaitAll()
    }
    seen.forEach { (what, times) -> println("saw $what $times") }
    clients.values.forEach { it.close().block() }
    println("done")
    exitProcess(0) // schedulers of users have threads that stay
}

private fun client(store: LockBackend) = LockClient.builder(store).build()

private suspend fun inOneOfManyForms(
    form: Int,
    lock: CoroutineLockClient,
    look: () -> Unit,
) {
    val block: suspend () -> String = {
        look()
        delay(1.milliseconds)
        look()
        "done"
    }
    when (form % 6) {
        0 -> lock.withLock("a") { block() }
        1 -> lock.withLock(listOf("a", "b")) { block() }
        2 -> lock.tryWithLock("a", block) { block() }
        3 -> lock.withLock("a", flow { emit(block()) }).onEach { look() }.toList()
        4 -> lock.tryWithLock("b", flow { emit(block()) }, flow { emit(block()) }).onEach { look() }.toList()
        else -> lock.withLock("a") { lock.withLock("b") { block() } }
    }
    look()
}

private fun CoroutineScope.traced(
    number: Int,
    dispatcher: CoroutineDispatcher,
    flow: suspend (look: (String) -> Unit) -> Unit,
) = if (number % 4 == 0) {
    async(dispatcher) { flow { where -> note(where, Span.getInvalid(), null) } }
} else {
    val span = tracer.spanBuilder("flow").setNoParent().startSpan()
    val user = "user $number"
    Context.root().with(span).with(Baggage.builder().put("user", user).build()).makeCurrent().use {
        async(dispatcher) {
            flow { where -> note(where, span, user) }
            span.end()
        }
    }
}

private fun note(
    where: String,
    own: Span,
    user: String?,
) {
    val isOwn =
        Span.current().spanContext.traceId == own.spanContext.traceId &&
            Baggage.current().getEntryValue("user") == user
    val whose = if (isOwn) "its own" else "ANOTHER'S"
    seen.merge(whose + " in " + where + if (user == null) ", without a trace" else "", 1, Int::plus)
}
