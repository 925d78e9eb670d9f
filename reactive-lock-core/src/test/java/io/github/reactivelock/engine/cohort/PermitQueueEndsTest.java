package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** How lanes of a line for permits are kept and end: by loss, silence, timeout, close. */
class PermitQueueEndsTest extends PermitFlows {

    /** When no lane rests any more. */
    private static final Duration AFTER_A_FAILURE = Duration.ofMillis(600);

    private static List<Boolean> failed(List<TestSubscriber<LockHandle>> flows) {
        return flows.stream()
                .map(flow -> flow.isTerminated() && flow.getReceivedOnNext().isEmpty())
                .toList();
    }

    @Test
    void oneThatIsLostLeavesTheOthersAndThoseThatWaitAskAnew() {
        TestSubscriber<Object> work = subscribe(one.withLock("k", Mono.never()));
        Claim claim = grant(5);
        List<TestSubscriber<LockHandle>> flows = flows(3);
        grant(6, 7);

        store.push(new Signal.Suspect(claim.id(), LossReason.FORCED));
        ScriptedBackend.Asked<RenewalResult> renewal = store.renewal();
        renewal.answer(ScriptedBackend.lost(renewal.claims(), LossReason.EXPIRED));

        assertThat(work.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(store.log).contains("release .0").endsWith("claim .3");
        grant(8);
        assertThat(flows).allSatisfy(flow -> assertThat(held(flow).isHeld()).isTrue());
        release(flows);
    }

    @Test
    void eachLaneIsRenewed() {
        store.confirmsRenewals = true;
        List<TestSubscriber<LockHandle>> flows = flows(3);
        grant(5, 6, 7);

        bench.time.advance(Bench.LEASE.multipliedBy(2));

        assertThat(flows).allSatisfy(flow -> assertThat(held(flow).isHeld()).isTrue());
        release(flows);
    }

    @Test
    void whenTheStoreIsSilentAllWaitersFailAndNoClaimIsLeft() {
        List<TestSubscriber<LockHandle>> flows = flows(4);

        bench.time.advance(Bench.LEASE);

        assertThat(flows)
                .allSatisfy(
                        flow -> assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class));
        assertThat(store.log).contains("release .0", "release .1", "release .2");
        assertThat(store.count("release")).isEqualTo(3);
    }

    @Test
    void aFailedClaimEndsOneFlowsWaitAndTheQueueKeepsItsPlaces() {
        List<TestSubscriber<LockHandle>> flows = flows(3);
        Claim first = queue();
        store.claim(); // is never answered
        Claim third = queue();

        bench.time.advance(Bench.LEASE.dividedBy(2));

        assertThat(flows.get(2).expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).contains("release .1").doesNotContain("release .0", "release .2");
        store.push(first, 6);
        store.push(third, 7);
        assertThat(held(flows.get(0)).isHeld()).isTrue();
        release(flows.subList(0, 2));
    }

