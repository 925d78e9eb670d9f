package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The end of a client. */
class CloseTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @Test
    void closingIsColdAndIdempotent() {
        Mono<Void> close = bench.client.close();
        assertThat(store.isClosed).isFalse();

        assertThat(subscribe(close).isTerminatedComplete()).isTrue();
        assertThat(subscribe(close).isTerminatedComplete()).isTrue();
        assertThat(subscribe(bench.client.with(LockOptions.defaults()).close()).isTerminatedComplete())
                .isTrue();
        assertThat(store.log).containsExactly("close");
    }

    @Test
    void whatIsHeldIsLostAndReleasedAndWhatWaitsFails() {
        List<String> order = new ArrayList<>();
        TestSubscriber<String> work =
                subscribe(bench.client.withLock("k", Mono.<String>never().doOnCancel(() -> order.addAll(store.log))));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        TestSubscriber<LockHandle> behind = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> queued = TestSubscriber.create();
        bench.queue(queued, "l");
        LockHandle handle = bench.hold("n", 1);
        TestSubscriber<LockHandle> inFlight = subscribe(bench.client.tryAcquire("m"));
        TestSubscriber<Void> renewal = subscribe(handle.renew());

        TestSubscriber<Void> closed = subscribe(bench.client.close());

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(work.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.CLIENT_CLOSED));
        assertThat(order).as("cancelled before its release").doesNotContain("release .0");
        assertThat(behind.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(queued.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(inFlight.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(handle.isHeld()).isFalse();
        assertThat(renewal.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(store.log)
                .contains("release .0", "release .1", "release .2", "release .3")
                .endsWith("close");
        assertThat(store.listeners()).isZero();
        assertNothingHappensAnyMore();
    }

    @Test
    void theBackendIsClosedOnlyWhenEveryReleaseIsConfirmed() {
        store.releasedByHand = "k0";
        for (int i = 0; i < 8; i++) {
            bench.hold("k" + i, i + 1);
        }

        TestSubscriber<Void> closed = subscribe(bench.client.close());
        assertThat(store.count("release")).isEqualTo(8);
        assertThat(store.isClosed).isFalse();
        store.release().answer(true);

        assertThat(store.isClosed).isTrue();
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void aReleaseUnderWayIsWaitedFor() {
        store.confirmsReleases = false;
        LockHandle handle = bench.hold("k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());
        TestSubscriber<Void> closed = subscribe(bench.client.close());
        assertThat(closed.isTerminated()).isFalse();

        store.release().answer(true);

        assertThat(released.isTerminatedComplete()).isTrue();
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void aStoreThatIsSilentIsGivenFiveSecondsAtMost() {
        Bench slow = new Bench(settings -> settings.commandTimeout(Duration.ofMinutes(1)));
        slow.store.confirmsReleases = false;
        slow.store.closes = Mono.never();
        LockHandle handle = slow.hold("k", 1);
        TestSubscriber<Void> released = subscribe(handle.release());
        TestSubscriber<Void> closed = subscribe(slow.client.close());

        slow.time.advance(Duration.ofMillis(4_999));
        assertThat(closed.isTerminated()).isFalse();
        slow.time.advance(Duration.ofMillis(1));

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(released.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        slow.store.log.clear();
        slow.time.advance(LEASE);
        assertThat(slow.store.log).isEmpty();
        slow.assertNothingIsLeft();
    }

    @Test
    void aReleaseThatIsRefusedIsRepeatedWhileClosingAndNotAfterwards() {
        store.confirmsReleases = false;
        bench.hold("k", 1);
        TestSubscriber<Void> closed = subscribe(bench.client.close());
        for (int tries = 0; tries < 20; tries++) {
            if (store.count("release") > 0) {
                store.log.clear();
                store.release().fail();
            }
            bench.time.advance(Duration.ofMillis(250));
        }

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertNothingHappensAnyMore();
    }

    @Test
    void aBackendThatFailsToCloseDoesNotFailTheClient() {
        store.closes = Mono.error(new IllegalStateException("it does not close"));

        assertThat(subscribe(bench.client.close()).isTerminatedComplete()).isTrue();
    }

    @Test
    void cancellingDoesNotStopTheClosing() {
        store.confirmsReleases = false;
        bench.hold("k", 1);
        subscribe(bench.client.close()).cancel();

        store.release().answer(true);

        assertThat(store.isClosed).isTrue();
    }

    @Test
    void aClosedClientAcquiresAsksAndSubscribesToNothing() {
        subscribe(bench.client.close());
        store.log.clear();

        List<TestSubscriber<?>> flows = List.of(
                subscribe(bench.client.acquire("k")),
                subscribe(bench.client.tryAcquire("k")),
                subscribe(bench.client.withLock("k", Mono.just("x"))),
                subscribe(bench.client.withLock(List.of("k", "l"), Mono.just("x"))),
                subscribe(bench.client.inspect("k")),
                subscribe(bench.client.forceRelease("k")),
                subscribe(bench.client.awaitRelease("k")),
                subscribe(bench.client.events("k").next()));

        assertThat(flows)
                .allSatisfy(flow -> assertThat(flow.expectTerminalError())
                        .isInstanceOf(LockClientClosedException.class)
                        .hasMessageContaining("'k'"));
        assertThat(store.signalSubscriptions).isZero();
        assertNothingHappensAnyMore();
    }

    @Test
    void aGrantThatComesAfterTheEndIsLeftToRunOut() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        Asked<ClaimResult> late = store.claim();
        subscribe(bench.client.close());
        store.log.clear();

        late.answer(ScriptedBackend.granted(late.claim(), 1));

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertNothingHappensAnyMore();
    }

    /** When the timer takes nothing any more, on which it would be looked at again. */
    @Test
    void aSnapshotThatIsHeardAfterTheEndEndsWhatWatches() {
        LockInfo held = new LockInfo.Held("k", "another", ScriptedBackend.token(1), LEASE, 0);
        store.events = Flux.concat(Flux.just(new LockEvent.Snapshot(held)), Flux.never());
        bench.work.shut();
        TestSubscriber<LockEvent> events = TestSubscriber.create();
        bench.client.events("k").subscribe(events);
        TestSubscriber<Void> released = subscribe(bench.client.awaitRelease("k"));
        subscribe(bench.client.close());
        assertThat(store.isClosed).isTrue();
        bench.time.whileArming = () -> {
            throw new RejectedExecutionException("the timer is disposed");
        };

        bench.work.open();

        assertThat(released.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(events.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(events.getReceivedOnNext()).hasSize(1);
    }

    @Test
    void whatTheStoreTellsOfALockIsNotListenedToAnyMore() {
        AtomicInteger left = new AtomicInteger();
        store.events = Flux.<LockEvent>never().doOnCancel(left::incrementAndGet);
        TestSubscriber<LockEvent> events = TestSubscriber.create();
        bench.client.events("k").subscribe(events);

        subscribe(bench.client.close());

        assertThat(events.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(left).hasValue(1);
    }

    private void assertNothingHappensAnyMore() {
        store.log.clear();
        bench.time.advance(LEASE.multipliedBy(2));
        assertThat(store.log).isEmpty();
        bench.assertNothingIsLeft();
    }
}
