package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** {@link LockOptions#withReleaseInBackground}: what goes on without the store's answer, and what still hears of it. */
class BackgroundReleaseTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient client = bench.with(LockOptions::withReleaseInBackground);

    @BeforeEach
    void releasesAreAnsweredByHand() {
        store.confirmsReleases = false;
    }

    @CanIgnoreReturnValue
    private <T> TestSubscriber<T> granted(Mono<T> locked) {
        TestSubscriber<T> flow = subscribe(locked);
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        return flow;
    }

    @Test
    void theReleaseIsOnItsWayBeforeTheOutcomeGoesOn() {
        AtomicBoolean sent = new AtomicBoolean();
        bench.work.shut();
        TestSubscriber<String> flow =
                granted(client.withLock("k", Mono.just("v")).doOnNext(value -> sent.set(store.count("release") == 1)));
        bench.work.open(); // as on a thread of its own

        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(sent).isTrue();
        assertThat(bench.heard.released).isEmpty();

        store.release().answer(true);
        assertThat(bench.heard.released).hasSize(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void anErrorOfTheWorkGoesOnAtOnceToo() {
        TestSubscriber<Object> flow = granted(client.withLock("k", Mono.error(new IllegalStateException("planted"))));

        assertThat(flow.expectTerminalError()).hasMessage("planted");
        store.release().answer(true);
        bench.assertNothingIsLeft();
    }

    @Test
    void aClaimOfTheSameClientFollowsTheRelease() {
        granted(client.withLock("k", Mono.just("v")).then(client.withLock("k", Mono.just("w"))));

        assertThat(store.log)
                .map(line -> line.substring(0, line.indexOf(" ")))
                .containsExactly("claim", "release", "claim");
    }

    @Test
    void aFailureIsToldToTheListenerAndTriedAgain() {
        TestSubscriber<String> flow = granted(client.withLock("k", Mono.just("v")));
        store.release().fail();

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(bench.heard.unreleased).hasSize(1);
        bench.time.advance(Bench.LEASE);
        assertThat(store.count("release")).isGreaterThan(1);
    }

    @Test
    void aHoldThatTheStoreDisownsIsToldToTheListener() {
        TestSubscriber<String> flow = granted(client.withLock("k", Mono.just("v")));
        store.release().answer(false);

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(bench.heard.lost).hasSize(1);
        assertThat(bench.heard.lost.get(0).reason()).isEqualTo(LossReason.EXPIRED);
        bench.assertNothingIsLeft();
    }

    @Test
    void aHandleIsReleasedAsEver() {
        LockHandle handle = bench.hold(client, "k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());
        assertThat(released.isTerminated()).isFalse();

        store.release().answer(true);

        assertThat(released.isTerminatedComplete()).isTrue();
    }

    @Test
    void aLossBeforeTheEndIsStillALoss() {
        Sinks.One<String> work = Sinks.one();
        TestSubscriber<String> flow = granted(client.withLock("k", work.asMono()));
        bench.time.advance(Bench.LEASE);
        Sinks.EmitResult unused = work.tryEmitValue("too late");

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(flow.getReceivedOnNext()).isEmpty();
    }

    @Test
    void nobodyIsWokenForAReleaseThatNobodyAsksAbout() {
        Bench unheard = Bench.unheard();
        unheard.store.confirmsReleases = false;
        List<LockHandle> kept = new ArrayList<>();
        TestSubscriber<String> flow =
                subscribe(unheard.with(LockOptions::withReleaseInBackground).withLock("k", held -> {
                    kept.add(held);
                    return Mono.just("v");
                }));
        ScriptedBackend.Asked<ClaimResult> asked = unheard.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        assertThat(flow.isTerminatedComplete()).isTrue();
        unheard.work.shut();

        unheard.store.release().answer(true);

        assertThat(unheard.work.waiting()).isZero();
        unheard.work.open();
        assertThat(subscribe(kept.get(0).release()).isTerminatedComplete()).isTrue();
        unheard.assertNothingIsLeft();
    }

    @Test
    void theOptionStaysInViewsOfTheView() {
        LockOptions background = LockOptions.defaults().withReleaseInBackground();

        assertThat(LockOptions.defaults().isReleaseAwaited()).isTrue();
        assertThat(background.isReleaseAwaited()).isFalse();
        assertThat(background.withLease(Bench.LEASE).isReleaseAwaited()).isFalse();
        assertThat(background).asString().contains("releaseAwaited=false");
    }
}
