package io.github.reactivelock.spring

import io.github.reactivelock.LockClient
import io.github.reactivelock.LockHandle
import io.github.reactivelock.kotlin.coroutines
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.job
import kotlinx.coroutines.reactor.awaitSingleOrNull
import kotlinx.coroutines.reactor.mono
import kotlinx.coroutines.withContext
import org.reactivestreams.Publisher
import reactor.core.publisher.Mono
import java.lang.reflect.Method
import java.util.function.BiFunction
import java.util.function.Supplier
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.reflect.KClass
import kotlin.reflect.full.isSubclassOf
import kotlin.reflect.jvm.kotlinFunction

/**
 * A call of a suspend function under a lock. The lock is held until the function has completed, its coroutines and its
 * clean-up under [NonCancellable] included, as with [io.github.reactivelock.kotlin.CoroutineLockClient.withLock].
 *
 * Spring runs such a function as a `Mono`, whose cancel returns at once, while the function may still clean up. So the
 * function runs in a context that tells its [Job], and the block under the lock ends with that.
 */
internal class SuspendedCall(
    client: LockClient,
    private val keys: Supplier<List<String>>,
    private val invocation: BiFunction<List<LockHandle>, Any, Publisher<Any>>,
) {
    private val lock = client.coroutines()

    /** What the proxy awaits in the caller's coroutine, with that one's dispatcher. */
    fun waiting(caller: Any): Mono<Any> = inContextOf(caller) { lock.withLock(keys.get()) { held -> proceed(held) } }

    fun ifFree(caller: Any): Mono<Any> =
        inContextOf(caller) { lock.tryWithLock(keys.get(), { null }) { held -> proceed(held) } }

    private fun inContextOf(
        caller: Any,
        call: suspend () -> Any?,
    ): Mono<Any> = mono((caller as Continuation<*>).context.minusKey(Job)) { call() }

    private suspend fun proceed(held: List<LockHandle>): Any? {
        val function = RunningFunction()
        val caller = Continuation<Any?>(currentCoroutineContext() + function) { }
        try {
            return Mono.from(invocation.apply(held, caller)).awaitSingleOrNull()
        } finally {
            withContext(NonCancellable) { function.join() }
        }
    }

    internal companion object {
        /** Refuses functions whose result the lock does not cover, or that cannot return without having run. */
        @JvmStatic
        fun check(
            method: Method,
            ifFree: Boolean,
        ) {
            val type = checkNotNull(method.kotlinFunction).returnType
            val kind = type.classifier as? KClass<*>
            require(kind == null || !kind.isSubclassOf(Flow::class) && !kind.isSubclassOf(Publisher::class)) {
                "it is a suspend function that returns $type, which is collected when the lock is released again; " +
                    "let it collect that, or return a Flux without suspend"
            }
            require(!ifFree || type.isMarkedNullable || kind == Unit::class) {
                "it returns null if the lock is taken, and $type is not nullable; let it return $type?"
            }
        }
    }
}

/**
 * Tells the job of the coroutine that a function runs in: of the first that enters a thread with this in its context.
 */
private class RunningFunction :
    ThreadContextElement<Unit>,
    CoroutineContext.Key<RunningFunction> {
    @Volatile
    private var job: Job? = null

    override val key: CoroutineContext.Key<*> get() = this

    override fun updateThreadContext(context: CoroutineContext) {
        if (job == null) {
            job = context.job
        }
    }

    override fun restoreThreadContext(
        context: CoroutineContext,
        oldState: Unit,
    ) = Unit

    /**
     * Returns when the function has completed; at once if it has not begun, because then a cancel kept it from that.
     */
    suspend fun join() {
        job?.join()
    }
}
