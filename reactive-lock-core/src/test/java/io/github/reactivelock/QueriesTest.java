package io.github.reactivelock;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** What is asked of a store without taking part. */
class QueriesTest {

    private final Bench bench = new Bench();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
    private final LockClient holder = bench.over(store).build();
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
        Sinks.Many<LockEvent> told = Sinks.many().unicast().onBackpressureBuffer();
        LockBackend scripted = (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(),
                new Class<?>[] {LockBackend.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "events" -> told.asFlux();
                    case "signals" -> Flux.never();
                    case "isReady" -> true;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        LockClient client = bench.over(scripted).build();
        TestSubscriber<Void> awaited = subscribe(client.awaitRelease("k"));

        told.tryEmitNext(new LockEvent.Snapshot(new LockInfo.Held("k", "b", 2 << 12, Duration.ofSeconds(9), 0)))
                .orThrow();
        told.tryEmitNext(new LockEvent.Released("k", 1 << 12)).orThrow();
        told.tryEmitNext(new LockEvent.Acquired("k", "b", 2 << 12)).orThrow();
        assertThat(awaited.isTerminated()).isFalse();

        told.tryEmitNext(new LockEvent.Released("k", 2 << 12)).orThrow();
        assertThat(awaited.isTerminatedComplete()).isTrue();
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
    void aForcedReleaseByATokenEndsTheGrantThatWasPassedOnInTheProcess() {
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
