package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.subscriber.TestSubscriber;

/** What the store says of a claim whose grant another flow has by now, in the order of the store. */
class PassedGrantTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient fifo = bench.with(o -> o.withFairness(Fairness.FIFO));

    private TestSubscriber<LockHandle> queueBehind(int claim) {
        return bench.queueBehind(fifo, bench.claimId(claim));
    }

    /** A second flow that has got the first one's grant. */
    private TestSubscriber<LockHandle> passedOn() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        subscribe(first.release());
        return second;
    }

    private void assertLost(TestSubscriber<LockHandle> flow, LossReason reason) {
        assertThat(Bench.held(flow).isHeld()).isFalse();
        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(reason);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anOldAnswerToTheFirstOwnerDoesNotGiveUpAnothersHold(boolean granted) {
        TestSubscriber<LockHandle> first = bench.queueBehind(fifo, "somebody.0");
        store.push(new Signal.Recheck("k"));
        Asked<ClaimResult> late = store.claim();
        Claim claim = late.claim();
        store.push(claim, 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        subscribe(Bench.held(first).release());
        store.log.clear();

        late.answer(granted ? granted(claim, 1) : ScriptedBackend.queued());

        assertThat(store.log).isEmpty();
        assertThat(Bench.held(second).isHeld()).isTrue();
        subscribe(Bench.held(second).release());
        assertThat(store.log).containsExactly("release .0");
    }

    @Test
    void aNewGrantToTheFirstOwnersClaimIsALossForTheHolder() {
        TestSubscriber<LockHandle> first = bench.queueBehind(fifo, "somebody.0");
        store.push(new Signal.Recheck("k"));
        Asked<ClaimResult> late = store.claim();
        store.push(late.claim(), 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        subscribe(Bench.held(first).release());

        late.answer(granted(late.claim(), 2));

        assertThat(Bench.held(second).isHeld()).isFalse();
        assertThat(bench.heard.lost).hasSize(1);
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void aGrantPushedForAPlaceWithoutNeedIsNotTaken() {
        TestSubscriber<LockHandle> second = passedOn();

        store.push(new Signal.Grant(bench.claimId(1), token(9)));

        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(1) + 1);
        assertThat(bench.heard.acquired).hasSize(2);
    }

    @Test
    void aPassedGrantIsRenewedOrElseEndsLikeTheFirstOwners() {
        TestSubscriber<LockHandle> second = passedOn();
        store.ignoreAll();

        bench.time.advance(Duration.ofSeconds(11));
        Asked<RenewalResult> asked = store.renewal();
        assertThat(asked.claims()).extracting(Claim::id).containsExactly(bench.claimId(0));
        asked.answer(ScriptedBackend.renewed(asked.claims()));
        assertThat(Bench.held(second).remaining()).isGreaterThan(Duration.ofSeconds(25));
        bench.time.advance(Bench.VALID);

        assertThat(Bench.held(second).isHeld()).isFalse();
        assertThat(bench.heard.lost).extracting(LockLostException::fencingToken).containsExactly(token(1) + 1);
    }

    @Test
    void aRenewalUnderWayDuringThePassIsHeardOfByTheNextHolder() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        subscribe(first.renew());
        subscribe(first.release());
        Asked<RenewalResult> asked = store.renewal();

        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.TAKEN_OVER));

        assertLost(second, LossReason.TAKEN_OVER);
    }

    @Test
    void aForcedReleaseReachesWhoeverHoldsTheLockNow() {
        TestSubscriber<LockHandle> second = passedOn();
        store.push(new Signal.Suspect(bench.claimId(0), LossReason.FORCED));
        Asked<RenewalResult> asked = store.renewal();

        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.EXPIRED));

        assertLost(second, LossReason.FORCED);
    }

    @Test
    void aClientThatClosesAfterAPassEndsTheHold() {
        TestSubscriber<LockHandle> second = passedOn();

        subscribe(bench.client.close());

        assertLost(second, LossReason.CLIENT_CLOSED);
        assertThat(store.log).endsWith("release .0", "close");
        bench.assertNothingIsLeft();
    }
}
