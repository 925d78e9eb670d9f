package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.SignalsRefusedException;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.test.subscriber.TestSubscriber;

/** A claim that no flow needs is kept for the next one, and given back when another process wants it. */
class RetentionTest {

    private static final Duration KEPT = Duration.ofSeconds(5);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private Bench bench = new Bench();
    private ScriptedBackend store = bench.store;
    private LockClient client = keeping(bench);

    /** A client that keeps locks and hears the store's signals. */
    private LockClient keeping(Bench made) {
        made.store.recalls = true;
        subscribe(made.hold("before", 1).release());
        made.store.push(new Signal.Reconnected());
        made.store.log.clear();
        return made.with(options -> options.withRetention(KEPT));
    }

    private void remake(Bench made) {
        bench = made;
        store = made.store;
        client = keeping(made);
    }

    /** A lock that is kept. */
    private void keep(String key) {
        subscribe(bench.hold(client, key, 2).release());
    }

    private void recall(int claim) {
        store.push(new Signal.Recall(bench.claimId(claim)));
    }

    private LockHandle take(String key) {
        return held(subscribe(client.acquire(key)));
    }

    private void assertGivenBack() {
        assertThat(store.log).endsWith("release .1");
        store.log.clear();
        TestSubscriber<LockHandle> next = subscribe(client.acquire("k"));
        assertThat(next.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .2");
        assertThat(bench.heard.lost).isEmpty();
    }

    @Test
    void theNextFlowHasTheLockAndTheNextTokenWithoutAQuestion() {
        LockHandle first = bench.hold(client, "k", 2);
        TestSubscriber<Void> release = subscribe(first.release());
        LockHandle second = take("k");

        assertThat(release.expectTerminalSignal().isOnComplete()).isTrue();
        assertThat(first.isHeld()).isFalse();
        assertThat(second.fencingToken()).isEqualTo(token(2) + 1);
        subscribe(second.release());
        assertThat(take("k").fencingToken()).isEqualTo(token(2) + 2);
        assertThat(store.log).containsExactly("claim .1");
        assertThat(bench.heard.kept).containsExactly("missed k", "hit k", "hit k");
    }

    @Test
    void itsClaimAsksToBeCalledBackAndNoOtherDoes() {
        subscribe(client.acquire("k"));
        subscribe(bench.client.acquire("l"));

        assertThat(store.claims).extracting(asked -> asked.claim().recallable()).containsExactly(true, false);
    }

    @Test
    void withoutTheOptionNothingIsKept() {
        subscribe(bench.hold("k", 2).release());

        assertThat(store.log).containsExactly("claim .1", "release .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void aRecallGivesBackWhatIsIdle() {
        keep("k");
        recall(1);

        assertThat(bench.heard.kept).endsWith("recalled k");
        assertGivenBack();
    }

    @Test
    void aRecallThatComesWhileAFlowIsInIsRememberedForTheRelease() {
        LockHandle first = bench.hold(client, "k", 2);
        recall(1);
        assertThat(first.isHeld()).isTrue();
        subscribe(first.release());

        assertGivenBack();
    }

    @Test
    void aRecallThatComesBeforeTheGrantsAnswerIsRemembered() {
        TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
        Asked<ClaimResult> asked = store.claim();
        recall(1);
        asked.answer(granted(asked.claim(), 2));
        subscribe(held(flow).release());
        assertThat(bench.heard.kept).containsOnlyOnce("recalled k");
        subscribe(bench.hold(client, "k", 3).release());

        assertThat(store.log).endsWith("claim .2", "release .2");
    }

    @Test
    void aRecalledLockGoesToFlowsOfThisProcessByTheBudgetOnly() {
        LockHandle first = bench.hold(client, "k", 2);
        TestSubscriber<LockHandle> second = subscribe(client.acquire("k"));
        TestSubscriber<LockHandle> third = subscribe(client.acquire("k"));
        recall(1);
        subscribe(first.release());
        bench.time.advance(Duration.ofMillis(50));
        subscribe(held(second).release());

        assertThat(third.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .1", "release .1", "claim .2");
    }

    @Test
    void whileNoOtherWantsItItIsPassedOnWithinItsTime() {
        TestSubscriber<LockHandle> flow = null;
        LockHandle last = bench.hold(client, "k", 2);
        for (int flows = 0; flows < 10; flows++) {
            flow = subscribe(client.acquire("k"));
            bench.time.advance(Duration.ofMillis(500));
            if (flows < 9) {
                subscribe(last.release());
                last = held(flow);
            }
        }
        assertThat(store.log).containsExactly("claim .1");
        bench.time.advance(Duration.ofMillis(500));
        subscribe(last.release());

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .1", "release .1", "claim .2");
    }

    @Test
    void itsTimeBeginsWithTheFirstReleaseAndNotAnew() {
        keep("k");
        bench.time.advance(KEPT.minus(MOMENT));
        subscribe(take("k").release());
        assertThat(store.log).containsExactly("claim .1");
        bench.time.advance(MOMENT);

        assertGivenBack();
    }

    @Test
    void aLongHoldTakesNothingOfItsTime() {
        LockHandle first = bench.hold(client, "k", 2);
        bench.time.advance(Duration.ofSeconds(9));
        subscribe(first.release());
        bench.time.advance(KEPT.minus(MOMENT));

        assertThat(take("k").isHeld()).isTrue();
    }

    @Test
    void whatIsIdleIsNotRenewedAndGoesBackWhenItIsStale() {
        client = bench.with(options -> options.withRetention(Bench.LEASE));
        keep("k");
        bench.time.advance(Duration.ofSeconds(14));
        assertThat(store.log).containsExactly("claim .1");
        bench.time.advance(Duration.ofSeconds(1));

        assertThat(store.count("renew")).isZero();
        assertGivenBack();
    }

    @Test
    void afterAPauseOfTheProcessWhatIsNotFreshGoesToNoFlow() {
        client = bench.with(options -> options.withRetention(Bench.LEASE));
        keep("k");
        bench.time.pause(Duration.ofSeconds(21));
        TestSubscriber<LockHandle> next = subscribe(client.acquire("k"));

        assertThat(next.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .1", "release .1", "claim .2");
        assertThat(bench.heard.lost).isEmpty();
    }

    @Test
    void afterASuspensionOfTheMachineWhatIsNotFreshGoesToNoFlow() {
        client = bench.with(options -> options.withRetention(Bench.LEASE));
        keep("k");
        bench.time.jumpWall(Duration.ofSeconds(21));

        assertThat(subscribe(client.acquire("k")).getReceivedOnNext()).isEmpty();
    }

    @Test
    void whatWasKeptForLongIsNotAtRiskBeforeItsFirstRenewal() {
        client = bench.with(options -> options.withRetention(Bench.LEASE));
        keep("k");
        bench.time.advance(Duration.ofSeconds(14));
        LockHandle taken = take("k");
        bench.time.advance(Duration.ofMillis(250));

        assertThat(store.log).containsExactly("claim .1", "renew .1");
        assertThat(taken.states().blockFirst()).isInstanceOf(HoldState.Safe.class);
    }

    @Test
    void aShortTimeEndsWhenItIsOver() {
        client = bench.with(options -> options.withRetention(Duration.ofMillis(20)));
        keep("k");
        bench.time.advance(Duration.ofMillis(19));
        assertThat(store.log).containsExactly("claim .1");
        bench.time.advance(MOMENT);

        assertGivenBack();
    }

    @Test
    void aReaderThatFindsTheLockKeptAsksOnceWithThoseBeforeIt() {
        store.shares = true;
        LockHandle writing = bench.hold(client, "k", 2);
        TestSubscriber<LockHandle> first = subscribe(bench.client.shared().acquire("k"));
        Asked<ClaimResult> asked = store.claim();
        subscribe(writing.release());
        TestSubscriber<LockHandle> second = subscribe(bench.client.shared().acquire("k"));

        assertThat(store.log).containsExactly("claim .1", "claim .2", "release .1");
        asked.answer(granted(asked.claim(), 3));
        subscribe(held(first).release());
        subscribe(held(second).release());
        assertThat(store.log).endsWith("release .2");
        bench.assertNothingIsLeft();
    }

    @Test
    void aLossThatIsPushedWhileTheLockChangesHandsEndsWhatIsKept() {
        TestSubscriber<LockHandle> trying = subscribe(client.tryAcquire("k"));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), 2));
        LockHandle tried = held(trying);
        // While the release is being handled, so that its event comes behind it.
        store.asksToHear = () -> {
            store.asksToHear = () -> {};
            store.push(new Signal.Suspect(bench.claimId(1), LossReason.FORCED));
        };
        subscribe(tried.release());

        assertGivenBack();
    }

    @Test
    void aRecallThatCrossesTheReleaseOrComesTwiceChangesNothing() {
        keep("k");
        recall(1);
        recall(1);
        TestSubscriber<LockHandle> next = subscribe(client.acquire("k"));
        recall(1);
        Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), 3));
        recall(1);

        assertThat(held(next).isHeld()).isTrue();
        assertThat(bench.heard.kept).containsOnlyOnce("recalled k");
        assertThat(store.log).containsExactly("claim .1", "release .1", "claim .2");
    }

    @Test
    void aRecallOfAnOlderClaimLeavesTheKeptOneAlone() {
        keep("k");
        bench.time.advance(KEPT);
        subscribe(bench.hold(client, "k", 3).release());
        store.log.clear();
        recall(1);
        store.push(new Signal.Recall("somebody.1"));

        assertThat(take("k").fencingToken()).isEqualTo(token(3) + 1);
        assertThat(store.log).isEmpty();
    }

    @Test
    void whatHadToWaitAtTheStoreIsNotKept() {
        TestSubscriber<LockHandle> flow = TestSubscriber.create();
        Claim claim = bench.queue(client, flow, "k");
        store.push(claim, 2);
        subscribe(held(flow).release());

        assertThat(store.log).contains("release .1");
    }

    @Test
    void afterARecallAKeyIsKeptAgainWhenItWasTakenTwice() {
        keep("k");
        recall(1);
        subscribe(bench.hold(client, "k", 3).release());
        assertThat(store.log).endsWith("claim .2", "release .2");
        LockHandle called = bench.hold(client, "k", 4);
        recall(3);
        subscribe(called.release());
        assertThat(store.log).endsWith("claim .3", "release .3");

        assertThat(takenUntilKept()).isEqualTo(4);
        assertThat(store.log).endsWith("claim .7");
        assertThat(take("k").fencingToken()).isEqualTo(token(8) + 1);
    }

    @Test
    void onlyTheLastTwoThatAreNotKeptAskToBeCalledBack() {
        keep("k");
        recall(1);
        assertIsKeptInVainWhenTaken(2);

        List<Boolean> asked = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
            Asked<ClaimResult> claim = store.claim();
            asked.add(claim.claim().recallable());
            claim.answer(granted(claim.claim(), store.ids.size()));
            subscribe(held(flow).release());
        }
        assertThat(asked).containsExactly(false, false, true, true);
    }

    @Test
    void aKeyThatIsKeptInVainIsKeptMoreAndMoreSeldom() {
        keep("k");
        recall(1);

        List.of(2, 4, 8, 16, 32, 64, 64).forEach(this::assertIsKeptInVainWhenTaken);
        assertThat(takenUntilKept()).isEqualTo(64);
        subscribe(take("k").release());
        recall(store.ids.size() - 1);
        assertIsKeptInVainWhenTaken(2);
    }

    private void assertIsKeptInVainWhenTaken(int times) {
        assertThat(takenUntilKept()).isEqualTo(times);
        recall(store.ids.size() - 1);
    }

    private int takenUntilKept() {
        int taken = 0;
        do {
            taken++;
            subscribe(bench.hold(client, "k", store.ids.size() + 1).release());
        } while (store.log.get(store.log.size() - 1).startsWith("release"));
        return taken;
    }

    @Test
    void whatIsOneTooManySendsTheOldestBack() {
        remake(new Bench(settings -> settings.maxRetained(2)));
        keep("a");
        keep("b");
        subscribe(take("a").release());
        keep("c");

        assertThat(store.log).containsExactly("claim .1", "claim .2", "claim .3", "release .2");
        assertThat(take("a").isHeld() && take("c").isHeld()).isTrue();
    }

    @Test
    void nothingIsKeptWhereNothingMayBe() {
        remake(new Bench(settings -> settings.maxRetained(0)));
        keep("k");

        assertGivenBack();
    }

    @Test
    void closeGivesBackWhatIsIdleBeforeAnythingElse() {
        bench.hold("held", 3);
        keep("k");
        store.log.clear();
        TestSubscriber<Void> closed = subscribe(bench.client.close());

        assertThat(store.log).containsExactly("release .2", "release .1", "close");
        assertThat(closed.expectTerminalSignal().isOnComplete()).isTrue();
        bench.assertNothingIsLeft();
    }

    @Test
    void whatIsEndedByForceWhileIdleDisappearsWithoutAWord() {
        keep("k");
        store.push(new Signal.Suspect(bench.claimId(1), LossReason.FORCED));

        assertGivenBack();
    }

    @Test
    void whatTheStoreHasGrantedAnewWhileIdleGoesBack() {
        TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), 2));
        subscribe(held(flow).renew());
        var renewal = store.renewal();
        renewal.answer(ScriptedBackend.renewed(renewal.claims()));
        store.log.remove("renew .1");
        subscribe(held(flow).release());
        store.push(asked.claim(), 2);
        assertThat(store.log).containsExactly("claim .1");
        store.push(asked.claim(), 9);

        assertGivenBack();
    }

    @Test
    void aRenewalUnderWayEndsTheIdleClaimIfItsLockIsGone() {
        LockHandle first = bench.hold(client, "k", 2);
        bench.time.advance(Duration.ofSeconds(11));
        var renewal = store.renewal();
        subscribe(first.release());
        store.log.remove("renew .1");
        renewal.answer(ScriptedBackend.lost(renewal.claims(), LossReason.TAKEN_OVER));

        assertGivenBack();
    }

    @Test
    void whereRecallsMayHaveBeenMissedNothingIsKept() {
        keep("k");
        store.failSignals();
        assertThat(store.log).endsWith("release .1");
        subscribe(bench.hold(client, "k", 3).release());
        assertThat(store.log).endsWith("claim .2", "release .2");
        bench.time.advance(Duration.ofSeconds(1));
        LockHandle held = bench.hold(client, "k", 4);
        store.push(new Signal.Reconnected());
        subscribe(held.release());
        assertThat(store.log).endsWith("release .3");
        subscribe(bench.hold(client, "k", 5).release());

        assertThat(store.log).endsWith("claim .4");
    }

    @Test
    void whereAStoreDoesNotHearRecallsNothingIsKept() {
        store.hears = false;
        subscribe(bench.hold(client, "k", 2).release());

        assertGivenBack();
    }

    @Test
    void whatIsKeptGoesBackSoonAfterItsStoreHearsNoMore() {
        keep("k");
        store.hears = false;
        bench.time.advance(Duration.ofMillis(250));

        assertGivenBack();
    }

    @Test
    void whatIsKeptGoesToNoFlowOnceItsStoreIsOutOfReach() {
        keep("k");
        store.disconnect();

        assertThat(subscribe(client.acquire("k")).getReceivedOnNext()).isEmpty();
    }

    @Test
    void whatIsKeptGoesToNoFlowOnceItsStoreHearsNoMore() {
        keep("k");
        store.hears = false;
        TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .1", "release .1", "claim .2");
    }

    @Test
    void aStoreThatRefusesToPushHasNothingKept() {
        keep("k");
        store.failSignals(new SignalsRefusedException("not allowed", new IllegalStateException()));

        assertThat(store.log).containsExactly("claim .1", "release .1");
    }

    @Test
    void aFlowThatWantsAnotherLeaseMakesWayForItsOwnClaim() {
        wantsItsOwn(options -> options.withoutRetention().withLease(Duration.ofSeconds(7)));
    }

    @Test
    void aFlowInTheStoresOrderMakesWayForItsOwnClaim() {
        wantsItsOwn(options -> options.withoutRetention().withFairness(Fairness.FIFO));
    }

    private void wantsItsOwn(UnaryOperator<LockOptions> change) {
        keep("k");
        TestSubscriber<LockHandle> flow = subscribe(bench.with(change).acquire("k"));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .1", "release .1", "claim .2");
    }

    @Test
    void aFlowWithoutTheOptionTakesWhatIsKeptAndKeepsNothing() {
        keep("k");
        LockHandle other = held(subscribe(bench.client.acquire("k")));
        assertThat(store.log).containsExactly("claim .1");
        subscribe(other.release());

        assertThat(store.log).containsExactly("claim .1", "release .1");
    }

    @Test
    void aTryOfThisProcessTakesWhatIsKeptAndKeepsIt() {
        keep("k");
        LockHandle tried = held(subscribe(client.tryAcquire("k")));
        subscribe(tried.release());
        LockHandle next = held(subscribe(client.tryAcquire("k")));
        TestSubscriber<LockHandle> refused = subscribe(client.tryAcquire("k"));

        assertThat(refused.expectTerminalSignal().isOnComplete()).isTrue();
        assertThat(refused.getReceivedOnNext()).isEmpty();
        subscribe(next.release());
        assertThat(take("k").fencingToken()).isEqualTo(token(2) + 3);
        assertThat(store.log).containsExactly("claim .1");
    }

    @Test
    void aRecallOfWhatATryHasKeptReachesIt() {
        TestSubscriber<LockHandle> tried = subscribe(client.tryAcquire("k"));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), 2));
        subscribe(held(tried).release());
        recall(1);

        assertGivenBack();
    }

    @Test
    void aTryThatCalledTheOwnerBackHasTheLockWhenItComes() {
        TestSubscriber<LockHandle> tried = subscribe(bench.client.tryAcquire("k"));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofMillis(99));
        store.push(asked.claim(), 2);

        assertThat(held(tried).isHeld()).isTrue();
        bench.time.advance(Duration.ofSeconds(1));
        assertThat(held(tried).isHeld()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 200})
    void aTryThatCalledBackIsRefusedInTimeIfNothingComes(long answer) {
        TestSubscriber<LockHandle> tried = subscribe(bench.client.tryAcquire("k"));
        Asked<ClaimResult> asked = store.claim();
        bench.time.advance(Duration.ofMillis(answer));
        asked.answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofMillis(99 + 3 * answer));
        assertThat(tried.isTerminated()).isFalse();
        bench.time.advance(MOMENT);

        assertThat(tried.expectTerminalSignal().isOnComplete()).isTrue();
        assertThat(store.log).containsExactly("claim .1", "release .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void aTryWhoseTimeIsUpBeforeThatIsRefusedAndNotTimedOut() {
        LockClient impatient = bench.with(options -> options.withWaitTimeout(Duration.ofMillis(10)));
        TestSubscriber<LockHandle> tried = subscribe(impatient.tryAcquire("k"));
        store.claim().answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofMillis(10));

        assertThat(tried.expectTerminalSignal().isOnComplete()).isTrue();
        assertThat(store.log).containsExactly("claim .1", "release .1");
    }

    /** Another process keeps the lock for nine seconds more. */
    private void anotherKeepsIt() {
        LockInfo kept =
                new LockInfo.Held("k", "b", token(2), Duration.ofSeconds(9), 0, Duration.ZERO, List.of(), null, true);
        store.events = Flux.concat(Flux.just(new LockEvent.Snapshot(kept)), Flux.never());
    }

    @Test
    void aWaitForAReleaseCallsBackOnceThereIsAConnection() {
        anotherKeepsIt();
        store.disconnect();
        subscribe(client.awaitRelease("k"));
        assertThat(store.log).isEmpty();

        store.connect();

        assertThat(store.log).containsExactly("recall k");
    }

    @Test
    void aLateRecallDoesNotDelayTheLookAtTheLeasesEnd() {
        anotherKeepsIt();
        store.disconnect();
        TestSubscriber<Void> awaited = subscribe(client.awaitRelease("k"));
        bench.time.advance(Duration.ofSeconds(8));
        store.connect();
        assertThat(store.log).isEmpty();

        bench.time.advance(Duration.ofSeconds(1));

        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void whatContradictsItIsRefused() {
        refuses("Fairness.FIFO", options -> options.withFairness(Fairness.FIFO));
        refuses("minHold", options -> options.withMinHold(Duration.ofSeconds(1)));
        refuses("not renewed", LockOptions::withoutRenewal);
        refuses("longer than the lease", options -> options.withLease(Duration.ofSeconds(4)));
        assertThatThrownBy(() -> bench.sharing(client, Share.ONE).with(client.options()))
                .hasMessageContaining("a retention of PT5S cannot be: only a lock that is not shared");
    }

    private void refuses(String why, UnaryOperator<LockOptions> change) {
        LockOptions both = change.apply(client.options());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.with(both))
                .withMessageContaining("a retention of PT5S cannot be: ")
                .withMessageContaining(why)
                .withMessageEndingWith("or withoutRetention()");
    }

    @Test
    void aStoreThatCannotCallBackRefusesIt() {
        store.recalls = false;
        LockOptions options = client.options();

        for (ThrowingCallable made : List.<ThrowingCallable>of(
                () -> bench.client.with(options),
                () -> bench.over(store).options(options).build())) {
            assertThatThrownBy(made)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage("ScriptedBackend cannot call a lock back that is kept; leave withRetention out, or use"
                            + " another store");
        }
    }
}
