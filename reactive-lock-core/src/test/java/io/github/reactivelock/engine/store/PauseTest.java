package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/**
 * A process that gets no turn for longer than a store may take: answers came meanwhile, and the timer runs before they
 * are read.
 */
class PauseTest {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LONG = COMMAND_TIMEOUT.multipliedBy(2);
    private static final Duration TICK = Duration.ofMillis(250);
    /** A process that hardly gets a turn finds silence out late. */
    private static final int MANY = 40;

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @CanIgnoreReturnValue
    private ScriptedBackend.Asked<ClaimResult> asked() {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        bench.time.advance(TICK.multipliedBy(2));
        return asked;
    }

    /** The next tick comes late. */
    private void wakes() {
        bench.time.pause(LONG);
        bench.time.advance(TICK);
    }

    @Test
    void aClaimWhoseAnswerLiesUnreadDoesNotFail() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        var asked = asked();

        wakes();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
        assertThat(bench.engine.services.gate.window.width()).isEqualTo(Window.MOST);
    }

    @Test
    void aStoreThatIsSilentIsFoundOutAMomentLater() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        asked();

        wakes();
        bench.time.advance(COMMAND_TIMEOUT);

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasRootCauseMessage("the store did not answer within 2000 ms: look at the server of 'k'");
    }

    /** As where a program has a tenth of a processor. */
    @Test
    void silenceIsFoundOutAlsoWhereEveryTickIsLate() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        store.claim();

        for (int late = 0; late < MANY; late++) {
            bench.time.pause(Duration.ofSeconds(1));
            bench.time.advance(TICK);
        }

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    /** With very many locks a tick takes long, or the process has a pause inside it. */
    @Test
    void silenceIsFoundOutAlsoWhereEveryTickTakesLong() {
        TestSubscriber<LockHandle> one = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> other = subscribe(bench.client.acquire("l"));
        store.holdsBack = claim -> {
            bench.time.pause(Duration.ofSeconds(1));
            return false;
        };

        for (int late = 0; late < MANY; late++) {
            bench.time.advance(TICK);
        }

        assertThat(one.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(other.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aPauseInsideATickIsOneToo() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        var asked = asked();
        store.holdsBack = claim -> {
            bench.time.pause(LONG);
            store.holdsBack = later -> false;
            return false;
        };

        bench.time.advance(TICK.multipliedBy(2));
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void thePauseAfterItIsAnotherOne() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        asked().answer(ScriptedBackend.queued());
        wakes();
        bench.time.advance(TICK.multipliedBy(4));
        TestSubscriber<LockHandle> next = subscribe(bench.client.acquire("another"));
        var asked = asked();

        wakes();
        asked.answer(ScriptedBackend.granted(asked.claim(), 2));

        assertThat(Bench.held(next).isHeld()).isTrue();
        assertThat(flow.isTerminated()).isFalse();
    }

    /** A client that was made a moment ago: its first tick is the late one. */
    @Test
    void theFirstTickMayBeTheLateOne() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        var asked = store.claim();

        wakes();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    /** Of a hold, and asked for a moment before a pause. */
    private TestSubscriber<Void> release() {
        LockHandle held = bench.hold("k", 1);
        store.confirmsReleases = false;
        TestSubscriber<Void> release = subscribe(held.release());
        bench.time.advance(TICK.multipliedBy(2));
        return release;
    }

    @Test
    void aReleaseWhoseAnswerLiesUnreadDoesNotFail() {
        TestSubscriber<Void> release = release();

        wakes();
        assertThat(release.isTerminated()).isFalse();
        store.release().answer(true);

        assertThat(release.isTerminatedComplete()).isTrue();
        assertThat(store.count("release")).isEqualTo(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aReleaseThatIsNotAnsweredIsToldOfAMomentLater() {
        TestSubscriber<Void> release = release();

        wakes();
        bench.time.advance(COMMAND_TIMEOUT);

        assertThat(release.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    /** A renewal that was asked for by hand. */
    @CanIgnoreReturnValue
    private TestSubscriber<Void> renewal(Duration lease) {
        LockHandle held = bench.hold(bench.with(options -> options.withLease(lease)), "k", 1);
        return subscribe(held.renew());
    }

    @Test
    void aRenewalWhoseAnswerLiesUnreadDoesNotFail() {
        TestSubscriber<Void> renewed = renewal(Bench.LEASE);
        var asked = store.renewal();
        bench.time.advance(TICK.multipliedBy(2));

        wakes();
        assertThat(renewed.isTerminated()).isFalse();
        asked.answer(ScriptedBackend.renewed(asked.claims()));

        assertThat(renewed.isTerminatedComplete()).isTrue();
    }

    /** A moment may be all that is left of it. */
    @Test
    void aShortLeaseIsAskedForAgainAtTheFirstTick() {
        for (int lease = 800; lease <= 1_300; lease += 100) {
            store.ignoreAll();
            TestSubscriber<Void> renewed = renewal(Duration.ofMillis(lease));

            bench.time.pause(Duration.ofMillis(520));
            bench.time.advance(Duration.ofMillis(lease / 12 + 1)); // a tick of such a lease

            assertThat(store.count("renew")).as("lease of %s ms", lease).isEqualTo(2);
            assertThat(renewed.isTerminated()).as("the answer may lie unread").isFalse();
            bench.time.advance(Duration.ofMillis(lease));
        }
    }

    @Test
    void aRenewalThatIsNotAnsweredAfterAPauseEitherIsToldOf() {
        TestSubscriber<Void> renewed = renewal(Bench.LEASE);
        bench.time.advance(TICK.multipliedBy(2));

        wakes();
        bench.time.advance(COMMAND_TIMEOUT);

        assertThat(renewed.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aLossAtTheFirstTickBlamesNoStoreWithAnUnreadAnswer() {
        renewal(Duration.ofSeconds(3));
        bench.time.advance(Duration.ofMillis(250));

        bench.time.pause(Duration.ofSeconds(3));
        bench.time.advance(Duration.ofMillis(250));

        assertThat(bench.heard.lost)
                .singleElement()
                .satisfies(loss -> assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED));
    }

    @Test
    void aLossAfterSilenceSaysSo() {
        renewal(Duration.ofSeconds(3));

        bench.time.advance(Duration.ofSeconds(3));

        assertThat(bench.heard.lost)
                .singleElement()
                .satisfies(loss -> assertThat(loss.reason()).isEqualTo(LossReason.UNREACHABLE));
    }

    @Test
    void aQuestionWhoseAnswerLiesUnreadDoesNotFail() {
        Sinks.One<LockInfo> answer = Sinks.one();
        store.inspects = answer.asMono();
        TestSubscriber<LockInfo> seen = subscribe(bench.client.inspect("k"));
        bench.time.advance(TICK.multipliedBy(2));

        bench.time.stop(LONG);
        assertThat(seen.isTerminated()).isFalse();
        answer.tryEmitValue(new LockInfo.Free("k")).orThrow();

        assertThat(seen.isTerminatedComplete()).isTrue();
    }

    @Test
    void anOpeningThatIsOverButNotToldOfDoesNotFail() {
        store.disconnect();
        TestSubscriber<LockInfo> seen = subscribe(bench.client.inspect("k"));
        bench.time.advance(TICK.multipliedBy(2));

        bench.time.stop(Duration.ofMinutes(1));
        assertThat(seen.isTerminated()).isFalse();
        store.connect();

        assertThat(seen.isTerminatedComplete()).isTrue();
    }

    @Test
    void closingWaitsForReleasesWhoseAnswersLieUnread() {
        TestSubscriber<Void> released = release();
        TestSubscriber<Void> closed = subscribe(bench.client.close());
        bench.time.advance(TICK.multipliedBy(2));

        bench.time.stop(Duration.ofSeconds(10));
        assertThat(store.isClosed).isFalse();
        store.release().answer(true);

        assertThat(released.isTerminatedComplete()).isTrue();
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void aClaimThatWaitsForAConnectionDoesNotFail() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        bench.time.advance(TICK);

        bench.time.pause(Duration.ofMinutes(1));
        bench.time.advance(TICK);
        store.connect();
        var asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void aClaimThatWaitsBehindOthersDoesNotFail() {
        bench.hold("connected", 1);
        for (int i = 0; i < Window.MOST; i++) {
            subscribe(bench.client.acquire("other " + i));
        }
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        bench.time.advance(TICK.multipliedBy(2));
        assertThat(store.claims).hasSize(Window.MOST);

        wakes();
        assertThat(flow.isTerminated()).isFalse();
        var first = store.claim();
        first.answer(ScriptedBackend.granted(first.claim(), 2));

        assertThat(store.claims.get(store.claims.size() - 1).claim().key()).isEqualTo("k");
        bench.time.advance(TICK.multipliedBy(2));
        assertThat(flow.isTerminated()).isFalse();
    }

    @Test
    void aReleaseThatWaitsForAConnectionDoesNotFail() {
        LockHandle held = bench.hold("k", 1);
        store.disconnect();
        TestSubscriber<Void> release = subscribe(held.release());
        bench.time.advance(TICK.multipliedBy(2));

        wakes();
        assertThat(release.isTerminated()).isFalse();
        store.connect();

        assertThat(release.isTerminatedComplete()).isTrue();
    }

    @Test
    void aRenewalThatWaitsForAConnectionDoesNotFail() {
        LockHandle held = bench.hold("k", 1);
        store.disconnect();
        store.confirmsRenewals = true;
        TestSubscriber<Void> renewed = subscribe(held.renew());
        bench.time.advance(TICK.multipliedBy(2));

        wakes();
        assertThat(renewed.isTerminated()).isFalse();
        store.connect();

        assertThat(renewed.isTerminatedComplete()).isTrue();
    }

    /** A hold's deadline is no question of the store's silence. */
    @Test
    void aHoldIsOverAtTheFirstTickOnWaking() {
        LockHandle held = bench.hold("k", 1);
        bench.time.advance(TICK);

        bench.time.pause(Bench.LEASE);
        bench.time.advance(TICK);

        assertThat(held.isHeld()).isFalse();
        assertThat(bench.heard.lost).hasSize(1);
    }

    /** The thread that has a handle to emit gets no turn until the lease is over. */
    private TestSubscriber<LockHandle> grantedBeforeAPause(Mono<LockHandle> acquisition) {
        TestSubscriber<LockHandle> flow = subscribe(acquisition);
        bench.work.shut();
        var asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        bench.time.pause(Bench.LEASE);
        bench.work.open();
        return flow;
    }

    @Test
    void noHandleOfAHoldThatIsOverIsEmitted() {
        TestSubscriber<LockHandle> flow = grantedBeforeAPause(bench.client.acquire("k"));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(flow.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(store.count("release")).isEqualTo(1);
        assertThat(bench.heard.lost).hasSize(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void nobodyWhoOnlyTriedGetsAHandleOfAHoldThatIsOver() {
        TestSubscriber<LockHandle> flow = grantedBeforeAPause(bench.client.tryAcquire("k"));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void noWorkBeginsUnderAHoldOfWhichOneOfSeveralIsOver() {
        AtomicBoolean begun = new AtomicBoolean();
        TestSubscriber<Object> flow =
                subscribe(bench.client.withLock(List.of("a", "b"), Mono.fromRunnable(() -> begun.set(true))));
        var first = store.claim();
        first.answer(ScriptedBackend.granted(first.claim(), 1));
        bench.work.shut();
        var second = store.claim();
        second.answer(ScriptedBackend.granted(second.claim(), 2));
        bench.time.pause(Bench.LEASE);
        bench.work.open();

        assertThat(begun).isFalse();
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        bench.assertNothingIsLeft();
    }
}
