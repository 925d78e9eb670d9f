package io.github.reactivelock.engine.hold;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** {@link LockOptions#withMinHold}: when a lock is left to a claim that nobody uses, until when, and when it is not. */
class MinHoldTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration LEAST = Duration.ofSeconds(10);
    /** A hundredth and two milliseconds more, because the store may count faster. */
    private static final Duration KEPT = Duration.ofMillis(9_092);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient client = bench.with(options -> options.withMinHold(LEAST));

    @CanIgnoreReturnValue
    private Claim kept(ScriptedBackend.Asked<Boolean> asked) {
        assertThat(asked.claims()).hasSize(2);
        return asked.claims().get(1);
    }

    @Test
    void theStoreIsToldToKeepTheLockForTheRest() {
        store.confirmsReleases = false;
        LockHandle handle = bench.hold(client, "k", 1);
        bench.time.advance(SECOND);
        TestSubscriber<Void> released = subscribe(handle.release());

        ScriptedBackend.Asked<Boolean> asked = store.release();
        assertThat(store.log).containsExactly("claim .0", "keep .0", "keep .1");
        assertThat(kept(asked).lease()).isEqualTo(KEPT);
        assertThat(kept(asked).owner()).isEqualTo(asked.claims().get(0).owner());
        assertThat(handle.isHeld()).isFalse();
        assertThat(released.isTerminated()).isFalse();

        asked.answer(true);
        assertThat(released.isTerminatedComplete()).isTrue();
        assertThat(bench.engine.isIdle()).isTrue();
    }

    @Test
    void atItsEndTheNextClaimIsServed() {
        LockHandle handle = bench.hold(client, "k", 1);
        bench.time.advance(SECOND);
        subscribe(handle.release());
        bench.time.advance(LEAST.minus(SECOND).minusNanos(1));
        assertThat(store.count("release")).isZero();

        bench.time.advance(Duration.ofNanos(1));

        assertThat(store.log).endsWith("release .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void whereTheRestIsLongNothingIsRemembered() {
        LockHandle handle = bench.hold(bench.with(options -> options.withMinHold(Duration.ofDays(1))), "k", 1);

        subscribe(handle.release());

        assertThat(store.log).endsWith("keep .0", "keep .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void aHoldThatLastedLongerIsReleased() {
        store.confirmsRenewals = true;
        LockHandle handle = bench.hold(client, "k", 1);
        bench.time.advance(LEAST);

        subscribe(handle.release());

        assertThat(store.log).endsWith("release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void flowsOfTheSameProcessWaitForTheStore() {
        LockHandle handle = bench.hold(client, "k", 1);
        TestSubscriber<LockHandle> next = subscribe(client.acquire("k"));

        subscribe(handle.release());

        assertThat(next.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0", "keep .0", "keep .1", "claim .2");
    }

    @Test
    void soDoThoseThatTheStoreServesNext() {
        LockClient fifo = client.with(client.options().withFairness(Fairness.FIFO));
        LockHandle handle = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> next = bench.queueBehind(fifo, bench.claimId(0));

        subscribe(handle.release());

        assertThat(next.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("keep .0", "keep .2");
    }

    @Test
    void anAnswerThatIsLostIsAskedForAgainWithWhatIsLeftThen() {
        store.confirmsReleases = false;
        LockHandle handle = bench.hold(client, "k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());
        Claim first = kept(askedAndFailed());
        assertThat(released.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        bench.time.advance(SECOND);

        ScriptedBackend.Asked<Boolean> again = store.release();
        assertThat(kept(again).id()).isEqualTo(first.id());
        assertThat(kept(again).lease()).isLessThan(first.lease());
        again.answer(true);
        assertThat(bench.engine.isIdle()).isTrue();
    }

    @CanIgnoreReturnValue
    private ScriptedBackend.Asked<Boolean> askedAndFailed() {
        ScriptedBackend.Asked<Boolean> asked = store.release();
        asked.fail();
        return asked;
    }

    @Test
    void whenNoAnswerCameUntilTheEndBothClaimsAreReleased() {
        store.confirmsReleases = false;
        subscribe(bench.hold(client, "k", 1).release());
        askedAndFailed();
        bench.time.advance(Duration.ofMillis(60));
        store.release();
        bench.time.advance(LEAST);
        store.confirmsReleases = true;
        bench.time.advance(Duration.ofSeconds(5));

        assertThat(store.log).contains("release .0", "release .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void aHoldThatTheStoreDisownsIsLostAndItsClaimIsWithdrawn() {
        store.confirmsReleases = false;
        TestSubscriber<Void> released = subscribe(bench.hold(client, "k", 1).release());
        ScriptedBackend.Asked<Boolean> asked = store.release();
        store.confirmsReleases = true;

        asked.answer(false);

        assertThat(released.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void theStrictestOfReentrantAcquisitionsCountsFromWhenItJoined() {
        Sinks.Empty<Void> inner = Sinks.empty();
        LockClient outer = bench.with(options -> options.withMinHold(SECOND));
        TestSubscriber<Void> work = subscribe(outer.withLock(
                "k", Mono.delay(SECOND.multipliedBy(2), bench.time).then(client.withLock("k", inner.asMono()))));
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        store.confirmsReleases = false;
        bench.time.advance(SECOND.multipliedBy(3));

        inner.tryEmitEmpty().orThrow();

        assertThat(kept(store.release()).lease()).isEqualTo(KEPT);
        assertThat(work.isTerminated()).isFalse();
    }

    @Test
    void eachOfSeveralKeysIsKept() {
        TestSubscriber<String> work = subscribe(client.withLock(List.of("a", "b"), Mono.just("done")));
        grantNext(1);
        grantNext(2);

        assertThat(work.getReceivedOnNext()).containsExactly("done");
        assertThat(store.count("keep")).isEqualTo(4);
        assertThat(store.count("release")).isZero();
    }

    private void grantNext(long number) {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), number));
    }

    @Test
    void workThatNeverBeganKeepsNothing() {
        TestSubscriber<String> work = subscribe(client.withLock(List.of("a", "b"), Mono.just("done")));
        grantNext(1);

        work.cancel();

        assertThat(store.log).contains("release .0").doesNotContain("keep .0");
    }

    @Test
    void aHandleThatCameTooLateKeepsNothing() {
        bench.work.shut();
        TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
        grantNext(1);
        flow.cancel();
        bench.work.open();

        assertThat(store.log).endsWith("release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void workThatIsCancelledOrFailsKeepsTheLock() {
        TestSubscriber<Object> cancelled = subscribe(client.withLock("a", Mono.never()));
        grantNext(1);
        cancelled.cancel();
        subscribe(client.withLock("b", Mono.error(new IllegalStateException("planted"))));
        grantNext(2);

        assertThat(store.count("keep")).isEqualTo(4);
        assertThat(store.count("release")).isZero();
    }

    @Test
    void aHoldThatIsLostKeepsNothing() {
        LockHandle handle = bench.hold(bench.with(options -> options.withMinHold(Bench.LEASE.multipliedBy(2))), "k", 1);
        bench.time.advance(Bench.LEASE);

        assertThat(handle.isHeld()).isFalse();
        assertThat(store.log).contains("release .0").doesNotContain("keep .0");
    }

    @Test
    void whatEndsAHoldHereKeepsTheLock() {
        LockClient inner = bench.with(options -> options.withMaxHold(SECOND));
        TestSubscriber<Object> work = subscribe(client.withLock("k", inner.withLock("k", Mono.never())));
        grantNext(1);
        bench.time.advance(SECOND);

        assertThat(work.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.HELD_TOO_LONG));
        assertThat(store.log).endsWith("keep .0", "keep .1");
    }

    @Test
    void closingKeepsItAndDoesNotWaitForItsEnd() {
        bench.hold(client, "held", 1);
        subscribe(bench.hold(client, "kept", 2).release());

        TestSubscriber<Void> closed = subscribe(client.close());

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(store.count("keep")).isEqualTo(4);
        assertThat(store.count("release")).isZero();
    }

    @Test
    void theOutcomeNeedNotWaitForIt() {
        store.confirmsReleases = false;
        TestSubscriber<String> work = subscribe(
                client.with(client.options().withReleaseInBackground()).withLock("k", Mono.just("done")));
        grantNext(1);

        assertThat(work.getReceivedOnNext()).containsExactly("done");
        kept(store.release());
    }

    @Test
    void timesThatContradictItAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> bench.with(options -> options.withMinHold(LEAST).withMaxHold(SECOND)))
                .withMessageContaining("minHold of PT10S")
                .withMessageContaining("maxHold of PT1S");
        LockOptions once =
                LockOptions.defaults().withoutRenewal().withLease(SECOND).withMinHold(LEAST);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder(store).options(once).build())
                .withMessageContaining("minHold of PT10S")
                .withMessageContaining("lease of PT1S");
        assertThat(bench.with(options -> options.withMinHold(LEAST).withMaxHold(LEAST))
                        .options()
                        .minHold())
                .contains(LEAST);
    }
}
