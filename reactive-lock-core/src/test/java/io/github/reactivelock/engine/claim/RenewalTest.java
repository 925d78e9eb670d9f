package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Renewals in batches, asked for by hand, and because of a suspicion. */
class RenewalTest {

    private static final Duration TICK = Duration.ofMillis(250);
    private static final Duration THIRD = LEASE.dividedBy(3);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @Test
    void renewalsGoOutInBatchesOfFiveHundred() {
        hold(1_200);

        bench.time.advance(THIRD.plus(TICK));

        assertThat(List.of(
                        store.renewal().claims().size(),
                        store.renewal().claims().size()))
                .containsOnly(500);
        assertThat(store.renewal().claims()).hasSize(200);
    }

    @Test
    void anAnswerThatComesAfterTheDeadlineRevivesNothing() {
        LockHandle handle = hold(1).get(0);
        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> renewal = store.renewal();
        bench.time.pause(VALID.minus(THIRD));

        renewal.answer(ScriptedBackend.renewed(renewal.claims()));

        assertThat(handle.isHeld()).isFalse();
        assertThat(bench.heard.lost)
                .singleElement()
                .satisfies(loss -> assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(store.count("release")).isEqualTo(1);
    }

    @Test
    void aFailedBatchIsSentAgainAtTheNextTickAndHarmsNoOther() {
        List<LockHandle> held = hold(600);
        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> failing = store.renewal();
        Asked<RenewalResult> other = store.renewal();

        failing.fail();
        other.answer(ScriptedBackend.renewed(other.claims()));
        bench.time.advance(TICK);

        Asked<RenewalResult> again = store.renewal();
        assertThat(again.claims()).containsExactlyInAnyOrderElementsOf(failing.claims());
        store.confirmsRenewals = true;
        again.fail();
        bench.time.advance(Duration.ofMinutes(2));
        assertThat(held).allMatch(LockHandle::isHeld);
    }

    @Test
    void aClaimThatTheAnswerLeavesOutIsAskedAboutAgain() {
        List<LockHandle> held = hold(2);
        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> asked = store.renewal();

        asked.answer(ScriptedBackend.renewed(asked.claims().subList(0, 1)));
        bench.time.advance(TICK);

        assertThat(store.renewal().claims()).isEqualTo(asked.claims().subList(1, 2));
        assertThat(held).allMatch(LockHandle::isHeld);
    }

    @Test
    void aRenewalByHandAsksAtOnceAndCompletesWhenConfirmed() {
        LockHandle handle = bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        bench.time.advance(Duration.ofSeconds(20));

        TestSubscriber<Void> renewed = subscribe(handle.renew());
        Asked<RenewalResult> asked = store.renewal();
        assertThat(renewed.isTerminated()).isFalse();
        asked.answer(ScriptedBackend.renewed(asked.claims()));

        assertThat(renewed.isTerminatedComplete()).isTrue();
        assertThat(handle.remaining()).isEqualTo(VALID);
    }

    @Test
    void aRenewalByHandFailsWithTheStore() {
        LockHandle handle = bench.hold("k", 1);

        TestSubscriber<Void> refused = subscribe(handle.renew());
        store.renewal().fail();
        TestSubscriber<Void> silent = subscribe(handle.renew());
        bench.time.advance(Duration.ofMillis(2_250));

        assertThat(refused.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(silent.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(handle.isHeld()).isTrue();
    }

    @Test
    void aRenewalByHandFailsWithTheLoss() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> renewed = subscribe(handle.renew());
        Asked<RenewalResult> asked = store.renewal();

        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.TAKEN_OVER));

        assertLost(renewed, LossReason.TAKEN_OVER);
        assertLost(subscribe(handle.renew()), LossReason.TAKEN_OVER);
    }

    @Test
    void aRenewalByHandOfWhatWasReleasedFails() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> crossed = subscribe(handle.renew());
        subscribe(handle.release());

