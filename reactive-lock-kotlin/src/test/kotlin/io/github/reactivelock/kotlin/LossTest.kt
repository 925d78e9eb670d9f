package io.github.reactivelock.kotlin

import io.github.reactivelock.HoldState
import io.github.reactivelock.LockHandle
import io.github.reactivelock.LockLostException
import io.github.reactivelock.LockOptions
import io.github.reactivelock.state.LossReason
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.conflate
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactive.asFlow
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.reactor.awaitSingleOrNull
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import reactor.core.CoreSubscriber
import reactor.core.publisher.Mono
import reactor.core.publisher.Operators
import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean
import java.util.function.Function
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** A lock that is lost: an exception of its own, and never the cancellation that stops the block. */
class LossTest : Fixture() {
    @Test
    fun aLossCancelsTheBlockAndIsThrownToTheCaller() =
        test {
            var inside: Throwable? = null

            val seen =
                thrownBy {
                    lock.withLock("a") {
                        try {
                            takeAway("a")
                            awaitCancellation()
                        } catch (cancelled: CancellationException) {
                            inside = cancelled
                            throw cancelled
                        }
                    }
                }

            assertThat(seen).isInstanceOf(LockLostException::class.java).hasNoSuppressedExceptions()
            assertThat((seen as LockLostException).reason()).isEqualTo(LossReason.FORCED)
            assertThat(inside).isInstanceOf(CancellationException::class.java).hasRootCause(seen)
            currentCoroutineContext().ensureActive()
        }

    @Test
    fun aLossReachesTheChildrenOfTheBlock() =
        test {
            val child = CompletableDeferred<Throwable?>()

            val seen =
                thrownBy {
                    lock.withLock("a") {
                        launch { awaitCancellation() }.invokeOnCompletion { child.complete(it) }
                        takeAway("a")
                    }
                }

            assertThat(seen).isInstanceOf(LockLostException::class.java)
            assertThat(child.await()).isInstanceOf(CancellationException::class.java)
        }

    @Test
    fun aLossWhileNothingCanBeCancelledIsThrownWhenThatHasCompleted() =
        test {
            val lost = CompletableDeferred<Unit>()
            val goOn = CompletableDeferred<Unit>()
            var hasCompleted = false
            val work =
                async {
                    thrownBy {
                        lock.withLock("a") { held ->
                            withContext(NonCancellable) {
                                takeAway("a")
                                held.lost().awaitSingle()
                                lost.complete(Unit)
                                goOn.await()
                                hasCompleted = true
                            }
                        }
                    }
                }
            lost.await()
            assertThat(work.isActive).isTrue()
            goOn.complete(Unit)

            assertThat(work.await()).isInstanceOf(LockLostException::class.java)
            assertThat(hasCompleted).isTrue()
        }

    @Test
    fun aHoldTellsThatItIsAtRiskBeforeItIsLost() =
        test {
            val brief = lock.with(LockOptions.defaults().withLease(10.seconds).withoutRenewal())
            val heard = CompletableDeferred<List<HoldState>>()

            val seen =
                thrownBy {
                    brief.withLock("a") { held ->
                        withContext(NonCancellable) {
                            heard.complete(
                                held
                                    .states()
                                    .asFlow()
                                    .conflate()
                                    .toList(),
                            )
                        }
                    }
                }

            assertThat(seen).isInstanceOf(LockLostException::class.java)
            assertThat(heard.await().map { it.javaClass.simpleName }).containsExactly("Safe", "AtRisk", "Lost")
        }

    @Test
    fun whatCleanUpThrowsAfterALossIsKeptWithIt() =
        test {
            val seen =
                thrownBy {
                    lock.withLock("a") {
                        try {
                            takeAway("a")
                            awaitCancellation()
                        } finally {
                            throw IOException("the clean-up failed")
                        }
                    }
                }

            assertThat(seen).isInstanceOf(LockLostException::class.java)
            assertThat(seen!!.suppressed).hasSize(1).hasOnlyElementsOfType(IOException::class.java)
        }

    @Test
    fun aHoldThatTakesTooLongIsLost() =
        test {
            val short = lock.with(LockOptions.defaults().withMaxHold(150.milliseconds))

            val seen = thrownBy { short.withLock("a") { awaitCancellation() } }

            assertThat((seen as LockLostException).reason()).isEqualTo(LossReason.HELD_TOO_LONG)
        }

