package io.github.reactivelock.kotlin

import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import org.reactivestreams.Subscription
import reactor.core.CoreSubscriber
import reactor.core.publisher.Mono
import reactor.core.publisher.MonoSink
import reactor.util.context.Context
import reactor.util.context.ContextView
import java.util.concurrent.atomic.AtomicBoolean
import java.util.function.Function
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException

/**
 * Which locks, and how they are asked for: assembles the engine's own `withLock` around a work that ends when told to.
 */
internal fun interface Locks<H : Any> {
    fun around(work: Function<H, Mono<Void>>): Mono<Void>
}

internal suspend fun <H : Any, T> underLock(
    locks: Locks<H>,
    ifTaken: suspend () -> T = ::neverTaken,
    block: suspend CoroutineScope.(H) -> T,
): T = Turn(locks).run(ifTaken) { withContext(ReactorContext(context)) { block(held) } }

internal fun <H : Any, T> flowUnderLock(
    locks: Locks<H>,
    work: Flow<T>,
    ifTaken: Flow<T> = flow { neverTaken() },
): Flow<T> {
    locks.around { Mono.never() } // refuses bad keys now and not at the collection
    return flow {
        val collector = this
        Turn(locks).run({ collector.emitAll(ifTaken) }) {
            // Not withContext, from which a flow may not emit.
            work.flowOn(ReactorContext(context)).collect { collector.emit(it) }
        }
    }
}

private fun neverTaken(): Nothing = error("a lock that is waited for is never taken")

/**
 * A grant: what the block gets, the Context that carries the hold, and the engine's view of the work, which it ends.
 */
private class Granted<H : Any>(
    val held: H,
    val context: ContextView,
    private val work: MonoSink<Void>,
) {
    fun end() = work.success()
}

/**
 * One run of a block under locks. To the engine it is a work that emits nothing and ends when the block has completed,
 * so the engine does what it does for any work: waits, watches the clock, tells of a loss, releases. A cancel of the
 * coroutine reaches the engine only while no block runs, because the engine gives the lock back as soon as a cancel has
 * returned.
 *
 * ```
 * state     leaves on                                        and does
 * WAITING   grant                                            resumes the coroutine -> GRANTED
 *           failure to acquire, loss of the first of keys    resumes the coroutine with it -> OVER
 *           end, because a lock is taken                     runs what is to be run instead -> OVER
 *           cancel of the coroutine                          cancels the engine's flow -> OVER
 * GRANTED   the coroutine has its thread                     runs the block -> WORKING
 *           cancel of the coroutine before that              cancels the engine's flow, which gives back -> OVER
 * WORKING   the block has completed                          ends the engine's work -> ENDING
 *           loss                                             cancels the block's scope -> LOST
 * LOST      the block has completed                          throws the loss -> OVER
 * ENDING    the engine's flow has ended                      returns, or throws what the block threw -> OVER
 *           cancel of the coroutine                          stops waiting for that -> OVER
 * ```
 *
 * The continuation decides WAITING and GRANTED, together with `decided`, because a loss may cross the grant. From then
 * on `ended` tells whether the engine's flow is over and why.
 */
private class Turn<H : Any>(
    private val locks: Locks<H>,
) {
    private val decided = AtomicBoolean()
    private val ended = CompletableDeferred<Unit>()

    suspend fun <T> run(
        ifTaken: suspend () -> T,
        block: suspend Granted<H>.() -> T,
    ): T {
        val granted = granted() ?: return ifTaken()
        val result =
            try {
                coroutineScope {
                    cancelWhenLost()
                    granted.block()
                }
            } catch (failure: Throwable) {
                throw outcome(granted, failure)
            }
        granted.end()
        ended.await()
        return result
    }

    /** Waits for the locks; null if they are taken and not waited for. */
    private suspend fun granted(): Granted<H>? {
        val context = currentCoroutineContext()[ReactorContext]?.context ?: Context.empty()
        return suspendCancellableCoroutine { waiting ->
            val work =
                Function<H, Mono<Void>> { held ->
                    Mono.deferContextual { below -> Mono.create { work -> grant(waiting, Granted(held, below, work)) } }
                }
            locks.around(work).subscribe(Signals(waiting, context))
        }
    }

    private fun grant(
        waiting: CancellableContinuation<Granted<H>?>,
        granted: Granted<H>,
    ) {
        if (decided.compareAndSet(false, true)) {
            waiting.resume(granted)
        }
    }

    private fun CoroutineScope.cancelWhenLost() {
        val scope = coroutineContext.job
        ended.invokeOnCompletion { loss ->
            if (loss != null) {
                scope.cancel(CancellationException(loss.message, loss))
            }
        }
        ensureActive()
    }

    /**
     * What to throw for what the block threw, after the release; a coroutine that is cancelled does not wait for that.
     */
    private suspend fun outcome(
        granted: Granted<H>,
        failure: Throwable,
    ): Throwable {
        val lost = ended.isCompleted
        granted.end()
        if (!currentCoroutineContext().isActive) {
            return failure
        }
        try {
            ended.await()
            return failure
        } catch (cancelled: CancellationException) {
            return failure
        } catch (error: Throwable) {
            return when {
                error === failure || lost && failure is CancellationException -> error
                lost -> error.apply { addSuppressed(failure) }
                else -> failure.apply { addSuppressed(error) }
            }
        }
    }

    /** Hears how the engine's flow goes: called by the engine, one signal after the other. */
    private inner class Signals(
        private val waiting: CancellableContinuation<Granted<H>?>,
        private val context: Context,
    ) : CoreSubscriber<Void> {
        override fun currentContext(): Context = context

        override fun onSubscribe(flow: Subscription) {
            waiting.invokeOnCancellation { flow.cancel() }
            flow.request(Long.MAX_VALUE)
        }

        override fun onNext(nothing: Void) = Unit

        override fun onError(failure: Throwable) {
            if (decided.compareAndSet(false, true)) {
                waiting.resumeWithException(failure)
            } else {
                ended.completeExceptionally(failure)
            }
        }

        override fun onComplete() {
            if (decided.compareAndSet(false, true)) {
                waiting.resume(null)
            } else {
                ended.complete(Unit)
            }
        }
    }
}
