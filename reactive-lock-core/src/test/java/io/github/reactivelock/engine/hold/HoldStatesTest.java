package io.github.reactivelock.engine.hold;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.Stories;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** How sure a hold is, as those hear who ask: safe, at risk, safe again, lost. */
class HoldStatesTest {

    private static final Duration TICK = Duration.ofMillis(250);
    private static final Duration RENEWAL = LEASE.dividedBy(3).plus(TICK);

    private final Bench bench = Bench.unheard();
    private final ScriptedBackend store = bench.store;

    static TestSubscriber<HoldState> watch(LockHandle held) {
        TestSubscriber<HoldState> watcher = TestSubscriber.create();
        held.states().subscribe(watcher);
        return watcher;
    }

    static String text(HoldState state) {
        if (state instanceof HoldState.AtRisk risk) {
            return "at risk " + risk.remaining() + " " + (risk.cause() == null ? "no cause" : "a cause");
        }
        return state instanceof HoldState.Lost lost ? "lost " + lost.loss().reason() : "safe";
    }

    static List<String> heard(TestSubscriber<HoldState> watcher) {
        assertThat(watcher.getProtocolErrors()).isEmpty();
        return watcher.getReceivedOnNext().stream().map(HoldStatesTest::text).toList();
    }

    static void assertEnded(TestSubscriber<HoldState> watcher, String... states) {
        assertThat(heard(watcher)).containsExactly(states);
        assertThat(watcher.isTerminatedComplete()).isTrue();
    }

    // ---- at risk

    @Test
    void aRenewalThatFailsIsARiskAndOneThatSucceedsEndsIt() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> watcher = watch(held);
        assertThat(heard(watcher)).as("the present state at once").containsExactly("safe");
        bench.time.advance(RENEWAL);
        Asked<RenewalResult> renewal = store.renewal();
        store.confirmsRenewals = true;

        renewal.fail();
        bench.time.advance(TICK.multipliedBy(2));
        subscribe(held.release());