    @Test
    fun aBlockThatIsCancelledAndLostIsCancelled() =
        test {
            val began = CompletableDeferred<Unit>()
            val cleaning = CompletableDeferred<Unit>()
            val goOn = CompletableDeferred<Unit>()
            var seen: Throwable? = null
            val work =
                launch {
                    seen =
                        thrownBy {
                            lock.withLock("a") { held ->
                                try {
                                    began.complete(Unit)
                                    awaitCancellation()
                                } finally {
                                    withContext(NonCancellable) {
                                        cleaning.complete(Unit)
                                        held.lost().awaitSingle()
                                        goOn.await()
                                    }
                                }
                            }
                        }
                }
            began.await()
            work.cancel()
            cleaning.await()
            takeAway("a")
            goOn.complete(Unit)
            work.join()

            assertThat(seen).isInstanceOf(CancellationException::class.java)
        }

    @Test
    fun aLossBeforeTheBlockHasItsThreadKeepsItFromStarting() =
        test {
            val held = client.acquire("b").awaitSingle()
            val started = AtomicBoolean()
            val loss = aLoss()
            val locks =
                signals { work, actual ->
                    work.apply(held).subscribe()
                    actual.onError(loss)
                }

            assertThat(thrownBy { underLock(locks) { started.set(true) } }).isSameAs(loss)
            assertThat(thrownBy { flowUnderLock(locks, flow<Int> { started.set(true) }).collect { } }).isSameAs(loss)
            assertThat(started).isFalse()
        }

    @Test
    fun theCallerWaitsUntilTheEngineHasReleased() =
        test {
            for (block in listOf<suspend () -> Unit>({ }, { error("the work failed") })) {
                val held = client.acquire("b").awaitSingle()
                val ended = CompletableDeferred<CoreSubscriber<in Void>>()
                val locks = signals { work, actual -> work.apply(held).subscribe({}, {}, { ended.complete(actual) }) }
                val work = async { thrownBy { underLock(locks) { block() } } }
                val engine = ended.await()
                repeat(20) { yield() }

                assertThat(work.isCompleted).isFalse()

                engine.onComplete()
                work.await()
                held.release().awaitSingleOrNull()
            }
        }

    /** The engine may find the loss on one thread while it calls the work on another. */
    @Test
    fun aLossThatOvertakesTheGrantIsThrown() =
        test {
            val held = client.acquire("b").awaitSingle()
            val started = AtomicBoolean()
            val failures = mutableListOf<Throwable>()
            val loss = aLoss()
            val locks =
                signals { work, actual ->
                    actual.onError(loss)
                    work.apply(held).subscribe({}, failures::add)
                }

            assertThat(thrownBy { underLock(locks) { started.set(true) } }).isSameAs(loss)
            assertThat(started).isFalse()
            assertThat(failures).isEmpty()
        }

    @Test
    fun aGrantThatIsCancelledBeforeTheBlockHasItsThreadIsGivenBack() =
        test {
            val holder = holder("a")
            val dispatcher = Stepwise()
            val started = AtomicBoolean()
            val work = launch(dispatcher) { lock.withLock("a") { started.set(true) } }
            dispatcher.next().run()
            holder.release()
            val block = dispatcher.next()
            assertThat(isHeld("a")).isTrue()
            work.cancel()
            block.run()
            dispatcher.runAll()

            eventuallyFree("a")
            assertThat(work.isCancelled).isTrue()
            assertThat(started).isFalse()
        }

    private suspend fun aLoss(): Throwable =
        thrownBy {
            lock.withLock("a") {
                takeAway("a")
                awaitCancellation()
            }
        }!!

    /** An engine that gives its signals in an order of the test's. */
    private fun signals(signal: (Function<LockHandle, Mono<Void>>, CoreSubscriber<in Void>) -> Unit) =
        Locks<LockHandle> { work ->
            object : Mono<Void>() {
                override fun subscribe(actual: CoreSubscriber<in Void>) {
                    actual.onSubscribe(Operators.emptySubscription())
                    signal(work, actual)
                }
            }
        }

    private suspend fun takeAway(key: String) {
        assertThat(client.forceRelease(key).awaitSingle()).isTrue()
    }

    private suspend fun thrownBy(work: suspend () -> Any?): Throwable? = runCatching { work() }.exceptionOrNull()
}
