package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** What is asked of a store without taking part. */
class QueriesTest {

    private final Bench bench = new Bench();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
    private final LockClient holder = bench.over(store).build();
    private final Sinks.Many<LockEvent> told = Sinks.many().unicast().onBackpressureBuffer();
    private final LockClient watcher = bench.over(store.connect()).build();

    @Test
    void nothingIsAwaitedOfALockThatIsFree() {
        assertThat(subscribe(watcher.awaitRelease("k")).isTerminatedComplete()).isTrue();
    }

    @Test
    void aHoldIsCurrentUntilTheStoreHasAnother() {
        LockHandle first = Bench.held(subscribe(holder.acquire("k")));
        assertThat(isCurrent(first)).isTrue();

        subscribe(watcher.forceRelease("k"));
        assertThat(isCurrent(first)).isFalse();

        LockHandle next = Bench.held(subscribe(watcher.acquire("k")));
        assertThat(isCurrent(first)).isFalse();
        assertThat(isCurrent(next)).isTrue();
    }

    @Test
    void passesOfOneGrantAreNotToldApart() {
        LockHandle first = Bench.held(subscribe(holder.acquire("k")));
        TestSubscriber<LockHandle> second = subscribe(holder.acquire("k"));
        subscribe(first.release());

        assertThat(Bench.held(second).fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(isCurrent(Bench.held(second))).isTrue();
        assertThat(isCurrent(first)).isTrue();
    }

    @Test
    void everyShareIsCurrentAndNotOnlyTheNewest() {
        LockHandle first = Bench.held(subscribe(holder.shared().acquire("k")));
        LockHandle newest = Bench.held(subscribe(watcher.shared().acquire("k")));

        assertThat(isCurrent(first)).isTrue();
        assertThat(isCurrent(newest)).isTrue();

        subscribe(first.release());
        assertThat(isCurrent(first)).isFalse();
    }

    @Test
    void onlyTheNewestOfManySharesAreKnownToBeCurrent() {
        LockHandle first = Bench.held(subscribe(holder.shared().acquire("k")));
        LockHandle newest = first;
        for (int i = 0; i < LockInfo.Held.MOST_SHOWN; i++) {
            newest = Bench.held(
                    subscribe(bench.over(store.connect()).build().shared().acquire("k")));
        }

        assertThat(isCurrent(newest)).isTrue();
        assertThat(subscribe(watcher.isCurrent("k", first.fencingToken())).expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasStackTraceContaining("let the resource compare tokens");
    }

    private boolean isCurrent(LockHandle hold) {
        return subscribe(watcher.isCurrent("k", hold.fencingToken()))
                .getReceivedOnNext()
                .contains(true);
    }

    @Test
    void aReleaseIsAwaited() {
        LockHandle handle = Bench.held(subscribe(holder.acquire("k")));
        TestSubscriber<Void> awaited = subscribe(watcher.awaitRelease("k"));
        bench.time.advance(Duration.ofMinutes(5));
        assertThat(awaited.isTerminated()).isFalse();

        subscribe(handle.release());

        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void aGrantToAnotherProcessEndsTheOneThatIsAwaited() {
        LockHandle handle = Bench.held(subscribe(holder.acquire("k")));
        subscribe(watcher.acquire("k"));
        TestSubscriber<Void> awaited = subscribe(watcher.awaitRelease("k"));

        subscribe(handle.release());

        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void theEndOfTheGrantBeforeThatIsHeardLateEndsNothing() {
        TestSubscriber<Void> awaited = subscribe(clientThatIsTold().awaitRelease("k"));

        tell(new LockEvent.Snapshot(held(2)));
        tell(new LockEvent.Released("k", 1 << 12));
        tell(new LockEvent.Acquired("k", "b", 2 << 12));
        assertThat(awaited.isTerminated()).isFalse();

        tell(new LockEvent.Released("k", 2 << 12));
        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void theEndOfALeaseIsNoticedThoughSomethingOlderWasHeardMeanwhile() {
        TestSubscriber<Void> awaited = subscribe(clientThatIsTold().awaitRelease("k"));
        tell(new LockEvent.Snapshot(held(2)));
        tell(new LockEvent.Released("k", 1 << 12));

        bench.time.advance(Duration.ofSeconds(9));

        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    /** A node of a quorum may show that of its vote. */
    @Test
    void aLowerNumberOfTheSameGrantIsNoRelease() {
        TestSubscriber<Void> awaited = subscribe(clientThatIsTold().awaitRelease("k"));

        tell(new LockEvent.Snapshot(held(2)));
        tell(new LockEvent.Snapshot(held(1)));
        assertThat(awaited.isTerminated()).isFalse();

        tell(new LockEvent.Snapshot(held(3)));
        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void whatIsHeardBeforeTheFirstSnapshotEndsNothing() {
        TestSubscriber<Void> seen = subscribe(clientThatIsTold().awaitRelease("k"));

        tell(new LockEvent.Acquired("k", "b", 2 << 12));
        tell(new LockEvent.Snapshot(held(2)));

        assertThat(seen.isTerminatedComplete()).isFalse();
        tell(new LockEvent.Released("k", 2 << 12));
        assertThat(seen.isTerminatedComplete()).isTrue();
    }

    /** However many there are, and whether its end was told or not. */
    @Test
    void whoSharesALockHasComeAfterAHoldOfTheWhole() {
        TestSubscriber<Void> seen = subscribe(clientThatIsTold().awaitRelease("k"));
        tell(new LockEvent.Snapshot(held(2)));
        LockInfo.Holder newest = new LockInfo.Holder("b", 1, 500 << 12, Duration.ofSeconds(9));

        tell(new LockEvent.Snapshot(new LockInfo.Held(
                "k",
                "b",
                500 << 12,
                Duration.ofSeconds(9),
                0,
                null,
                List.of(),
                new LockInfo.Shares(300, 300, List.of(newest)))));

        assertThat(seen.isTerminatedComplete()).isTrue();
    }

    private static LockInfo held(long number) {
        return new LockInfo.Held("k", "b", number << 12, Duration.ofSeconds(9), 0);
    }

    private void tell(LockEvent event) {
        told.tryEmitNext(event).orThrow();
    }

    private LockClient clientThatIsTold() {
        LockBackend scripted = (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(),
                new Class<?>[] {LockBackend.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "events" -> told.asFlux();
                    case "inspect" -> Mono.just(new LockInfo.Free("k"));
                    case "signals" -> Flux.never();
                    case "isReady" -> true;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        return bench.over(scripted).build();
    }

    @Test
    void aPassInsideAProcessDoesNotEndTheStoresGrant() {
        LockHandle first = Bench.held(subscribe(holder.acquire("k")));
        TestSubscriber<LockHandle> second = subscribe(holder.acquire("k"));
        TestSubscriber<Void> awaited = subscribe(watcher.awaitRelease("k"));

        subscribe(first.release());
        assertThat(awaited.isTerminated()).isFalse();
        subscribe(Bench.held(second).release());

        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void theEndOfALeaseIsNoticedThoughNobodyAnnouncesIt() {
        LockClient silent = bench.over(store.connect()).build();
        LockOptions options = LockOptions.defaults().withLease(Duration.ofSeconds(5));
        subscribe(silent.with(options.withoutRenewal()).acquire("k"));
        TestSubscriber<Void> awaited = subscribe(watcher.awaitRelease("k"));

        bench.time.advance(Duration.ofSeconds(5).plusMillis(10));

        assertThat(awaited.isTerminatedComplete()).isTrue();
    }

    @Test
    void watchingBeginsWithASnapshot() {
        TestSubscriber<LockEvent> events = TestSubscriber.create();
        watcher.events("k").subscribe(events);

        LockHandle handle = Bench.held(subscribe(holder.acquire("k")));
        subscribe(handle.release());

        assertThat(events.getReceivedOnNext()).hasSize(3);
        assertThat(events.getReceivedOnNext().get(0)).isEqualTo(new LockEvent.Snapshot(new LockInfo.Free("k")));
        assertThat(events.getReceivedOnNext().get(1)).isInstanceOf(LockEvent.Acquired.class);
        assertThat(events.getReceivedOnNext().get(2)).isInstanceOf(LockEvent.Released.class);
        events.cancel();
    }

    @Test
    void aForcedReleaseIsLearnedOfAtOnce() {
        LockHandle handle = Bench.held(subscribe(holder.acquire("k")));

        assertThat(subscribe(watcher.forceRelease("k")).getReceivedOnNext()).containsExactly(true);

        assertThat(handle.isHeld()).isFalse();
        assertThat(subscribe(watcher.forceRelease("k")).getReceivedOnNext()).containsExactly(false);
    }

    @Test
    void aForcedReleaseOfAGrantThatIsOverLeavesTheNextAlone() {
        LockHandle seen = Bench.held(subscribe(holder.acquire("k")));
        subscribe(seen.release());
        LockHandle next = Bench.held(subscribe(holder.acquire("k")));

        assertThat(subscribe(watcher.forceRelease("k", seen.fencingToken())).getReceivedOnNext())
                .containsExactly(false);

        assertThat(next.isHeld()).isTrue();
        assertThat(subscribe(watcher.forceRelease("k", next.fencingToken())).getReceivedOnNext())
                .containsExactly(true);
        assertThat(next.isHeld()).isFalse();
    }

    @Test
    void aForcedReleaseByTokenEndsAGrantPassedOnInTheProcess() {
        LockHandle first = Bench.held(subscribe(holder.acquire("k")));
        TestSubscriber<LockHandle> behind = subscribe(holder.acquire("k"));
        subscribe(first.release());
        LockHandle passed = Bench.held(behind);
        assertThat(passed.fencingToken()).isEqualTo(first.fencingToken() + 1);

        assertThat(subscribe(watcher.forceRelease("k", passed.fencingToken())).getReceivedOnNext())
                .containsExactly(true);

        assertThat(passed.isHeld()).isFalse();
    }

    @Test
    void aStoreThatDoesNotAnswerAQuestionIsUnavailable() {
        TestSubscriber<Boolean> forced = subscribe(bench.client.forceRelease("k", ScriptedBackend.token(1)));

        bench.time.advance(Duration.ofMillis(1_999));
        assertThat(forced.isTerminated()).isFalse();
        bench.time.advance(Duration.ofMillis(1));

        assertThat(forced.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("'k'");
        assertThat(bench.time.armedTimers()).isZero();
    }
}