    @Test
    void aClaimThatFailsBesideOthersThatHoldEndsTheWaitOfOneFlow() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5, 6);
        store.claim().fail();

        assertThat(failed(flows)).containsExactly(false, false, false, false, true);
        release(flows.subList(0, 2));
        assertThat(served(flows)).containsExactly(1, 1, 1, 1, 0);
        bench.time.advance(AFTER_A_FAILURE);
        assertThat(store.log).contains("release .2").doesNotContain("release .0", "release .1");
        release(flows.subList(2, 4));
    }

    @Test
    void aClaimThatFailsBesideUnansweredOnesEndsOneFlowsWait() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        ScriptedBackend.Asked<ClaimResult> first = store.claim();
        store.claim().fail();

        assertThat(failed(flows)).containsExactly(false, false, false, false, true);
        first.answer(granted(first.claim(), 5));
        store.claim().fail();
        assertThat(failed(flows)).containsExactly(false, false, false, true, true);
        release(flows.get(0));
        release(flows.get(1));
        release(flows.get(2));
        bench.time.advance(AFTER_A_FAILURE);
    }

    @Test
    void aGrantThatIsAlwaysTooLateEndsOneFlowsWaitBesideHolders() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5, 6);
        store.confirmsRenewals = true;
        for (int i = 0; i < 3; i++) {
            ScriptedBackend.Asked<ClaimResult> asked = store.claim();
            asked.answer(new ClaimResult.Granted(token(7), Duration.ofMillis(1)));
        }

        assertThat(failed(flows)).containsExactly(false, false, false, false, true);
        release(flows.subList(0, 4));
        bench.time.advance(AFTER_A_FAILURE);
    }

    @Test
    void theLaneThatFailedIsTriedAgainAMomentLater() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5, 6);
        store.claim().fail();
        assertThat(store.log).endsWith("release .2");

        bench.time.advance(AFTER_A_FAILURE);

        assertThat(store.log).endsWith("claim .3");
        grant(8);
        assertThat(served(flows)).containsExactly(1, 1, 1, 0, 0);
        release(flows.subList(0, 4));
    }

    @Test
    void whileTheStoreIsSilentNoClaimReplacesAFailedOne() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(1));
        bench.time.advance(Duration.ofSeconds(1));
        flows.addAll(flows(4));
        assertThat(store.count("claim")).isEqualTo(3);

        bench.time.advance(Duration.ofMillis(2_500));

        assertThat(failed(flows)).containsOnly(true);
        assertThat(store.count("claim")).isEqualTo(3);
        bench.time.advance(AFTER_A_FAILURE);
    }

    @Test
    void theLastFailedClaimEndsAllWaitsAndTheNextFlowAsksAnew() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        for (int i = 0; i < 3; i++) {
            store.claim().fail();
        }
        assertThat(failed(flows)).containsOnly(true);

        List<TestSubscriber<LockHandle>> next = flows(1);
        grant(5);

        assertThat(served(next)).containsExactly(1);
        release(next);
        bench.time.advance(AFTER_A_FAILURE);
    }

    @Test
    void aReturningFlowDoesNotAskBesideAClaimStillBeingReleased() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        grant(5);
        queue();
        store.releasedByHand = "k";
        release(flows.get(0));
        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1");

        List<TestSubscriber<LockHandle>> again = flows(1);
        assertThat(store.log).as("two flows, two claims there").hasSize(3);
        store.release().answer(true);

        assertThat(store.log).endsWith("claim .2");
        grant(6);
        store.releasedByHand = "";
        release(flows.get(1));
        release(again);
    }

    @Test
    void aGrantThatNoFlowWantsAnyMoreCountsUntilItIsGivenBack() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        grant(5);
        ScriptedBackend.Asked<ClaimResult> second = store.claim();
        store.releasedByHand = "k";
        bench.engine.tell(second.claim().id(), inTheMiddleOfAnEvent -> {
            flows.get(1).cancel();
            second.answer(granted(second.claim(), 6));
        });
        assertThat(store.log).endsWith("release .1");

        List<TestSubscriber<LockHandle>> next = flows(1);
        assertThat(store.log).endsWith("release .1");
        store.releasedByHand = "";
        store.release().answer(true);

        assertThat(store.log).endsWith("claim .2");
        grant(7);
        release(flows.get(0));
        release(next);
    }

    @Test
    void aClaimWhoseEndIsNotConfirmedKeepsNobodyWaitingForLong() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        grant(5);
        queue();
        store.releasedByHand = "k";
        release(flows.get(0));
        List<TestSubscriber<LockHandle>> again = flows(1);
        ScriptedBackend.Asked<Boolean> unanswered = store.release();

        bench.time.advance(Duration.ofMillis(2_500));

        assertThat(store.log).contains("claim .2");
        grant(6);
        store.releasedByHand = "";
        unanswered.answer(true);
        release(flows.get(1));
        release(again);
        bench.time.advance(Bench.LEASE);
    }

    @Test
    void aFlowThatCancelsInTheMomentOfTheHandOverIsPassedOver() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        Claim first = grant(5);
        grant(6, 7);

        bench.engine.tell(first.id(), inTheMiddleOfAnEvent -> {
            release(flows.get(0));
            flows.get(3).cancel();
        });

        assertThat(flows.get(3).getReceivedOnNext()).isEmpty();
        assertThat(held(flows.get(4)).fencingToken()).isEqualTo(token(5) + 1);
        assertThat(store.count("release")).isZero();
        release(flows.subList(1, 3));
        release(flows.get(4));
    }

    @Test
    void aLossInTheMomentOfAHandOverIsTheNewHolders() {
        List<TestSubscriber<LockHandle>> flows = flows(4);
        Claim first = grant(5);
        grant(6, 7);
        store.push(new Signal.Suspect(first.id(), LossReason.FORCED));
        ScriptedBackend.Asked<RenewalResult> renewal = store.renewal();

        bench.engine.tell(first.id(), inTheMiddleOfAnEvent -> {
            release(flows.get(0));
            renewal.answer(ScriptedBackend.lost(renewal.claims(), LossReason.EXPIRED));
        });

        assertThat(held(flows.get(3)).isHeld()).as("it was passed on, and lost").isFalse();
        assertThat(store.log).endsWith("release .0");
        assertThat(store.count("claim")).isEqualTo(3);
        release(flows.subList(1, 3));
    }

    @Test
    void aWaitTimeoutEndsTheWaitOfItsFlowAlone() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(3));
        grant(5, 6, 7);
        flows.addAll(flows(one.with(one.options().withWaitTimeout(Duration.ofMillis(5))), 1));
        flows.addAll(flows(1));

        bench.time.advance(Duration.ofMillis(5));
        release(flows.get(0));

        assertThat(flows.get(3).expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(held(flows.get(4)).isHeld()).isTrue();
        release(flows.subList(1, 3));
        release(flows.get(4));
    }

    @Test
    void closingEndsThoseThatHoldAndThoseThatWait() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5);
        queue();

        TestSubscriber<Void> closed = subscribe(bench.client.close());

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(held(flows.get(0)).isHeld()).isFalse();
        assertThat(flows.subList(1, 5))
                .allSatisfy(
                        flow -> assertThat(flow.expectTerminalError()).isInstanceOf(LockClientClosedException.class));
        assertThat(store.count("release")).isEqualTo(3);
    }
}
