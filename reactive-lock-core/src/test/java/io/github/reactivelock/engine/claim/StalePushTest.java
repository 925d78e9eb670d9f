package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.queued;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** News of a grant that is over, because the claim was queued anew since: by force, by a loss of data, by its lease. */
class StalePushTest {

    private static final Duration MOMENT = Duration.ofMillis(100);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final TestSubscriber<LockHandle> flow = TestSubscriber.create();

    @Test
    void aPushOfAGrantThatWasEndedByForceIsAskedAbout() {
        Claim claim = queuedBehind(4);
        // The claim is served with token 5, and an operator ends that before the push is heard.
        askAgain().answer(queued(6));

        store.push(claim, 5);

        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.claim().answer(queued(6));
        store.push(claim, 7);
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(token(7));
        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID);
        assertThat(store.count("claim")).isEqualTo(3);
    }

    @Test
    void aPushOfTheVeryTokenThatWasTheNewestIsAskedAbout() {
        Claim claim = queuedBehind(5);

        store.push(claim, 5);

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0", "claim .0");
    }

    @Test
    void theHighestTokenOfAllAnswersCounts() {
        Claim claim = queuedBehind(6);
        askAgain().answer(queued());

        store.push(claim, 6);

        assertThat(flow.getReceivedOnNext()).isEmpty();
    }

    @Test
    void anOlderAnswerThatComesLastEndsNoNewerHold() {
        Claim claim = bench.queue(flow, "k");
        Asked<ClaimResult> older = askAgain();
        bench.time.advance(LEASE.dividedBy(2)); // out of patience with it
        store.claim().answer(granted(claim, 7)); // 5 was ended by force meanwhile

        older.answer(granted(claim, 5));

        assertThat(Bench.held(flow).isHeld()).isTrue();
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(token(7));
    }

    @Test
    void aStalePushThatMeetsAQuestionIsAskedAboutBehindIt() {
        Claim claim = queuedBehind(6);
        Asked<ClaimResult> underWay = askAgain();

        store.push(claim, 5);
        underWay.answer(queued(6));

        assertThat(store.log).containsExactly("claim .0", "claim .0", "claim .0");
    }

    @Test
    void anAnswerThatIsOlderThanTheQueueIsNoGrant() {
        Claim claim = queuedBehind(4);
        Asked<ClaimResult> silent = askAgain();
        bench.time.advance(LEASE.dividedBy(3).plusSeconds(1)); // out of patience, it asks once more
        store.claim().answer(queued(6));

        silent.answer(granted(claim, 5));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.claim().answer(granted(claim, 7));
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(token(7));
        assertThat(store.count("release")).isZero();
    }

    @Test
    void aLowerGrantThatIsHeardAfterAHigherOneIsAskedAbout() {
        Claim claim = queuedBehind(4);
        Asked<ClaimResult> older = askAgain();
        bench.time.advance(LEASE.dividedBy(3).plusSeconds(1)); // out of patience, it asks once more
        Asked<ClaimResult> younger = store.claim();
        bench.time.pause(LEASE.dividedBy(3));
        older.answer(granted(claim, 7)); // carried out last; too old to be used
        assertThat(flow.getReceivedOnNext()).isEmpty();

        younger.answer(granted(claim, 5)); // and this one was ended by force meanwhile

        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.claim().answer(granted(claim, 7));
        assertThat(Bench.held(flow).fencingToken()).isEqualTo(token(7));
    }

    @Test
    void anOldAnswerToAClaimThatWasLeftGivesItBack() {
        Claim claim = queuedBehind(4);
        Asked<ClaimResult> silent = askAgain();
        bench.time.advance(LEASE.dividedBy(3).plusSeconds(1));
        store.claim().answer(queued(6));
        flow.cancel();

        silent.answer(granted(claim, 5));

        assertThat(store.count("release .0")).isEqualTo(2);
        bench.assertNothingIsLeft();
    }

    @Test
    void aStoreWhoseTokensFellIsBelievedWhenItWasAskedSince() {
        Claim claim = queuedBehind(6);
        store.push(claim, 2);

        store.claim().answer(granted(claim, 2));

        assertThat(Bench.held(flow).fencingToken()).isEqualTo(token(2));
    }

    @Test
    void aPushIsNewsHoweverLongTheProcessStoodStill() {
        Claim claim = queuedBehind(4);
        bench.time.pause(LEASE.multipliedBy(2));
        askAgain().answer(queued(6));

        store.push(claim, 7);

        assertThat(Bench.held(flow).fencingToken()).isEqualTo(token(7));
    }

    @Test
    void aHoldIsLostWhenItsClaimWasQueuedAfterItsGrant() {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> first = store.claim();
        store.push(first.claim(), 5);
        LockHandle handle = Bench.held(flow);

        first.answer(queued(5));

        assertThat(handle.isHeld()).isFalse();
        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aHoldIsNotLostWhenItsClaimWasQueuedBefore() {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> first = store.claim();
        store.push(first.claim(), 5);

        first.answer(queued(4));

        assertThat(store.log).containsExactly("claim .0");
        subscribe(Bench.held(flow).release());
        bench.assertNothingIsLeft();
    }

    /** The flow's claim, in the queue of a store that had given this token last. */
    private Claim queuedBehind(long number) {
        bench.client.acquire("k").subscribe(flow);
        Asked<ClaimResult> asked = store.claim();
        bench.time.advance(MOMENT);
        asked.answer(queued(number));
        return asked.claim();
    }

    private Asked<ClaimResult> askAgain() {
        store.push(new Signal.Recheck("k"));
        return store.claim();
    }
}
