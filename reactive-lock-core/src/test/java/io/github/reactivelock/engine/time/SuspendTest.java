package io.github.reactivelock.engine.time;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A machine that is suspended, whose monotonic clock stands still, and wall clocks that are set. */
class SuspendTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @Test
    void aHoldIsOverAtOnceOnWaking() {
        LockHandle handle = bench.hold("k", 1);

        bench.time.jumpWall(LEASE);

        assertThat(handle.isHeld()).isFalse();
        assertThat(handle.remaining()).isZero();
        bench.time.advance(Duration.ofMillis(250));
        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(LossReason.EXPIRED);
    }

    @Test
    void workIsCancelledAtTheFirstTickOnWaking() {
        TestSubscriber<Object> flow = subscribe(bench.client.withLock("k", Mono.never()));
        grant();
        bench.time.advance(Duration.ofSeconds(1));

        bench.time.jumpWall(LEASE);
        bench.time.advance(Duration.ofMillis(250));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void aGrantWhoseAnswerSleptThroughItsLeaseIsGivenToNoFlow() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        Asked<ClaimResult> asked = store.claim();

        bench.time.jumpWall(LEASE);
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        bench.time.advance(Duration.ofMillis(250));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0", "claim .0");
        flow.cancel();
    }

    @Test
    void aRenewalWhoseAnswerSleptThroughTheLeaseRevivesNothing() {
        LockHandle handle = bench.hold("k", 1);
        bench.time.advance(LEASE.dividedBy(2));
        Asked<RenewalResult> asked = store.renewal();

        bench.time.jumpWall(LEASE);
        asked.answer(ScriptedBackend.renewed(asked.claims()));

        assertThat(handle.isHeld()).isFalse();
        assertThat(bench.heard.lost).hasSize(1);
    }

    @Test
    void aLockIsNotPassedOnByAGrantThatIsOver() {
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> next = subscribe(bench.client.acquire("k"));

        bench.time.jumpWall(LEASE);
        subscribe(first.release());

        assertThat(next.getReceivedOnNext()).isEmpty();
        next.cancel();
    }

    @Test
    void aSleepShorterThanTheLeaseCostsNothing() {
        store.confirmsRenewals = true;
        LockHandle handle = bench.hold("k", 1);

        for (int i = 0; i < 5; i++) {
            bench.time.jumpWall(LEASE.dividedBy(2));
            bench.time.advance(Duration.ofMillis(500));
        }

        assertThat(handle.isHeld()).isTrue();
        assertThat(bench.heard.lost).isEmpty();
    }

    @Test
    void aWallClockSetAheadCostsTheHoldAndNothingAfterIt() {
        store.confirmsRenewals = true;
        LockHandle first = bench.hold("k", 1);

        bench.time.jumpWall(HOUR);
        assertThat(first.isHeld()).isFalse();
        bench.time.advance(Duration.ofSeconds(1));
        LockHandle second = bench.hold("k", 2);
        bench.time.advance(LEASE.multipliedBy(3));

        assertThat(second.isHeld()).isTrue();
    }

    @Test
    void aWallClockSetBackCostsNothingAndTheNextSleepIsNoticed() {
        store.confirmsRenewals = true;
        LockHandle handle = bench.hold("k", 1);

        bench.time.jumpWall(HOUR.negated());
        bench.time.advance(LEASE.multipliedBy(3));
        assertThat(handle.isHeld()).isTrue();

        bench.time.jumpWall(LEASE);
        assertThat(handle.isHeld()).isFalse();
    }

    @Test
    void aThreadThatStandsStillBetweenTheTwoClocksCostsNothing() {
        LockHandle handle = bench.hold("k", 1);
        for (int i = 0; i < 100; i++) {
            bench.time.whileReadingWall = () -> bench.time.pause(Duration.ofMillis(200));
            assertThat(handle.isHeld()).isTrue();
            bench.time.whileReadingWall = () -> {};
            assertThat(handle.isHeld()).isTrue();
        }

        assertThat(handle.remaining()).as("after 20 s").isBetween(Duration.ofMillis(9_600), Duration.ofMillis(9_700));
    }

    @Test
    void clocksThatRunALittleApartCostNoHoldThatIsRenewed() {
        store.confirmsRenewals = true;
        LockHandle handle = bench.hold("k", 1);

        for (Duration passed = Duration.ZERO; passed.compareTo(HOUR) < 0; passed = passed.plusSeconds(10)) {
            bench.time.jumpWall(Duration.ofMillis(5)); // 500 ppm
            bench.time.advance(Duration.ofSeconds(10));
        }

        assertThat(handle.isHeld()).isTrue();
    }

    /** {@code LEASE} has a margin of 302 ms; that of the shortest leases is little more than 2. */
    @Test
    void aSleepOfAFewMillisecondsIsNoticed() {
        LockHandle handle = bench.hold("k", 1);
        for (int i = 1; i <= 100; i++) {
            bench.time.jumpWall(Duration.ofMillis(4));
            assertThat(handle.remaining()).isEqualTo(Bench.VALID.minusMillis(4L * i));
        }
    }

    /** As that of Windows does. */
    @Test
    void aWallClockThatGoesInStepsCostsNoMoreThanOneStep() {
        Duration step = Duration.ofMillis(16);
        LockHandle handle = bench.hold("k", 1);

        for (int i = 0; i < 100; i++) {
            bench.time.jumpWall(step.negated()); // just before the next step
            assertThat(handle.remaining()).isGreaterThanOrEqualTo(Bench.VALID.minus(step));
            bench.time.jumpWall(step);
            assertThat(handle.remaining()).isGreaterThanOrEqualTo(Bench.VALID.minus(step));
        }
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }
}
