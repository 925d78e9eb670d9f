package io.github.reactivelock.engine.hold;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** {@link LockOptions#withLockDelay}: what the store keeps beyond the lease, and when a lock that was lost is free. */
class LockDelayTest {

    private static final Duration DELAY = Duration.ofSeconds(15);
    private static final Duration TOGETHER = Bench.LEASE.plus(DELAY);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient client = bench.with(options -> options.withLockDelay(DELAY));

    @Test
    void theStoreKeepsItLongerThanTheHolderReliesOnIt() {
        TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        assertThat(asked.claim().lease()).isEqualTo(TOGETHER);

        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).remaining()).isEqualTo(Bench.VALID);
    }

    @Test
    void soItDoesAfterAPush() {
        TestSubscriber<LockHandle> flow = TestSubscriber.create();
        Claim claim = bench.queue(client, flow, "k");

        store.push(claim, 1);

        assertThat(Bench.held(flow).remaining()).isEqualTo(Bench.VALID);
    }

    @Test
    void itIsRenewedByTheLeaseThatIsReliedUpon() {
        bench.hold(client, "k", 1);

        bench.time.advance(Bench.LEASE.dividedBy(3).plusMillis(250));

        assertThat(store.renewal().claim().lease()).isEqualTo(TOGETHER);
    }

    @Test
    void aReleaseFreesItAtOnce() {
        subscribe(bench.hold(client, "k", 1).release());

        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aLockThatWasLostStaysTakenForTheDelay() {
        store.confirmsReleases = false;
        LockHandle handle = bench.hold(client, "k", 1);
        bench.time.advance(Bench.LEASE);
        assertThat(handle.isHeld()).isFalse();

        ScriptedBackend.Asked<Boolean> asked = store.release();
        assertThat(asked.claims()).hasSize(2);
        assertThat(asked.claims().get(1).lease()).isBetween(DELAY.minusSeconds(1), DELAY.plusMillis(152));
        store.confirmsReleases = true;
        asked.answer(true);
        bench.time.advance(DELAY);

        assertThat(store.log).endsWith("release .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void soDoesOneThatWasHeldTooLong() {
        LockClient bounded = client.with(client.options().withMaxHold(Duration.ofSeconds(1)));
        bench.hold(bounded, "k", 1);

        bench.time.advance(Duration.ofSeconds(1));

        assertThat(store.log).endsWith("keep .0", "keep .1");
    }

    @Test
    void ofMinimumAndDelayTheLongerCounts() {
        store.confirmsReleases = false;
        LockClient both =
                client.with(client.options().withMaxHold(Duration.ofSeconds(1)).withMinHold(Duration.ofSeconds(1)));
        bench.hold(both, "k", 1);
        bench.time.advance(Duration.ofSeconds(1));

        assertThat(store.release().claims().get(1).lease()).isEqualTo(DELAY.plusMillis(152));
    }

    @Test
    void closingTheClientFreesIt() {
        bench.hold(client, "k", 1);

        subscribe(client.close());

        assertThat(store.log).containsExactly("claim .0", "release .0", "close");
    }

    @Test
    void flowsOfTheSameProcessWaitForItToo() {
        InMemoryLockBackend real = InMemoryLockBackend.create(bench.time::nanos);
        LockClient locks = bench.over(real).build();
        LockClient delayed = locks.with(locks.options().withLockDelay(DELAY).withoutRenewal());
        LockHandle lost = Bench.held(subscribe(delayed.acquire("k")));
        TestSubscriber<LockHandle> next = subscribe(locks.acquire("k"));
        bench.time.advance(Bench.LEASE);
        assertThat(lost.isHeld()).isFalse();

        bench.time.advance(DELAY.minusSeconds(1));
        assertThat(next.getReceivedOnNext()).isEmpty();

        bench.time.advance(Duration.ofSeconds(1));
        assertThat(Bench.held(next).fencingToken()).isGreaterThan(lost.fencingToken());
    }

    @ParameterizedTest
    @EnumSource(
            value = LossReason.class,
            names = {"FORCED", "SESSION_LOST"})
    void whatTheStoreHasEndedCannotBeKept(LossReason reason) {
        store.confirmsReleases = false;
        LockHandle handle = bench.hold(client, "k", 1);
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());
        store.push(new Signal.Suspect(bench.claimId(0), reason));
        ScriptedBackend.Asked<RenewalResult> asked = store.renewal();
        asked.answer(ScriptedBackend.lost(asked.claims(), reason));

        assertThat(lost.getReceivedOnNext().get(0).reason()).isEqualTo(reason);
        ScriptedBackend.Asked<Boolean> kept = store.release();
        store.confirmsReleases = true;
        kept.answer(false);
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void aDelayIsPartOfWhatFlowsHaveToAgreeOn() {
        LockHandle first = bench.hold(client, "k", 1);
        TestSubscriber<LockHandle> next =
                subscribe(bench.with(options -> options.withLease(TOGETHER)).acquire("k"));

        subscribe(first.release());

        assertThat(next.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("release .0", "claim .1");
    }

    @Test
    void anAcquisitionThatJoinsCannotHaveMore() {
        TestSubscriber<Object> work = subscribe(bench.client.withLock("k", client.withLock("k", Mono.never())));
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(work.expectTerminalError())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'k'")
                .hasMessageContaining("PT15S");
    }

    @Test
    void aStoreThatGrantsLessThanTheDelayIsTooShort() {
        TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
        for (int i = 0; i < 3; i++) {
            store.claim().answer(new ClaimResult.Granted(ScriptedBackend.token(1), Duration.ofSeconds(10)));
        }

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("lock delay of 15000 ms")
                .hasMessageContaining("shorter lock delay");
    }
}
