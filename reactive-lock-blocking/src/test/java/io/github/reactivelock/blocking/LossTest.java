package io.github.reactivelock.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.Pause;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** A lock that is lost: an interrupt, once, and an exception of its own. */
class LossTest extends Fixture {

    @Test
    void aLossInterruptsTheWorkAndIsThrownToTheCaller() {
        AtomicBoolean interrupted = new AtomicBoolean();

        assertThatThrownBy(() -> locks.withLock("a", () -> {
                    takeAway("a");
                    try {
                        block();
                    } catch (InterruptedException e) {
                        interrupted.set(true);
                        throw e;
                    }
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.FORCED));

        assertThat(interrupted).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void whatTheWorkThrewIsKeptWithTheLoss() {
        assertThatThrownBy(() -> locks.withLock("a", () -> {
                    takeAway("a");
                    try {
                        block();
                    } catch (InterruptedException e) {
                        throw new IOException("the clean-up failed");
                    }
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.getSuppressed()).hasAtLeastOneElementOfType(IOException.class));
    }

    @Test
    void anErrorWhoseCausesAreACircleIsKeptWithTheLoss() throws Exception {
        IOException error = new IOException("the clean-up failed");
        Throwable unused = error.initCause(new IOException("because it failed", error));
        Running<Boolean> work = start(() -> {
            locks.withLock("a", () -> {
                takeAway("a");
                try {
                    block();
                } catch (InterruptedException e) {
                    throw error;
                }
            });
            return true;
        });

        assertThat(work.error()).isInstanceOf(LockLostException.class);
        assertThat(work.error().getSuppressed()).contains(error);
    }

    @Test
    void workThatHeedsNoInterruptEndsInTheLossAllTheSame() {
        assertThatThrownBy(() -> locks.withLock("a", held -> {
                    takeAway("a");
                    Pause.until(
                            "the thread is interrupted",
                            () -> Thread.currentThread().isInterrupted());
                    return held.isHeld();
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aLossLeavesNoInterruptBehind() throws Exception {
        for (int turn = 0; turn < 200; turn++) {
            CountDownLatch in = new CountDownLatch(1);
            Running<Boolean> work = start(() -> {
                try {
                    locks.withLock("a", () -> {
                        in.countDown();
                        for (int i = ThreadLocalRandom.current().nextInt(20_000); i > 0; i--) {
                            Thread.onSpinWait();
                        }
                    });
                } catch (LockLostException e) {
                    assertThat(e.reason()).isEqualTo(LossReason.FORCED);
                }
                boolean isInterrupted = Thread.currentThread().isInterrupted();
                other.withLock("b", Mono.just(true)).block(PATIENCE);
                return isInterrupted || Thread.currentThread().isInterrupted();
            });
            open(in);
            boolean wasInTime = other.forceRelease("a").block(PATIENCE);

            assertThat(work.get()).as("after a loss in time: " + wasInTime).isFalse();
        }
    }

    @Test
    void withoutInterruptsALossShowsInTheHoldAndAtTheEnd() {
        assertThatThrownBy(() -> locks.withoutInterrupts().withLock("a", held -> {
                    takeAway("a");
                    held.handles().get(0).lost().block(PATIENCE);
                    assertThat(held.isHeld()).isFalse();
                    assertThat(held.remaining()).isZero();
                    return null;
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aLossIsThrownThoughTheThreadIsInterrupted() {
        assertThatThrownBy(() -> locks.withoutInterrupts().withLock("a", held -> {
                    takeAway("a");
                    Pause.until("it is lost", () -> !held.isHeld());
                    Thread.currentThread().interrupt();
                    return null;
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void theLossOfOneOfTwoIsThrownThoughTheThreadIsInterrupted() {
        assertThatThrownBy(() -> locks.withoutInterrupts().withLock(List.of("a", "b"), held -> {
                    takeAway("b");
                    Pause.until("it is lost", () -> !held.isHeld());
                    Thread.currentThread().interrupt();
                    return null;
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptOfOthersIsLeftAfterALoss() {
        assertThatThrownBy(() -> locks.withLock("a", held -> {
                    Thread.currentThread().interrupt();
                    takeAway("a");
                    spinUntil("it is lost", () -> !held.isHeld());
                    return null;
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anInterruptThatAWaitInsideGoesThroughIsLeftAfterALoss() throws Exception {
        LockHandle holder = holder("b");
        AtomicReference<HeldLock> outer = new AtomicReference<>();
        Running<Boolean> work = start(() -> {
            assertThatThrownBy(() -> locks.withLock("a", held -> {
                        outer.set(held);
                        locks.asLock("b").lock();
                        return null;
                    }))
                    .isInstanceOf(LockLostException.class);
            return Thread.currentThread().isInterrupted();
        });
        untilOneWaits("b");
        work.thread.interrupt();
        Pause.until("it has seen the interrupt", () -> !work.thread.isInterrupted());
        work.untilItWaits();

        takeAway("a");
        assertThat(outer.get().handles().get(0).lost().block(PATIENCE)).isNotNull();
        release(holder);

        assertThat(work.get()).isTrue();
    }

    @RepeatedTest(20)
    void anInterruptThatAWaitInsideHasJustTakenIsLeftAfterALoss() throws Exception {
        LockHandle first = holder("a");
        LockHandle second = holder("b");
        AtomicReference<Section> outer = new AtomicReference<>();
        Running<Boolean> work = start(() -> {
            Section section = new Section(inside -> inside.apply(List.of(first)), "a", Context.empty(), true);
            HeldLock unused = section.await();
            outer.set(section);
            locks.asLock("b").lock();
            assertThatThrownBy(section::finish).hasMessage("lost");
            return Thread.currentThread().isInterrupted();
        });
        untilOneWaits("b");

        work.thread.interrupt();
        spinUntil("it has seen the interrupt", () -> !work.thread.isInterrupted());
        outer.get().onError(new IllegalStateException("lost"));
        release(second);

        assertThat(work.get()).isTrue();
    }

    @Test
    void aLossDuringAWaitThatInterruptsDoNotEndIsToldAfterIt() throws Exception {
        LockHandle holder = holder("b");
        AtomicReference<HeldLock> outer = new AtomicReference<>();
        Running<Boolean> work = start(() -> {
            assertThatThrownBy(() -> locks.withLock("a", held -> {
                        outer.set(held);
                        locks.asLock("b").lock();
                        spinUntil("it is told", Thread.currentThread()::isInterrupted);
                        return null;
                    }))
                    .isInstanceOf(LockLostException.class);
            return Thread.currentThread().isInterrupted();
        });
        untilOneWaits("b");
        work.untilItWaits();

        takeAway("a");
        assertThat(outer.get().handles().get(0).lost().block(PATIENCE)).isNotNull();
        release(holder);

        assertThat(work.get()).isFalse();
    }

    @Test
    void aHoldThatAnotherThreadClosesLeavesNoInterruptBehind() throws Exception {
        AtomicReference<HeldLock> got = new AtomicReference<>();
        AtomicBoolean closed = new AtomicBoolean();
        Running<Boolean> work = start(() -> {
            assertThatThrownBy(() -> locks.withLock("a", held -> {
                        got.set(held);
                        takeAway("a");
                        spinUntil("another thread has closed it", closed::get);
                        return null;
                    }))
                    .isInstanceOf(LockLostException.class);
            return Thread.currentThread().isInterrupted();
        });
        Pause.until("the thread is interrupted", work.thread::isInterrupted);

        assertThatThrownBy(() -> got.get().close()).isInstanceOf(LockLostException.class);
        closed.set(true);

        assertThat(work.get()).isFalse();
    }

    @RepeatedTest(50)
    void eachOfTwoLossesInterruptsTheWorkOfItsOwn() {
        AtomicBoolean outer = new AtomicBoolean();

        assertThatThrownBy(() -> locks.withLock("a", first -> {
                    assertThatThrownBy(() -> locks.withLock("b", second -> {
                                takeAway("b");
                                Pause.until("the inner one is lost", () -> !second.isHeld());
                                takeAway("a");
                                Pause.until("the outer one is lost", () -> !first.isHeld());
                                return null;
                            }))
                            .isInstanceOf(LockLostException.class);
                    try {
                        block();
                    } catch (InterruptedException e) {
                        outer.set(true);
                    }
                    return null;
                }))
                .isInstanceOf(LockLostException.class);

        assertThat(outer).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aHoldThatTakesTooLongIsLost() {
        BlockingLockClient brief = locks.with(locks.options().withMaxHold(Duration.ofMillis(150)));

        assertThatThrownBy(() -> brief.withLock("a", Fixture::block))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.HELD_TOO_LONG));
    }

    @Test
    void aLossInterruptsWhoAcquiredAndClosingTellsIt() {
        assertThatThrownBy(() -> {
                    try (HeldLock held = locks.acquire("a")) {
                        assertThat(held.isHeld()).isTrue();
                        takeAway("a");
                        block();
                    }
                })
                .isInstanceOf(InterruptedException.class)
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasOnlyElementsOfType(LockLostException.class));

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aLossOfTheOuterLockEndsTheWaitForAnInnerOne() {
        var holder = holder("b");

        assertThatThrownBy(() -> locks.withLock("a", () -> {
                    Running<Boolean> taking = start(() -> {
                        untilOneWaits("b");
                        takeAway("a");
                        return true;
                    });
                    try {
                        locks.withLock("b", () -> {});
                    } finally {
                        assertThat(taking.get()).isTrue();
                    }
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class, loss -> assertThat(loss.key()).isEqualTo("a"));

        untilNoneWaits("b");
        release(holder);
    }

    @Test
    void aClientThatIsClosedInterruptsTheWork() {
        assertThatThrownBy(() -> locks.withLock("a", () -> {
                    Running<?> closing = start(() -> client.close().block(PATIENCE));
                    try {
                        block();
                    } finally {
                        closing.thread.join(PATIENCE.toMillis());
                    }
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.CLIENT_CLOSED));
    }
}