        assertEnded(watcher, "safe", "at risk PT19.448S a cause", "safe");
        bench.assertNothingIsLeft();
    }

    @Test
    void aRiskIsToldOnceHoweverManyRenewalsFail() {
        TestSubscriber<HoldState> watcher = watch(bench.hold("k", 1));

        bench.time.advance(LEASE);

        assertThat(store.count("renew")).isGreaterThan(3);
        assertEnded(watcher, "safe", "at risk PT17.698S a cause", "lost UNREACHABLE");
    }

    @Test
    void halfALeaseWithoutAConnectionIsARisk() {
        TestSubscriber<HoldState> watcher = watch(bench.hold("k", 1));
        store.disconnect();

        bench.time.advance(LEASE.dividedBy(2));
        assertThat(heard(watcher)).containsExactly("safe", "at risk PT14.698S no cause");
        bench.time.advance(LEASE);

        assertEnded(watcher, "safe", "at risk PT14.698S no cause", "lost UNREACHABLE");
    }

    @Test
    void aConnectionThatComesInTimeEndsTheRisk() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> watcher = watch(held);
        store.disconnect();
        bench.time.advance(LEASE.dividedBy(2));
        store.confirmsRenewals = true;

        store.connect();
        bench.time.advance(TICK);

        assertThat(heard(watcher)).containsExactly("safe", "at risk PT14.698S no cause", "safe");
        subscribe(held.release());
        assertThat(watcher.isTerminatedComplete()).isTrue();
    }

    @Test
    void aHoldThatIsNotRenewedIsAtRiskAfterHalfOfItsLease() {
        TestSubscriber<HoldState> watcher = watch(bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1));

        bench.time.advance(LEASE);

        assertEnded(watcher, "safe", "at risk PT14.698S no cause", "lost EXPIRED");
    }

    @Test
    void aHoldThatIsPassedOnLateBeginsAtRisk() {
        LockClient brief = bench.with(o -> o.withLease(Duration.ofMillis(100)));
        LockHandle first = bench.hold(brief, "k", 1);
        TestSubscriber<LockHandle> next = subscribe(brief.acquire("k"));
        bench.time.pause(Duration.ofMillis(49));

        subscribe(first.release());

        assertThat(heard(watch(Bench.held(next)))).containsExactly("at risk PT0.048S no cause");
    }

    // ---- losses that nobody can foresee

    @Test
    void aForcedReleaseComesWithoutARisk() {
        TestSubscriber<HoldState> watcher = watch(bench.hold("k", 1));

        store.push(new Signal.Suspect(bench.claimId(0), LossReason.FORCED));
        Asked<RenewalResult> asked = store.renewal();
        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.FORCED));

        assertEnded(watcher, "safe", "lost FORCED");
    }

    @Test
    void soDoTheLongestHoldAndTheEndOfTheClient() {
        store.confirmsRenewals = true;
        TestSubscriber<HoldState> longest =
                watch(bench.hold(bench.with(o -> o.withMaxHold(Duration.ofMinutes(1))), "long", 1));
        bench.time.advance(Duration.ofMinutes(1));
        assertEnded(longest, "safe", "lost HELD_TOO_LONG");

        TestSubscriber<HoldState> closed = watch(bench.hold("k", 1));
        subscribe(bench.client.close());
        assertEnded(closed, "safe", "lost CLIENT_CLOSED");
    }

    /** Both are told of; those who hear it on the same thread hear both. */
    @Test
    void aPauseMakesTheRiskLate() {
        TestSubscriber<HoldState> watcher = watch(bench.hold("k", 1));

        bench.time.jumpWall(LEASE);
        bench.time.advance(TICK);

        assertEnded(watcher, "safe", "at risk PT0S no cause", "lost EXPIRED");
    }

    @Test
    void aLossThatTheStoreTellsAfterAPauseIsAtRiskFirst() {
        TestSubscriber<HoldState> watcher = watch(bench.hold("k", 1));
        bench.time.advance(RENEWAL);
        Asked<RenewalResult> asked = store.renewal();

        bench.time.pause(LEASE);
        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.EXPIRED));

        assertEnded(watcher, "safe", "at risk PT0S no cause", "lost EXPIRED");
    }

    /** The longest hold is over before a tick has seen that the machine was suspended. */
    @Test
    void aLossBeforeTheFirstTickAfterASuspensionIsAtRiskFirst() {
        store.confirmsRenewals = true;
        LockHandle held = bench.hold(bench.with(o -> o.withoutRenewal().withMaxHold(LEASE)), "k", 1);
        bench.time.advance(Duration.ofSeconds(20));
        subscribe(held.renew());
        TestSubscriber<HoldState> watcher = watch(held);
        bench.time.advance(LEASE.minus(Duration.ofMillis(20_010)));

        bench.time.jumpWall(Duration.ofSeconds(10));
        bench.time.advance(Duration.ofMillis(10));

        assertEnded(watcher, "safe", "at risk PT9.698S no cause", "lost HELD_TOO_LONG");
    }

    // ---- the end

    @Test
    void aHoldThatTheStoreDisownsAtItsReleaseWasLost() {
        LockHandle held = bench.hold("k", 1);
        store.confirmsReleases = false;
        TestSubscriber<HoldState> watcher = watch(held);

        subscribe(held.release());
        assertThat(watcher.isTerminated()).isFalse();
        store.release().answer(false);

        assertEnded(watcher, "safe", "lost EXPIRED");
    }

    @Test
    void aReleaseThatIsNotAnsweredIsTheEndToo() {
        LockHandle held = bench.hold("k", 1);
        store.confirmsReleases = false;
        TestSubscriber<HoldState> watcher = watch(held);

        subscribe(held.release());
        store.release().fail();

        assertEnded(watcher, "safe");
    }

    @Test
    void whoAsksAfterTheEndHearsTheEnd() {
        LockHandle released = bench.hold("a", 1);
        subscribe(released.release());
        assertEnded(watch(released));

        LockHandle lost = bench.hold("b", 2);
        bench.time.advance(LEASE);
        assertEnded(watch(lost), "lost UNREACHABLE");

        LockHandle over = bench.hold("c", 3);
        bench.time.pause(LEASE);
        assertEnded(watch(over), "lost EXPIRED");
    }

    @Test
    void theHandleOfAReentrantAcquisitionShowsTheSameHold() {
        Mono<LockHandle> owned = bench.client.acquire("k").contextWrite(LockContext.owner("saga"));
        TestSubscriber<LockHandle> outer = subscribe(owned);
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        LockHandle inner = Bench.held(subscribe(owned));
        TestSubscriber<HoldState> watcher = watch(inner);

        subscribe(inner.release());
        assertThat(watcher.isTerminated()).as("the other is in").isFalse();
        bench.time.advance(LEASE.multipliedBy(2));

        assertThat(Bench.held(outer).isHeld()).isFalse();
        assertEnded(watcher, "safe", "at risk PT17.698S a cause", "lost UNREACHABLE");
    }

    @Test
    void aHoldIsWatchedFromTheMomentSomebodyAsks() {
        LockHandle held = bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        bench.time.advance(Duration.ofSeconds(10));
        TestSubscriber<HoldState> watcher = watch(held);

        bench.time.advance(VALID.minusSeconds(11));

        assertThat(heard(watcher)).containsExactly("safe", "at risk PT14.698S no cause");
    }

    @Test
    void aListenerHearsTheSame() {
        Stories stories = new Stories();
        Bench both = new Bench(settings -> settings.listener(stories));
        TestSubscriber<HoldState> watcher = watch(both.hold("k", 1));
        both.time.advance(RENEWAL);
        both.store.renewal().fail();
        both.store.confirmsRenewals = true;
        both.time.advance(TICK.multipliedBy(2));
        both.store.disconnect();
        both.time.advance(LEASE);

        assertThat(heard(watcher))
                .containsExactly(
                        "safe", "at risk PT19.448S a cause", "safe", "at risk PT14.698S no cause", "lost UNREACHABLE");
        assertThat(stories.stories()).containsExactly("waiting acquired renewalFailed atRisk safeAgain atRisk lost");
    }
}
