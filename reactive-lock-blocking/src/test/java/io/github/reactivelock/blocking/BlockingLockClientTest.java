package io.github.reactivelock.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.testkit.FaultyBackend;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What a thread gets and leaves behind. */
class BlockingLockClientTest extends Fixture {

    @Test
    void theWorkRunsUnderTheLockOnItsCallersThread() throws Exception {
        Thread caller = Thread.currentThread();

        long token = locks.withLock("a", held -> {
            assertThat(Thread.currentThread()).isSameAs(caller);
            assertThat(isHeld("a")).isTrue();
            assertThat(held.isHeld()).isTrue();
            assertThat(held.remaining()).isPositive();
            return held.fencingToken();
        });

        assertThat(token).isPositive();
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void whatTheWorkThrowsComesOutAfterTheRelease() {
        IOException thrown = new IOException("the work failed");

        assertThatThrownBy(() -> locks.withLock("a", () -> {
                    throw thrown;
                }))
                .isSameAs(thrown)
                .hasNoSuppressedExceptions();
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void aResultMayBeNull() throws Exception {
        assertThat(locks.<Object, RuntimeException>withLock("a", held -> null)).isNull();
    }

    @Test
    void whereTheLockIsTakenSomethingElseIsCalled() throws Exception {
        LockHandle holder = holder("a");

        String instead = locks.tryWithLock("a", held -> "the work", () -> "something else");
        assertThat(instead).isEqualTo("something else");
        assertThat(locks.tryWithLock("a", () -> {})).isFalse();
        assertThat(locks.tryAcquire("a")).isEmpty();

        release(holder);
        String done = locks.tryWithLock("a", held -> "the work", () -> "something else");
        assertThat(done).isEqualTo("the work");
        assertThat(locks.tryWithLock("a", () -> {})).isTrue();
    }

    @Test
    void severalKeysAreHeldTogetherInTheirOrder() throws Exception {
        locks.withLock(List.of("b", "a"), held -> {
            assertThat(held.handles()).extracting(LockHandle::key).containsExactly("a", "b");
            assertThat(isHeld("a") && isHeld("b") && held.isHeld()).isTrue();
            assertThatThrownBy(held::fencingToken)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("2 keys");
            return null;
        });

        assertThat(isHeld("a") || isHeld("b")).isFalse();
    }

    @Test
    void readersAreInTogetherAndKeepAWriterOut() throws Exception {
        locks.shared()
                .withLock(
                        "a",
                        () -> locks.shared()
                                .withLock(
                                        "a",
                                        () -> assertThat(locks.tryWithLock("a", () -> {}))
                                                .isFalse()));
    }

    @Test
    void permitsAreCounted() throws Exception {
        BlockingLockClient two = locks.permits(1, 2);

        two.withLock(
                "a",
                () -> two.withLock(
                        "a", () -> assertThat(two.tryWithLock("a", () -> {})).isFalse()));
    }

    @Test
    void aWaitThatIsTooLongEndsAndLeavesNothing() {
        LockHandle holder = holder("a");
        BlockingLockClient hasty = locks.with(locks.options().withWaitTimeout(Duration.ofSeconds(3)));

        assertThatThrownBy(() -> hasty.acquire("a"))
                .isInstanceOf(LockTimeoutException.class)
                .satisfies(thrown -> assertThat(thrown.getSuppressed()[0].getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(BlockingLockClientTest.class.getName())));

        untilNoneWaits("a");
        release(holder);
    }

    @Test
    void anInterruptWhileWaitingLeavesNothingAtTheStore() throws Exception {
        LockHandle holder = holder("a");
        Running<Boolean> waiter = start(() -> {
            locks.withLock("a", () -> {});
            return true;
        });
        untilOneWaits("a");

        waiter.thread.interrupt();

        assertThat(waiter.error()).isInstanceOf(InterruptedException.class);
        untilNoneWaits("a");
        release(holder);
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void aThreadThatIsInterruptedAlreadyAsksForNothing() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> locks.acquire("a")).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void aGrantThatCrossesAnInterruptIsGivenBack() throws Exception {
        for (int turn = 0; turn < 200; turn++) {
            LockHandle holder = holder("a");
            Running<Boolean> waiter = start(() -> {
                locks.withLock("a", () -> {});
                return true;
            });
            untilOneWaits("a");
            Mono<Void> release = holder.release();
            Running<Boolean> releasing = start(() -> {
                release.block(PATIENCE);
                return true;
            });
            for (int i = ThreadLocalRandom.current().nextInt(2_000); i > 0; i--) {
                Thread.onSpinWait();
            }
            waiter.thread.interrupt();

            assertThat(releasing.get()).isTrue();
            waiter.thread.join(PATIENCE.toMillis());
            untilFree("a");
        }
    }

    @Test
    void anInterruptOfAnotherDuringTheWorkIsTheWorks() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Running<Boolean> work = start(() -> locks.withLock("a", held -> {
            begun.countDown();
            block();
            return true;
        }));
        open(begun);

        work.thread.interrupt();

        assertThat(work.error()).isInstanceOf(InterruptedException.class);
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void anInterruptThatIsLeftOverStaysAndTheReleaseGoesOn() throws Exception {
        String result = locks.withLock("a", held -> {
            Thread.currentThread().interrupt();
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(Thread.interrupted()).isTrue();
        untilFree("a");
    }

    @Test
    void aHoldIsClosedOnceOnAnyThread() throws Exception {
        HeldLock held = locks.acquire("a");
        assertThat(isHeld("a")).isTrue();

        assertThat(start(() -> {
                            held.close();
                            return held.isHeld();
                        })
                        .get())
                .isFalse();
        LockHandle next = holder("a");
        held.close();

        assertThat(next.isHeld()).isTrue();
        release(next);
    }

    @Test
    void workThatClosesItsHoldEarlyIsOutThen() throws Exception {
        boolean isStillHeld = locks.withLock("a", held -> {
            held.close();
            return isHeld("a");
        });

        assertThat(isStillHeld).isFalse();
    }

    @Test
    void whoClosedItsHoldInsideAndIsInterruptedDoesNotWaitForTheRelease() throws Exception {
        Sinks.Empty<Void> answers = Sinks.empty();
        FaultyBackend slow = new FaultyBackend(InMemoryLockBackend.create());
        slow.onRelease(release -> answers.asMono().then(release));
        LockClient waiting = LockClient.builder(slow)
                .commandTimeout(PATIENCE.multipliedBy(3))
                .build();
        try {
            Running<Boolean> work = start(() -> BlockingLockClient.of(waiting).withLock("a", held -> {
                Thread.currentThread().interrupt();
                held.close();
                return Thread.currentThread().isInterrupted();
            }));

            assertThat(work.get()).isTrue();
        } finally {
            answers.tryEmitEmpty();
            waiting.close().block(PATIENCE);
        }
    }

    @Test
    void codeThatIsGivenTheHoldJoinsIt() throws Exception {
        locks.withLock("a", held -> {
            BlockingLockClient inside = locks.within(held.context());
            long token = held.fencingToken();

            assertThat(inside.<Long, RuntimeException>withLock("a", again -> again.fencingToken()))
                    .isEqualTo(token);
            assertThat(start(() -> inside.tryWithLock("a", () -> {})).get()).isTrue();
            assertThat(isHeld("a")).isTrue();
            return null;
        });

        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void reactiveCodeInsideJoinsTheHoldAndTheOtherWayRound() throws Exception {
        assertThat(locks.<String, RuntimeException>withLock(
                        "a",
                        held -> client.withLock("a", Mono.just("joined"))
                                .contextWrite(held.context())
                                .block(PATIENCE)))
                .isEqualTo("joined");

        Mono<Boolean> work = Mono.deferContextual(
                context -> Mono.fromCallable(() -> locks.within(context).tryWithLock("a", () -> {})));
        assertThat(client.withLock("a", work).block(PATIENCE)).isTrue();
    }

    @Test
    void whoAsksForAllBelowAShareIsRefused() throws Exception {
        locks.shared().withLock("a", held -> {
            assertThatThrownBy(() -> locks.within(held.context()).acquire("a"))
                    .isInstanceOf(IllegalStateException.class);
            return null;
        });
    }

    @Test
    void badArgumentsAreRefusedAtOnce() {
        assertThatThrownBy(() -> locks.acquire(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> locks.asLock("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> locks.withLock(List.of(), held -> null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> locks.with(
                        LockOptions.defaults().withMinHold(Duration.ofDays(1)).withMaxHold(Duration.ofSeconds(1))))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
