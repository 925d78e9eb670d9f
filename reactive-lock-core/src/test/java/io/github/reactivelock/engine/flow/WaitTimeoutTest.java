package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Door;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.engine.cohort.EngineInside;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** How long a flow waits, and for what: for others, or for a store that says nothing. */
class WaitTimeoutTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient patient = bench.with(o -> o.withWaitTimeout(TIMEOUT));
    private final TestSubscriber<LockHandle> flow = TestSubscriber.create();

    @BeforeEach
    void thereWasAnAnswer() {
        bench.engine.services.gate.opening.answered();
    }

    @Test
    void aFlowThatIsNotServedInTimeLeavesTheQueue() {
        bench.queue(patient, flow, "k");

        bench.time.advance(TIMEOUT.minusNanos(1));
        assertThat(flow.isTerminated()).isFalse();
        bench.time.advance(Duration.ofNanos(1));

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("'k'")
                .hasMessageContaining("1000 ms");
        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void theWaitInTheProcessCountsToo() {
        LockHandle handle = bench.hold("k", 1);
        patient.acquire("k").subscribe(flow);

        bench.time.advance(TIMEOUT);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.log).containsExactly("claim .0");
        subscribe(handle.release());
        bench.assertNothingIsLeft();
    }

    /** One that wants another lease has a claim of its own, which is new when the hold of its process ends. */
    @Test
    void aClaimMadeShortlyBeforeTheEndDoesNotHideWhoHadTheLock() {
        LockHandle handle = bench.hold("k", 1);
        bench.with(o -> o.withWaitTimeout(TIMEOUT).withLease(LEASE.multipliedBy(2)))
                .acquire("k")
                .subscribe(flow);

        bench.time.advance(TIMEOUT.minusMillis(10));
        subscribe(handle.release());
        bench.time.advance(Duration.ofMillis(10));

        assertThat(store.log).contains("claim .1");
        assertThat(flow.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void theTimeTheStoreTakesToAnswerCountsToo() {
        patient.tryAcquire("k").subscribe(flow);

        bench.time.advance(TIMEOUT);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).containsExactly("claim .0", "release .0");
    }

    @Test
    void whereTheStoreSaidNothingItIsNotSaidThatAnotherHasTheLock() {
        patient.acquire("k").subscribe(flow);
        TestSubscriber<LockHandle> behind = subscribe(patient.acquire("k"));

        bench.time.advance(TIMEOUT);

        assertThat(List.of(flow, behind))
                .allSatisfy(each -> assertThat(each.expectTerminalError())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasRootCauseMessage("the store did not answer within 1000 ms: look at the server of 'k'"));
        bench.assertNothingIsLeft();
    }

    @Test
    void norWhereThereIsNoConnection() {
        store.disconnect();
        patient.acquire("k").subscribe(flow);

        bench.time.advance(TIMEOUT);

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasRootCauseMessage(
                        "there was no connection to the store for 1000 ms: look whether the scripted store is up and"
                                + " reachable");
    }

    @Test
    void norBySemaphoresOfWhichNoClaimWasAnswered() {
        Door.client(bench.engine, Door.share(patient.options(), Share.permits(1, 2)))
                .acquire("k")
                .subscribe(flow);

        bench.time.advance(TIMEOUT);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void whoWaitsBehindFlowsThatHaveAllPermitsHearsThatOthersHaveThem() {
        LockClient one = permits(2);
        bench.hold(one, "k", 1);
        bench.hold(one, "k", 2);
        one.acquire("k").subscribe(flow);

        bench.time.advance(TIMEOUT);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void onePermitInUseSaysNothingOfTheOthersWhileTheStoreIsSilent() {
        LockClient one = permits(2);
        LockHandle handle = bench.hold(one, "k", 1);
        one.acquire("k").subscribe(flow);
        TestSubscriber<LockHandle> behind = subscribe(one.acquire("k"));

        bench.time.advance(TIMEOUT);

        assertUnavailable(flow);
        assertUnavailable(behind);
        subscribe(handle.release());
        bench.assertNothingIsLeft();
    }

    @Test
    void norDoesItWhenItIsPassedOnMeanwhile() {
        LockClient one = permits(2);
        LockHandle handle = bench.hold(one, "k", 1);
        TestSubscriber<LockHandle> next = subscribe(one.acquire("k"));
        one.acquire("k").subscribe(flow);

        subscribe(handle.release());
        bench.time.advance(TIMEOUT);

        assertThat(Bench.held(next).isHeld()).isTrue();
        assertUnavailable(flow);
    }

    /**
     * The claims that were left are known to the store until it has confirmed their ends, so there is none for another
     * flow.
     */
    @Test
    void permitsWhoseEndTheStoreHasNotConfirmedAreNotSaidToBeTaken() {
        store.confirmsReleases = false;
        List.of(subscribe(permits(2).acquire("k")), subscribe(permits(2).acquire("k")))
                .forEach(TestSubscriber::cancel);
        permits(2).acquire("k").subscribe(flow);

        bench.time.advance(TIMEOUT);

        assertThat(store.log).containsExactlyInAnyOrder("claim .0", "claim .1", "release .0", "release .1");
        assertUnavailable(flow);
    }

    private LockClient permits(int capacity) {
        return Door.client(bench.engine, Door.share(patient.options(), Share.permits(1, capacity)));
    }

    private static void assertUnavailable(TestSubscriber<LockHandle> flow) {
        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    // ---- slow threads, as in a JVM whose classes are cold

    @ParameterizedTest
    @EnumSource(Fairness.class)
    void aGrantThatIsBeingHandledWhenTheTimeIsUpIsDelivered(Fairness fairness) {
        LockClient client = Door.client(bench.engine, patient.options().withFairness(fairness));
        client.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();

        EngineInside.inAnEventOf(bench.engine, asked.claim().id(), inTheMiddleOfAnEvent -> {
            asked.answer(ScriptedBackend.granted(asked.claim(), 1));
            bench.time.advance(TIMEOUT);
        });

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void aTryThatIsBeingAnsweredWhenTheTimeIsUpHearsTheAnswer() {
        patient.tryAcquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();

        EngineInside.inAnEventOf(bench.engine, asked.claim().id(), inTheMiddleOfAnEvent -> {
            asked.answer(new ClaimResult.Busy());
            bench.time.advance(TIMEOUT);
        });

        assertThat(flow.isTerminatedComplete()).isTrue();
    }

    /** Signals are listened to before the first question. */
    @ParameterizedTest
    @ValueSource(strings = {"whole", "share", "permits"})
    void whatItTakesToAskIsNoPartOfTheWait(String share) {
        Share wanted = Map.of("whole", Share.WHOLE, "share", Share.ONE, "permits", Share.permits(1, 2))
                .get(share);
        store.whileCalled = () -> bench.time.stop(TIMEOUT.multipliedBy(2));
        Door.client(bench.engine, Door.share(patient.options(), wanted))
                .acquire("k")
                .subscribe(flow);

        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void norIsItOfTheWaitForSeveralKeys() {
        store.whileCalled = () -> bench.time.stop(TIMEOUT.multipliedBy(2));
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b"), Mono.just("done")));
        store.whileCalled = () -> {};
        for (int number = 1; number <= 2; number++) {
            Asked<ClaimResult> asked = store.claim();
            asked.answer(ScriptedBackend.granted(asked.claim(), number));
        }

        assertThat(work.expectTerminalSignal().isOnComplete()).isTrue();
    }

    // ---- several keys and other waits

    @Test
    void aGrantDisarmsTheTimeout() {
        bench.hold(patient, "k", 1);

        assertThat(bench.time.armedTimers()).isZero();
        bench.time.advance(TIMEOUT.plusSeconds(1));
        assertThat(store.count("release")).isZero();
    }

    @Test
    void aGrantThatIsUnderWayWhenTheTimeIsUpIsDelivered() {
        bench.work.shut();
        patient.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        bench.time.advance(TIMEOUT);
        bench.work.open();

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void aGrantThatComesAfterTheTimeIsUpIsGivenBack() {
        bench.work.shut();
        Claim claim = bench.queue(patient, flow, "k");
        bench.time.advance(TIMEOUT);
        store.push(claim, 1);
        bench.work.open();

        assertThat(flow.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(flow.getReceivedOnNext()).isEmpty();
        bench.assertNothingIsLeft();
    }

    @Test
    void aWaitThatIsCancelledWhileItBeginsLeavesNoTimer() {
        bench.time.whileArming = flow::cancel;
        patient.acquire("k").subscribe(flow);

        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void severalKeysShareOneTimeout() {
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("b", "a"), Mono.just("done")));
        Asked<ClaimResult> first = store.claim();
        assertThat(first.claim().key()).isEqualTo("a");
        bench.time.advance(Duration.ofMillis(600));
        first.answer(ScriptedBackend.granted(first.claim(), 1));
        store.claim().answer(ScriptedBackend.queued());

        bench.time.advance(Duration.ofMillis(399));
        assertThat(work.isTerminated()).isFalse();
        bench.time.advance(Duration.ofMillis(1));

        assertThat(work.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockTimeoutException.class, e -> assertThat(e.key()).isEqualTo("b"));
        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void theNextOfSeveralKeysIsNotAskedForWhenTheTimeIsUp() {
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b"), Mono.just("done")));
        bench.time.pause(TIMEOUT);
        Asked<ClaimResult> first = store.claim();
        first.answer(ScriptedBackend.granted(first.claim(), 1));

        assertThat(work.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("'b'")
                .hasMessageContaining("1000 ms");
        assertThat(store.log).containsExactly("claim .0", "release .0");
    }

    @Test
    void aLaterKeyOfWhichNothingIsKnownIsNotSaidToBeTaken() {
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b"), Mono.just("done")));
        Asked<ClaimResult> first = store.claim();
        first.answer(ScriptedBackend.granted(first.claim(), 1));

        bench.time.advance(TIMEOUT);

        assertThat(work.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockUnavailableException.class, e -> assertThat(e.key()).isEqualTo("b"));
    }

    /** One asked for at the end, and one too late to be. */
    @ParameterizedTest
    @ValueSource(longs = {1, 0})
    void aWaitForAnEarlierKeyMakesALaterTimeoutContention(long left) {
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b", "c"), Mono.just("done")));
        Asked<ClaimResult> first = store.claim();
        first.answer(ScriptedBackend.queued());
        bench.time.pause(TIMEOUT.minusMillis(left));
        store.push(first.claim(), 1);
        store.ignoreAll();

        bench.time.advance(TIMEOUT);

        assertThat(work.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void aStoreThatIsSilentIsUnavailableAfterTheCommandTimeout() {
        LockClient waiting = bench.with(o -> o.withWaitTimeout(Duration.ofMinutes(1)));
        waiting.acquire("k").subscribe(flow);

        bench.time.advance(Duration.ofMillis(1_999));
        assertThat(flow.isTerminated()).isFalse();
        bench.time.advance(Duration.ofMillis(251));

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("'k'")
                .hasMessageContaining("2000 ms");
        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aStoreThatRefusesIsUnavailableAtOnceAndSaysWhy() {
        TestSubscriber<String> work = subscribe(bench.client.withLock("k", Mono.just("done")));
        TestSubscriber<LockHandle> behind = subscribe(bench.client.acquire("k"));

        store.claim().fail();

        assertThat(work.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("the store refused")
                .hasRootCauseMessage("the store refused");
        assertThat(behind.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aWaitingClaimOutlivesAStoreThatRefuses() {
        Claim claim = bench.queue(flow, "k");
        bench.time.advance(LEASE.dividedBy(3));

        for (int failures = 0; failures < 20; failures++) {
            store.claim().fail();
            bench.time.advance(Duration.ofMillis(750));
        }
        assertThat(flow.isTerminated()).isFalse();
        store.claim().answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofSeconds(5));
        store.push(claim, 1);

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 30_000, 300_000})
    void aWaitingClaimOutlivesSilenceForItsLeaseAndNoLonger(long lease) {
        Duration length = Duration.ofMillis(lease);
        bench.queue(bench.with(o -> o.withLease(length)), flow, "k");

        bench.time.advance(length.minusMillis(1));
        assertThat(flow.isTerminated()).isFalse();
        assertThat(store.count("claim")).isGreaterThan(2);
        bench.time.advance(length);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).last().isEqualTo("release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void oneAnswerThatGotLostDoesNotCostAShortLeaseItsPlace() {
        bench.queue(bench.with(o -> o.withLease(Duration.ofSeconds(1))), flow, "k");
        bench.time.advance(Duration.ofMillis(450));
        store.claim();

        bench.time.advance(Duration.ofMillis(500));

        store.claim().answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofSeconds(1).minusMillis(1));
        assertThat(flow.isTerminated()).isFalse();
    }

    @Test
    void aFlowThatFindsTheLockBusyCompletesEmpty() {
        bench.client.tryAcquire("k").subscribe(flow);

        store.claim().answer(new ClaimResult.Busy());

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0");
        bench.assertNothingIsLeft();
    }
}
