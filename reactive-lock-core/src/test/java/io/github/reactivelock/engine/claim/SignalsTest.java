package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** What the store pushes: which grants count, and from when. */
class SignalsTest {

    private static final Duration THIRD = LEASE.dividedBy(3);
    private static final Duration TICK = Duration.ofMillis(250);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final TestSubscriber<LockHandle> flow = TestSubscriber.create();

    @Test
    void aPushedGrantCountsFromTheLastQuestionThatWasAnsweredQueued() {
        Claim claim = bench.queue(flow, "k");
        bench.time.advance(Duration.ofSeconds(4));
        store.push(new Signal.Recheck("k"));
        bench.time.advance(Duration.ofSeconds(1));
        store.claim().answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofSeconds(2));

        store.push(claim, 5);

        assertThat(Bench.held(flow).fencingToken()).isEqualTo(ScriptedBackend.token(5));
        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID.minusSeconds(3));
        assertThat(store.count("renew")).isZero();
    }

    @Test
    void aGrantPushedBeforeTheClaimsOwnAnswerCountsFromTheClaim() {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();
        bench.time.advance(Duration.ofSeconds(1));

        store.push(asked.claim(), 5);
        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID.minusSeconds(1));
        asked.answer(ScriptedBackend.queued());

        assertThat(Bench.held(flow).isHeld()).isTrue();
        assertThat(store.log).containsExactly("claim .0");
    }

    @Test
    void aGrantThatOvertookItsClaimsAnswerAndWasReleasedIsNotReleasedAgain() {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();
        store.push(asked.claim(), 5);
        subscribe(Bench.held(flow).release());

        asked.answer(ScriptedBackend.queued());

        assertThat(store.count("release")).isEqualTo(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aGrantThatIsPushedAndAnsweredIsOneHold() {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();
        store.push(asked.claim(), 5);
        asked.answer(ScriptedBackend.granted(asked.claim(), 5));
        store.push(asked.claim(), 5);

        assertThat(flow.getReceivedOnNext()).hasSize(1);
        subscribe(Bench.held(flow).release());
        store.push(asked.claim(), 5);

        assertThat(store.count("release")).isEqualTo(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aGrantForAClaimThatIsNotOursIsNothing() {
        bench.queue(flow, "k");
        store.push(new Signal.Grant("another", ScriptedBackend.token(5)));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0");
    }

    @Test
    void aGrantTooOldIsAskedForAgainBeforeItIsHandedOut() {
        Claim claim = queuedLongAgo();

        store.push(claim, 5);
        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.claim().answer(ScriptedBackend.granted(claim, 5));

        assertThat(Bench.held(flow).fencingToken()).isEqualTo(ScriptedBackend.token(5));
        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID);
        assertThat(store.log).containsExactly("claim .0", "claim .0");
    }

    @Test
    void aGrantThatIsTooOldAndOverWaitsOnInTheQueue() {
        Claim claim = queuedLongAgo();
        store.push(claim, 5);

        store.claim().answer(ScriptedBackend.queued(5));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.push(claim, 6);
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(ScriptedBackend.token(6));
        assertThat(bench.heard.lost).as("nobody held it").isEmpty();
        assertThat(store.count("release")).isZero();
    }

    @Test
    void aQuestionAfterAnOldGrantThatFailsIsAskedAgain() {
        Claim claim = queuedLongAgo();
        store.push(claim, 5);
        store.claim().fail();
        bench.time.advance(Duration.ofMillis(750));

        store.claim().answer(ScriptedBackend.granted(claim, 5));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void silenceOfTheStoreAfterAnOldGrantEndsWaitAndClaim() {
        Claim claim = queuedLongAgo();
        store.push(claim, 5);

        bench.time.advance(THIRD.plus(TICK.multipliedBy(8)));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).endsWith("release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aFlowThatLeavesDuringAnOldGrantsQuestionGivesItBack() {
        Claim claim = queuedLongAgo();
        store.push(claim, 5);

        flow.cancel();

        assertThat(store.log).containsExactly("claim .0", "claim .0", "release .0");
        store.claim().answer(ScriptedBackend.granted(claim, 5));
        assertThat(store.count("release"))
                .as("the question may have come after it")
                .isEqualTo(2);
        bench.assertNothingIsLeft();
    }

    @Test
    void aClientThatClosesDuringAnOldGrantsQuestionGivesItBack() {
        Claim claim = queuedLongAgo();
        store.push(claim, 5);

        subscribe(bench.client.close());

        assertThat(flow.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(store.log).containsExactly("claim .0", "claim .0", "release .0", "close");
    }

    @Test
    void anAttemptThatIsGrantedLateAndOverByTheNextAnswerIsBusy() {
        TestSubscriber<LockHandle> trying = subscribe(bench.client.tryAcquire("k"));
        Asked<ClaimResult> asked = store.claim();
        bench.time.pause(THIRD.multipliedBy(2).plus(TICK));
        asked.answer(ScriptedBackend.granted(asked.claim(), 5));
        assertThat(trying.getReceivedOnNext()).isEmpty();

        store.claim().answer(new ClaimResult.Busy());

        assertThat(trying.isTerminatedComplete()).isTrue();
        assertThat(trying.getReceivedOnNext()).isEmpty();
        bench.assertNothingIsLeft();
    }

    @Test
    void anAttemptThatIsGrantedLateAndStillOursIsAHold() {
        TestSubscriber<LockHandle> trying = subscribe(bench.client.tryAcquire("k"));
        Asked<ClaimResult> asked = store.claim();
        bench.time.pause(THIRD.multipliedBy(2).plus(TICK));
        asked.answer(ScriptedBackend.granted(asked.claim(), 5));

        store.claim().answer(ScriptedBackend.granted(asked.claim(), 5));

        assertThat(Bench.held(trying).remaining()).isEqualTo(VALID);
    }

    @Test
    void aPushThatMayBeOfAGrantThatRanOutIsAskedAbout() {
        Claim claim = bench.queue(flow, "k");
        // The process stands still. Meanwhile the claim is served, its lease ends, and another is served.
        bench.time.pause(LEASE);
        bench.time.advance(TICK);
        store.claim().answer(ScriptedBackend.queued(6));

        store.push(claim, 5);

        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.claim().answer(ScriptedBackend.queued(6));
        store.push(claim, 7);
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(ScriptedBackend.token(7));
        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID);
    }

    @Test
    void aGrantAnsweredOnlyAfterItsDeadlineIsGivenToNobody() {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();
        bench.time.pause(LEASE);

        asked.answer(ScriptedBackend.granted(asked.claim(), 5));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0", "claim .0");
        store.claim().answer(ScriptedBackend.queued(6));
        assertThat(flow.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aPushHeardWhenItsGrantMayHaveRunOutIsAskedAbout() {
        Claim claim = bench.queue(flow, "k");
        bench.time.pause(VALID);

        store.push(claim, 5);

        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.claim().answer(ScriptedBackend.granted(claim, 7));
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(ScriptedBackend.token(7));
        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID);
        assertThat(store.count("renew")).isZero();
    }

    @Test
    void anOldQuestionAnsweredWithAnotherTokenEndsTheHold() {
        bench.queue(flow, "k");
        store.push(new Signal.Recheck("k"));
        Asked<ClaimResult> late = store.claim();
        store.push(late.claim(), 5);
        LockHandle handle = Bench.held(flow);

        late.answer(ScriptedBackend.granted(late.claim(), 9));

        assertThat(handle.isHeld()).isFalse();
        assertThat(bench.heard.lost)
                .singleElement()
                .satisfies(loss -> assertThat(loss.fencingToken()).isEqualTo(ScriptedBackend.token(5)));
        bench.assertNothingIsLeft();
    }

    @Test
    void anOldQuestionAnsweredAfterTheDeadlineRevivesNothing() {
        bench.queue(flow, "k");
        Duration later = Duration.ofSeconds(10);
        bench.time.pause(later);
        store.push(new Signal.Recheck("k"));
        Asked<ClaimResult> late = store.claim();
        store.push(late.claim(), 5); // counts from the answer before
        LockHandle handle = Bench.held(flow);
        bench.time.pause(VALID.minus(later));

        late.answer(ScriptedBackend.granted(late.claim(), 5));

        assertThat(handle.isHeld()).isFalse();
        assertThat(bench.heard.lost)
                .singleElement()
                .satisfies(loss -> assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED));
        bench.assertNothingIsLeft();
    }

    /** The process has stood still since the store queued the claim, for more than two thirds of the lease. */
    private Claim queuedLongAgo() {
        Claim claim = bench.queue(flow, "k");
        bench.time.pause(Duration.ofSeconds(21));
        return claim;
    }
}