        assertLost(crossed, LossReason.RELEASED);
        assertLost(subscribe(handle.renew()), LossReason.RELEASED);
    }

    @Test
    void aRenewalThatCrossesTheReleaseRevivesNothing() {
        LockHandle handle = bench.hold("k", 1);
        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> crossed = store.renewal();
        subscribe(handle.release());

        crossed.answer(ScriptedBackend.renewed(crossed.claims()));
        bench.time.advance(Duration.ofMinutes(1));

        assertThat(handle.isHeld()).isFalse();
        assertThat(store.count("renew")).isEqualTo(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aSuspicionIsCheckedWithTheStoreAndNamesTheReason() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());

        store.push(new Signal.Suspect(bench.claimId(0), LossReason.FORCED));
        assertThat(handle.isHeld()).isTrue();
        Asked<RenewalResult> asked = store.renewal();
        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.TAKEN_OVER));

        assertThat(lost.getReceivedOnNext())
                .extracting(LockLostException::reason)
                .containsExactly(LossReason.FORCED);
    }

    @Test
    void aSuspicionThatTheStoreDoesNotConfirmIsForgotten() {
        LockHandle handle = bench.hold("k", 1);
        store.push(new Signal.Suspect(bench.claimId(0), LossReason.FORCED));
        Asked<RenewalResult> asked = store.renewal();
        asked.answer(ScriptedBackend.renewed(asked.claims()));
        assertThat(handle.isHeld()).isTrue();

        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> later = store.renewal();
        later.answer(ScriptedBackend.lost(later.claims(), LossReason.EXPIRED));

        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(LossReason.EXPIRED);
    }

    /** Pushes have a connection of their own. Not asked, the store would say so at the first renewal, or never. */
    @Test
    void aSuspicionThatOvertookTheAnswerToTheClaimIsCheckedToo() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        Asked<ClaimResult> asked = store.claim();

        store.push(new Signal.Suspect(bench.claimId(0), LossReason.FORCED));
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        assertThat(Bench.held(flow).isHeld()).isTrue();
        Asked<RenewalResult> check = store.renewal();
        check.answer(ScriptedBackend.lost(check.claims(), LossReason.TAKEN_OVER));

        assertThat(Bench.held(flow).isHeld()).isFalse();
        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(LossReason.FORCED);
    }

    @Test
    void aSuspicionOfAGrantThatIsOverCostsTheNextOneNothing() {
        TestSubscriber<LockHandle> flow = TestSubscriber.create();
        Claim claim = bench.queue(flow, "k");
        store.push(new Signal.Suspect(claim.id(), LossReason.FORCED));

        store.push(new Signal.Recheck("k"));
        store.claim().answer(ScriptedBackend.granted(claim, 2));

        assertThat(Bench.held(flow).isHeld()).isTrue();
        assertThat(store.count("renew")).isZero();
    }

    @Test
    void aSuspicionThatMeetsARenewalInFlightIsCheckedBehindIt() {
        LockHandle handle = bench.hold("k", 1);
        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> earlier = store.renewal();

        store.push(new Signal.Suspect(bench.claimId(0), LossReason.FORCED));
        earlier.answer(ScriptedBackend.renewed(earlier.claims()));
        Asked<RenewalResult> behind = store.renewal();
        behind.answer(ScriptedBackend.lost(behind.claims(), LossReason.EXPIRED));

        assertThat(handle.isHeld()).isFalse();
        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(LossReason.FORCED);
    }

    @Test
    void theFirstConnectionAsksForWaitsOnlyALaterOneForHoldsToo() {
        bench.hold("k", 1);
        hold(2);
        bench.queue(TestSubscriber.create(), "q");
        store.log.clear();

        store.push(new Signal.Reconnected());
        assertThat(store.log).containsExactly("claim .3");

        store.claim().answer(ScriptedBackend.queued());
        store.push(new Signal.Reconnected());
        assertThat(store.count("claim")).isEqualTo(2);
        assertThat(store.renewal().claims()).as("one batch").hasSize(3);
        assertThat(store.count("renew")).isEqualTo(3);
    }

    @Test
    void anAnswerFromBeforeAReconnectIsNotEnoughForHolds() {
        bench.hold("k", 1);
        store.push(new Signal.Reconnected());
        bench.time.advance(THIRD.plus(TICK));
        Asked<RenewalResult> earlier = store.renewal();

        store.push(new Signal.Reconnected());
        earlier.answer(ScriptedBackend.renewed(earlier.claims()));

        assertThat(store.renewal().claims()).isEqualTo(earlier.claims());
    }

    @Test
    void aStoreThatAnswersNonsenseOnlyFails() {
        LockHandle handle = bench.hold("k", 1);
        bench.time.advance(THIRD.plus(TICK));

        store.renewal().answer(new RenewalResult(Set.of("x"), Map.of("y", LossReason.EXPIRED)));

        assertThat(handle.isHeld()).isTrue();
        bench.time.advance(TICK);
        assertThat(store.count("renew")).isEqualTo(2);
    }

    @CanIgnoreReturnValue
    private List<LockHandle> hold(int number) {
        List<LockHandle> held = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            held.add(bench.hold("k" + i, i + 1));
        }
        return held;
    }

    private static void assertLost(TestSubscriber<Void> flow, LossReason reason) {
        assertThat(flow.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(reason));
    }
}
