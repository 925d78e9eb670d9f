package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/** How a withLock ends when its lock is lost. */
class WithLockLossTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final List<Object> discarded = new ArrayList<>();
    private final IllegalStateException own = new IllegalStateException("the work's own");

    @Test
    void theWorksOwnErrorIsNotHiddenByALossThatNobodyNoticedYet() {
        Sinks.One<String> work = Sinks.one();
        TestSubscriber<String> flow = locked(work.asMono());
        bench.time.pause(VALID);

        work.emitError(own, Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(flow.expectTerminalError()).isSameAs(own);
    }

    @Test
    void aLossCancelsTheWorkBeforeTheLockIsGivenUpAndFails() {
        List<String> order = new ArrayList<>();
        TestSubscriber<String> flow = subscribe(bench.with(LockOptions::withoutRenewal)
                .withLock("k", Mono.<String>never().doOnCancel(() -> order.addAll(store.log))));
        grant();
        assertThat(flow.isTerminated()).isFalse();

        bench.time.advance(LEASE);

        assertThat(order).as("sent before the cancel").containsExactly("claim .0");
        assertThat(store.log).containsExactly("claim .0", "release .0");
        assertThat(flow.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(bench.heard.lost).hasSize(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aLossIsToldOnTheWorkScheduler() {
        TestSubscriber<String> flow = locked(Mono.never());
        TestSubscriber<LockHandle> acquired = TestSubscriber.create();
        bench.queue(acquired, "l");
        bench.work.shut();

        bench.time.advance(LEASE);

        assertThat(flow.isTerminated()).isFalse();
        bench.work.open();
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aSubscriberThatCancelsWhileALossIsUnderWaySeesNothing() {
        TestSubscriber<String> flow = locked(Mono.never());
        bench.work.shut();
        bench.time.advance(LEASE);

        flow.cancel();
        bench.work.open();

        assertThat(flow.isTerminated()).isFalse();
    }

    @Test
    void aValueThatComesAfterTheDeadlineIsDiscardedThoughNoTimerRan() {
        Sinks.One<String> work = Sinks.one();
        TestSubscriber<String> flow = locked(work.asMono());
        bench.time.pause(VALID);

        work.emitValue("late", Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(discarded).containsExactly("late");
    }

    @Test
    void workThatCompletesEmptyAfterTheDeadlineFails() {
        Sinks.Empty<String> work = Sinks.empty();
        TestSubscriber<String> flow = locked(work.asMono());
        bench.time.pause(VALID);

        work.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aGrantThatIsDeliveredTooLateStartsNoWork() {
        AtomicBoolean began = new AtomicBoolean();
        bench.work.shut();
        TestSubscriber<String> flow = locked(Mono.fromRunnable(() -> began.set(true)));
        bench.time.pause(VALID);

        bench.work.open();

        assertThat(began).isFalse();
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aValueIsDiscardedWhenTheLockIsLostBeforeTheWorkCompletes() {
        TestPublisher<String> work = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        TestSubscriber<String> flow = locked(Mono.fromDirect(work));
        work.next("v");

        bench.time.advance(LEASE);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(discarded).containsExactly("v");
    }

    @Test
    void anErrorAfterALossIsDroppedNotLost() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            TestPublisher<String> work = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
            TestSubscriber<String> flow = locked(Mono.fromDirect(work));
            bench.time.advance(LEASE);

            work.error(own);

            assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
            assertThat(dropped).containsExactly(own);
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    /** A flow whose lock is granted at once. */
    private TestSubscriber<String> locked(Mono<String> work) {
        TestSubscriber<String> flow =
                subscribe(bench.client.withLock("k", work).doOnDiscard(Object.class, discarded::add));
        grant();
        return flow;
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }
}
