package io.github.reactivelock.kotlin

import io.github.reactivelock.LockOptions
import io.github.reactivelock.LockTimeoutException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.reactor.mono
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import reactor.core.publisher.Mono
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** What a block under a lock promises, whatever the store. */
abstract class BlockCases : CancelCases() {
    @Test
    fun theBlockRunsWhileTheLockIsHeldAndItsResultMayBeNull() =
        test {
            val result: String? =
                lock.withLock("a") { held ->
                    assertThat(held.isHeld).isTrue()
                    assertThat(isHeld("a")).isTrue()
                    null
                }

            assertThat(result).isNull()
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun twoCoroutinesOnOneThreadExcludeOneAnother() =
        test {
            Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { dispatcher ->
                val inside = AtomicInteger()
                val most = AtomicInteger()
                var counter = 0
                withContext(dispatcher) {
                    repeat(10) {
                        launch {
                            repeat(5) {
                                lock.withLock("a") {
                                    most.accumulateAndGet(inside.incrementAndGet(), ::maxOf)
                                    val before = counter
                                    yield()
                                    counter = before + 1
                                    inside.decrementAndGet()
                                }
                            }
                        }
                    }
                }

                assertThat(most).hasValue(1)
                assertThat(counter).isEqualTo(50)
            }
        }

    @Test
    fun sharingBlocksAreInTogetherAndTheWholeBelowIsRefused() =
        test {
            val result =
                lock.shared().withLock("a") {
                    withContext(otherThreads) {
                        lock.permits(1, 2).withLock("b") { "in" }
                    }
                }
            val refused =
                runCatching { lock.shared().withLock("a") { lock.withLock("a") { "never" } } }.exceptionOrNull()

            assertThat(result).isEqualTo("in")
            assertThat(refused).isInstanceOf(IllegalStateException::class.java).hasMessageContaining("wait for itself")
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun whatTheBlockThrowsIsThrownAfterTheRelease() =
        test {
            val seen = runCatching { lock.withLock("a") { error("the work failed") } }.exceptionOrNull()

            assertThat(seen).isInstanceOf(IllegalStateException::class.java).hasMessage("the work failed")
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun childrenOfTheBlockAreAPartOfIt() =
        test {
            val end = CompletableDeferred<Unit>()
            val returned = CompletableDeferred<Unit>()
            val work =
                launch {
                    lock.withLock("a") {
                        launch { end.await() }
                        returned.complete(Unit)
                    }
                }
            returned.await()

            assertThat(isHeld("a")).isTrue()
            assertThat(work.isActive).isTrue()

            end.complete(Unit)
            work.join()
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun aChildThatFailsFailsTheBlock() =
        test {
            val seen =
                runCatching {
                    lock.withLock("a") {
                        launch { error("the child failed") }
                        awaitCancellation()
                    }
                }.exceptionOrNull()

            assertThat(seen).isInstanceOf(IllegalStateException::class.java).hasMessage("the child failed")
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun theLockIsHeldUntilCleanUpThatCannotBeCancelledIsDone() =
        test {
            val began = CompletableDeferred<Unit>()
            val cleaning = CompletableDeferred<Unit>()
            val cleaned = CompletableDeferred<Unit>()
            val work =
                launch {
                    lock.withLock("a") {
                        try {
                            began.complete(Unit)
                            awaitCancellation()
                        } finally {
                            withContext(NonCancellable) {
                                cleaning.complete(Unit)
                                cleaned.await()
                            }
                        }
                    }
                }
            began.await()
            work.cancel()
            cleaning.await()

            assertThat(lock.with(LockOptions.defaults().withWaitTimeout(3.seconds)).ends("a"))
                .isInstanceOf(LockTimeoutException::class.java)
            assertThat(isHeld("a")).isTrue()

            cleaned.complete(Unit)
            work.join()
            assertThat(work.isCancelled).isTrue()
            eventuallyFree("a")
        }

    @Test
    fun aBlockBelowAnotherOneJoinsItsHold() =
        test {
            lock.withLock("a") { outer ->
                val token = outer.fencingToken()
                withContext(otherThreads) {
                    assertThat(lock.withLock("a") { it.fencingToken() }).isEqualTo(token)
                    launch { assertThat(lock.withLock("a") { it.fencingToken() }).isEqualTo(token) }
                }
                assertThat(mono { lock.withLock("a") { it.fencingToken() } }.awaitSingle()).isEqualTo(token)
                assertThat(client.withLock("a", Mono.just("by Reactor")).awaitSingle()).isEqualTo("by Reactor")
                assertThat(isHeld("a")).isTrue()
            }
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun aBlockBelowAHoldOfReactorJoinsIt() {
        val work =
            client.withLock("a") { outer ->
                mono(otherThreads) { lock.withLock("a") { it.fencingToken() == outer.fencingToken() } }
            }

        assertThat(work.block()).isTrue()
    }

    @Test
    fun aCoroutineBesideTheBlockIsNotBelowIt() =
        test {
            val holder = holder("a")
            val beside = launch { lock.withLock("a") { } }
            delay(50.milliseconds)

            assertThat(beside.isActive).isTrue()

            holder.release()
            beside.join()
        }

    @Test
    fun aBlockInRunBlockingBelowItsOwnHoldWaitsForItself() =
        test {
            val impatient = lock.with(LockOptions.defaults().withWaitTimeout(3.seconds))
            val ends =
                lock.withLock("a") {
                    listOf(
                        withContext(otherThreads) { runBlocking { impatient.ends("a") } },
                        withContext(otherThreads) { impatient.ends("a") },
                    )
                }

            assertThat(ends.first()).isInstanceOf(LockTimeoutException::class.java)
            assertThat(ends.last()).isNull()
        }

    @Test
    fun severalLocksAreHeldTogether() =
        test {
            val keys =
                lock.withLock(listOf("b", "a", "b")) { all ->
                    assertThat(isHeld("a") && isHeld("b")).isTrue()
                    all.map { it.key() }
                }

            assertThat(keys).containsExactly("a", "b")
            assertThat(isHeld("a") || isHeld("b")).isFalse()
        }

    @Test
    fun aLockThatIsTakenIsNotWaitedFor() =
        test {
            val holder = holder("b")

            assertThat(lock.tryWithLock("b", { null }) { "under it" }).isNull()
            assertThat(lock.tryWithLock(listOf("a", "b"), { isHeld("a") }) { null }).isFalse()
            assertThat(lock.tryWithLock("b", flowOf("under it"), flowOf("without")).toList()).containsExactly("without")

            holder.release()
            assertThat(lock.tryWithLock("b", { "taken" }) { if (isHeld("b")) null else "free" }).isNull()
            assertThat(lock.tryWithLock(listOf("a", "b"), flowOf("under it"), flowOf("without")).toList())
                .containsExactly("under it")
            assertThat(isHeld("a") || isHeld("b")).isFalse()
        }
}
