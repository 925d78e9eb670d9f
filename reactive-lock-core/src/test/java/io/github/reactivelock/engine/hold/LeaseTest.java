package io.github.reactivelock.engine.hold;

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
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.subscriber.TestSubscriber;

/** How long a hold lasts and why it ends. */
class LeaseTest {

    private static final Duration TICK = Duration.ofMillis(250);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @Test
    void aHoldIsValidFromItsClaimsSendingForItsLeaseLessAMargin() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        bench.time.advance(Duration.ofSeconds(1));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 7));

        LockHandle handle = Bench.held(flow);
        assertThat(handle.key()).isEqualTo("k");
        assertThat(handle.fencingToken()).isEqualTo(ScriptedBackend.token(7));
        assertThat(handle.remaining()).isEqualTo(VALID.minusSeconds(1));
        assertThat(bench.heard.acquired).containsExactly("k " + handle.fencingToken() + " after PT1S");
    }

    @Test
    void theLeaseThatTheStoreGrantsCountsNotTheOneAskedFor() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        store.claim().answer(new ClaimResult.Granted(ScriptedBackend.token(1), Duration.ofMillis(200)));
        LockHandle handle = Bench.held(flow);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());

        assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(196));
        bench.time.advance(Duration.ofMillis(100));
        assertThat(store.count("renew")).isEqualTo(1);
        bench.time.advance(Duration.ofMillis(96));
        assertThat(lost.getReceivedOnNext()).hasSize(1);
    }

    @Test
    void aRenewalIsSentAfterAThirdOfTheLeaseAndCountsFromThen() {
        LockHandle handle = bench.hold("k", 1);

        bench.time.advance(LEASE.dividedBy(3).minusMillis(1));
        assertThat(store.count("renew")).isZero();
        bench.time.advance(TICK);
        Asked<RenewalResult> asked = store.renewal();
        Duration sent = handle.remaining();
        bench.time.advance(Duration.ofSeconds(1));
        asked.answer(ScriptedBackend.renewed(asked.claims()));

        assertThat(sent).isLessThan(VALID.minus(LEASE.dividedBy(3)).plusMillis(1));
        assertThat(handle.remaining())
                .isBetween(
                        VALID.minusSeconds(1).minus(TICK), VALID.minusSeconds(1).plus(TICK));
        assertThat(store.count("renew")).isEqualTo(1);
    }

    @Test
    void aHoldThatIsRenewedLivesOn() {
        store.confirmsRenewals = true;
        LockHandle handle = bench.hold("k", 1);

        bench.time.advance(Duration.ofMinutes(10));

        assertThat(handle.isHeld()).isTrue();
        assertThat(store.count("renew")).isBetween(55L, 60L);
    }

    @Test
    void aHoldWithoutRenewalExpiresBeforeItsLeaseDoes() {
        LockHandle handle = bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());

        bench.time.advance(VALID.minusNanos(1));
        assertThat(handle.isHeld()).isTrue();
        assertThat(lost.getReceivedOnNext()).isEmpty();
        bench.time.advance(Duration.ofNanos(1));

        assertThat(handle.isHeld()).isFalse();
        assertThat(handle.remaining()).isZero();
        assertLost(lost, LossReason.EXPIRED);
        assertThat(store.count("renew")).isZero();
        bench.assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(longs = {100, 101, 250, 1_000, 30_000, 3_600_000})
    void everyLossComesAtTheDeadlineWhichIsBeforeTheLeaseEnds(long lease) {
        Duration length = Duration.ofMillis(lease);
        LockHandle handle = bench.hold(bench.with(o -> o.withLease(length).withoutRenewal()), "k", 1);
        AtomicLong lostAt = new AtomicLong();
        long began = bench.time.nanos();
        subscribe(handle.lost().doOnNext(loss -> lostAt.set(bench.time.nanos() - began)));

        bench.time.advance(length);

        assertThat(Duration.ofNanos(lostAt.get()))
                .isEqualTo(length.minus(length.dividedBy(100)).minusMillis(2));
    }

    @Test
    void failingRenewalsAreRepeatedUntilTheDeadlineAndThenTheStoreIsToBlame() {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());

        for (Duration past = Duration.ZERO; past.compareTo(VALID) < 0; past = past.plus(TICK)) {
            bench.time.advance(TICK);
            if (store.count("renew") > 0) {
                store.renewal().fail();
                store.log.clear();
            }
        }

        assertLost(lost, LossReason.UNREACHABLE);
        assertThat(lost.getReceivedOnNext().get(0)).hasMessageContaining("the store refused");
    }

    @ParameterizedTest
    @ValueSource(longs = {100, 1_000, 30_000})
    void aStoreThatIsSilentIsToBlameForTheLoss(long lease) {
        LockHandle handle = bench.hold(bench.with(o -> o.withLease(Duration.ofMillis(lease))), "k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());

        bench.time.advance(Duration.ofMillis(lease));

        assertThat(store.count("renew")).isGreaterThan(1);
        assertLost(lost, LossReason.UNREACHABLE);
    }

    @Test
    void anUnrenewedHoldExpiresAlsoWhereADoubtAskedTheStore() {
        LockHandle handle = bench.hold(bench.with(o -> o.withoutRenewal()), "k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());
        bench.time.advance(VALID.minusMillis(500));
        store.push(new Signal.Suspect(store.ids.get(0), LossReason.EXPIRED));
        assertThat(store.count("renew")).isEqualTo(1);

        bench.time.advance(Duration.ofMillis(500));

        assertLost(lost, LossReason.EXPIRED);
    }

    @Test
    void oneAnswerThatGotLostDoesNotEndAHoldWithAShortLease() {
        LockHandle handle = bench.hold(bench.with(o -> o.withLease(Duration.ofSeconds(1))), "k", 1);
        bench.time.advance(Duration.ofMillis(450));
        store.renewal();

        store.confirmsRenewals = true;
        bench.time.advance(Duration.ofSeconds(5));

        assertThat(handle.isHeld()).isTrue();
    }

    @Test
    void aRenewalAnsweredLateStillCountsFromItsSending() {
        LockHandle handle = bench.hold("k", 1);
        bench.time.advance(Duration.ofMillis(10_100));
        Asked<RenewalResult> late = store.renewal();
        bench.time.advance(Duration.ofSeconds(5));
        Duration before = handle.remaining();

        late.answer(ScriptedBackend.renewed(late.claims()));

        assertThat(handle.remaining())
                .isGreaterThan(before)
                .isLessThanOrEqualTo(VALID.minusSeconds(5).plus(TICK));
    }

    @ParameterizedTest
    @EnumSource(
            value = LossReason.class,
            names = {"EXPIRED", "TAKEN_OVER", "SESSION_LOST"})
    void aLossThatTheStoreAnswersHasTheReasonTheStoreGives(LossReason reason) {
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());
        bench.time.advance(LEASE.dividedBy(3).plus(TICK));
        Asked<RenewalResult> asked = store.renewal();

        asked.answer(ScriptedBackend.lost(asked.claims(), reason));

        assertThat(handle.isHeld()).isFalse();
        assertLost(lost, reason);
        bench.assertNothingIsLeft();
    }

    @Test
    void aHoldThatLastsTooLongIsLost() {
        store.confirmsRenewals = true;
        LockHandle handle = bench.hold(bench.with(o -> o.withMaxHold(Duration.ofMinutes(1))), "k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());

        bench.time.advance(Duration.ofMinutes(1).minusNanos(1));
        assertThat(handle.isHeld()).isTrue();
        bench.time.advance(Duration.ofNanos(1));

        assertLost(lost, LossReason.HELD_TOO_LONG);
        assertThat(store.count("release")).isEqualTo(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aHoldThatEndsInTimeDisarmsItsLongestDuration() {
        LockHandle handle = bench.hold(bench.with(o -> o.withMaxHold(Duration.ofMinutes(1))), "k", 1);
        assertThat(bench.time.armedTimers()).isEqualTo(1);

        TestSubscriber<Void> released = subscribe(handle.release());

        assertThat(released.isTerminatedComplete()).isTrue();
        bench.assertNothingIsLeft();
        bench.time.advance(Duration.ofMinutes(2));
        assertThat(bench.heard.lost).isEmpty();
    }

    @Test
    void lossIsToldToThoseWhoAskAfterwardsAndReleaseToNobody() {
        LockHandle gone = bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        bench.time.advance(LEASE);
        LockHandle released = bench.hold("l", 1);
        TestSubscriber<LockLostException> early = subscribe(released.lost());
        subscribe(released.release());

        assertLost(subscribe(gone.lost()), LossReason.EXPIRED);
        assertThat(early.isTerminatedComplete()).isTrue();
        assertThat(early.getReceivedOnNext()).isEmpty();
        TestSubscriber<LockLostException> late = subscribe(released.lost());
        assertThat(late.isTerminatedComplete()).isTrue();
        assertThat(late.getReceivedOnNext()).isEmpty();
    }

    @Test
    void theClockDecidesWhenTheTimerIsLate() {
        LockHandle handle = bench.hold("k", 1);

        bench.time.pause(VALID);

        assertThat(handle.isHeld()).isFalse();
        assertThat(handle.remaining()).isZero();
        assertThat(bench.heard.lost).isEmpty();
    }

    private void assertLost(TestSubscriber<LockLostException> lost, LossReason reason) {
        assertThat(lost.getReceivedOnNext()).hasSize(1);
        assertThat(lost.isTerminatedComplete()).isTrue();
        LockLostException loss = lost.getReceivedOnNext().get(0);
        assertThat(loss.reason()).isEqualTo(reason);
        assertThat(loss.key()).isEqualTo("k");
        assertThat(loss.fencingToken()).isEqualTo(ScriptedBackend.token(1));
        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(reason);
    }
}
