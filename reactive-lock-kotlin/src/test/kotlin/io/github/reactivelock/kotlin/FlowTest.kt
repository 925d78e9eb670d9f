package io.github.reactivelock.kotlin

import io.github.reactivelock.LockLostException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.onCompletion
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import java.util.Collections

/** A flow under a lock. */
class FlowTest : Fixture() {
    @Test
    fun valuesComeWhileTheLockIsHeldAndTheCompletionAfterTheRelease() =
        test {
            val seen = mutableListOf<String>()

            lock
                .withLock("a", flowOf(1, 2))
                .onCompletion { seen += "end ${isHeld("a")}" }
                .collect { seen += "$it ${isHeld("a")}" }

            assertThat(seen).containsExactly("1 true", "2 true", "end false")
        }

    @Test
    fun eachCollectionAndNothingBeforeItAsksForAHold() =
        test {
            val tokens =
                lock.withLock("a", flow { emit(client.inspect("a").awaitSingle().toString()) })
            assertThat(isHeld("a")).isFalse()

            assertThat(tokens.toList()).isNotEqualTo(tokens.toList())
        }

    @Test
    fun twoCollectionsExcludeOneAnother() =
        test {
            val seen = Collections.synchronizedList(mutableListOf<Int>())
            val work =
                lock.withLock(
                    "a",
                    flow {
                        seen += 1
                        emit(1)
                        repeat(20) { yield() }
                        seen += 2
                    },
                )
            listOf(launch { work.collect() }, launch { work.collect() }).forEach { it.join() }

            assertThat(seen).containsExactly(1, 2, 1, 2)
        }

    @Test
    fun aCollectorThatHasEnoughOrFailsReleases() =
        test {
            assertThat(lock.withLock("a", flowOf(1, 2)).take(1).toList()).containsExactly(1)
            assertThat(isHeld("a")).isFalse()

            val failed = runCatching { lock.withLock("a", flowOf(1)).collect { error("the collector failed") } }
            assertThat(failed.exceptionOrNull()).hasMessage("the collector failed")
            assertThat(isHeld("a")).isFalse()
        }

    @Test
    fun aLossCancelsTheWorkAndIsThrownToTheCollector() =
        test {
            var ended: Throwable? = null
            val endless =
                flow<Int> {
                    client.forceRelease("a").awaitSingle()
                    awaitCancellation()
                }.onCompletion { ended = it }

            val seen = runCatching { lock.withLock("a", endless).collect() }.exceptionOrNull()

            assertThat(seen).isInstanceOf(LockLostException::class.java)
            assertThat(ended).hasRootCause(seen)
        }

    @Test
    fun aLossCancelsTheCollectorToo() =
        test {
            val seen =
                runCatching {
                    lock.withLock("a", flowOf(1)).collect {
                        client.forceRelease("a").awaitSingle()
                        awaitCancellation()
                    }
                }.exceptionOrNull()

            assertThat(seen).isInstanceOf(LockLostException::class.java)
        }

    @Test
    fun theWorkIsBelowTheHoldOnAnyDispatcherAndThroughAChannel() =
        test {
            val reentrant = flow { emit(lock.withLock("a") { it.isHeld }) }
            val works =
                listOf(reentrant, reentrant.flowOn(otherThreads), channelFlow { send(lock.withLock("a") { it.isHeld }) })

            for (work in works) {
                assertThat(lock.withLock(listOf("a", "b"), work).toList()).containsExactly(true)
            }
        }

    @Test
    fun aFlowUnderALockMayBeCollectedElsewhere() =
        test {
            val collected = CompletableDeferred<List<Int>>()
            launch { collected.complete(lock.withLock("a", flowOf(1, 2, 3)).flowOn(otherThreads).toList()) }

            assertThat(collected.await()).containsExactly(1, 2, 3)
        }

    @Test
    fun badKeysAreRefusedWhenTheFlowIsMade() {
        assertThatThrownBy { lock.withLock("", flowOf(1)) }.isInstanceOf(IllegalArgumentException::class.java)
        assertThatThrownBy { lock.withLock(emptyList(), flowOf(1)) }.isInstanceOf(IllegalArgumentException::class.java)
    }

    private suspend fun Flow<*>.collect() = collect { }
}
