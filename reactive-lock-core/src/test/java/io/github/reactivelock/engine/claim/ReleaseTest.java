package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Giving a lock up, and what comes of it when the store does not answer. */
class ReleaseTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @BeforeEach
    void releasesAreAnsweredByHand() {
        store.confirmsReleases = false;
    }

    @Test
    void aReleaseIsColdAndSentOnceAndReplaysItsOutcome() {
        LockHandle handle = bench.hold("k", 1);
        Mono<Void> release = handle.release();
        assertThat(store.count("release")).isZero();

        TestSubscriber<Void> first = subscribe(release);
        TestSubscriber<Void> second = subscribe(release);
        TestSubscriber<Void> third = subscribe(handle.release());
        assertThat(handle.isHeld()).isFalse();
        assertThat(first.isTerminated()).isFalse();
        store.release().answer(true);
        TestSubscriber<Void> late = subscribe(handle.release());

        assertThat(store.count("release")).isEqualTo(1);
        assertThat(first.isTerminatedComplete()).isTrue();
        assertThat(second.isTerminatedComplete()).isTrue();
        assertThat(third.isTerminatedComplete()).isTrue();
        assertThat(late.isTerminatedComplete()).isTrue();
        bench.assertNothingIsLeft();
    }

    @Test
    void aReleaseThatFailsReplaysItsFailure() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> first = subscribe(handle.release());
        store.release().fail();

        assertThat(first.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("the store refused");
        assertThat(subscribe(handle.release()).expectTerminalError()).isSameAs(first.expectTerminalError());
    }

    @Test
    void cancellingAReleaseDoesNotStopIt() {
        LockHandle handle = bench.hold("k", 1);
        subscribe(handle.release()).cancel();
        store.release().answer(true);

        assertThat(subscribe(handle.release()).isTerminatedComplete()).isTrue();
        bench.assertNothingIsLeft();
    }

    @Test
    void theReleaseOfWhatTheStoreNoLongerKnowsIsALoss() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());

        store.release().answer(false);

        assertThat(released.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(bench.heard.lost).hasSize(1);
        assertThat(bench.heard.released).isEmpty();
    }

    @Test
    void theReleaseOfWhatWasLostSaysSoAndAsksNothingMore() {
        LockHandle handle = bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        bench.time.advance(LEASE);
        store.release().answer(true);

        TestSubscriber<Void> released = subscribe(handle.release());

        assertThat(released.expectTerminalError()).isSameAs(bench.heard.lost.get(0));
        assertThat(subscribe(handle.release()).expectTerminalError()).isSameAs(released.expectTerminalError());
        assertThat(store.count("release")).isEqualTo(1);
        assertThat(bench.heard.lost).hasSize(1);
    }

    @Test
    void aReleaseThatTheStoreRefusesIsRepeatedUntilItIsConfirmed() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());
        for (int refused = 0; refused < 5; refused++) {
            store.release().fail();
            bench.time.advance(Duration.ofSeconds(1));
        }
        store.release().answer(true);
        bench.time.advance(LEASE);

        assertThat(released.isTerminatedError()).isTrue();
        assertThat(store.count("release")).isEqualTo(6);
        assertThat(bench.heard.unreleased).as("told once").hasSize(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aReleaseThatIsNeverConfirmedIsRepeatedForALeaseAndNoLonger() {
        LockHandle handle = bench.hold("k", 1);
        long began = bench.time.nanos();
        subscribe(handle.release());
        long last = began;
        for (int seconds = 0; seconds < 60; seconds++) {
            if (store.count("release") > 0) {
                last = bench.time.nanos();
                store.log.clear();
                store.release().fail();
            }
            bench.time.advance(Duration.ofSeconds(1));
        }

        assertThat(Duration.ofNanos(last - began)).isBetween(LEASE.minusSeconds(3), LEASE);
        bench.assertNothingIsLeft();
    }

    @Test
    void silenceIsAFailureOfTheReleaseAndItIsRepeated() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());
        Asked<Boolean> silent = store.release();

        bench.time.advance(Duration.ofMillis(2_500));

        assertThat(released.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("2000 ms");
        assertThat(store.count("release")).isEqualTo(2);
        silent.answer(true);
        bench.time.advance(LEASE);
        assertThat(store.count("release")).as("the late answer was enough").isEqualTo(2);
        bench.assertNothingIsLeft();
    }

    @Test
    void theNextFlowDoesNotWaitForTheAnswer() {
        LockHandle handle = bench.hold(bench.with(o -> o.withFairness(Fairness.FIFO)), "k", 1);
        subscribe(handle.release());

        assertThat(bench.hold("k", 2).isHeld()).isTrue();
        assertThat(store.log).containsExactly("claim .0", "release .0", "claim .1");
    }

    @Test
    void aGrantThatComesAfterTheReleaseIsReleasedAgain() {
        TestSubscriber<LockHandle> flow = TestSubscriber.create();
        bench.queue(flow, "k");
        store.push(new Signal.Recheck("k"));
        Asked<ClaimResult> late = store.claim();
        store.push(late.claim(), 1);
        subscribe(Bench.held(flow).release());
        store.release().answer(true);

        late.answer(ScriptedBackend.granted(late.claim(), 2));

        assertThat(store.release().claim()).isEqualTo(late.claim());
        assertThat(bench.heard.acquired).hasSize(1);
    }

    @Test
    void aReleaseAfterTheDeadlineAsksTheStoreWhichKnowsBest() {
        LockHandle handle = bench.hold("k", 1);
        bench.time.pause(VALID);
        TestSubscriber<Void> released = subscribe(handle.release());

        store.release().answer(false);

        assertThat(released.expectTerminalError()).isInstanceOf(LockLostException.class);
        bench.time.advance(Duration.ofSeconds(1));
        bench.assertNothingIsLeft();
    }

    @Test
    void aReleasedHoldCannotBeLost() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());
        subscribe(handle.release());
        bench.time.advance(LEASE.multipliedBy(2));

        assertThat(lost.isTerminatedComplete()).isTrue();
        assertThat(lost.getReceivedOnNext()).isEmpty();
        assertThat(bench.heard.lost).isEmpty();
    }

    @Test
    void aTokenAndAKeyOutliveTheHold() {
        LockHandle handle = bench.hold("k", 3);
        subscribe(handle.release());

        assertThat(handle.fencingToken()).isEqualTo(ScriptedBackend.token(3));
        assertThat(handle.key()).isEqualTo("k");
        assertThat(handle.remaining()).isZero();
        assertThat(handle).hasToString("LockHandle[key=k, fencingToken=12288, held=false]");
    }
}
