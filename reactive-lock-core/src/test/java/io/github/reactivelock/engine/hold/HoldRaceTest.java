package io.github.reactivelock.engine.hold;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.Races;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** Two things at once, while a flow has a lock. */
class HoldRaceTest extends Races {

    private static final List<List<String>> LOST = List.of(List.of("safe", "lost FORCED"), List.of("lost FORCED"));
    private static final List<List<String>> RELEASED = List.of(List.of("safe"), List.of());

    @Test
    void aLossMeetsTheCompletionOfTheWork() {
        int lost = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Sinks.One<String> work = Sinks.one();
            TestSubscriber<String> flow = subscribe(client.withLock("k", work.asMono()));

            meet(
                    round,
                    () -> work.emitValue("v", Sinks.EmitFailureHandler.FAIL_FAST),
                    () -> subscribe(other.forceRelease("k")));

            assertThat(flow.getProtocolErrors()).isEmpty();
            if (flow.isTerminatedComplete()) {
                assertThat(flow.getReceivedOnNext()).containsExactly("v");
            } else {
                lost++;
                assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
                assertThat(flow.getReceivedOnNext()).isEmpty();
            }
            assertNothingIsLeft(round);
        }
        assertThat(lost).as("both outcomes occur").isBetween(1, ROUNDS - 1);
    }

    @Test
    void aValueThatMeetsACancelIsDiscardedOnce() {
        AtomicReference<Subscriber<? super String>> work = new AtomicReference<>();
        Mono<String> held = client.withLock("k", Mono.fromDirect(subscriber -> {
            subscriber.onSubscribe(Operators.emptySubscription());
            work.set(subscriber);
        }));
        for (int round = 0; round < 20 * ROUNDS; round++) {
            AtomicInteger discarded = new AtomicInteger();
            TestSubscriber<String> flow =
                    subscribe(held.doOnDiscard(String.class, value -> discarded.incrementAndGet()));

            meet(round % 20, () -> work.get().onNext("v"), flow::cancel);

            assertThat(discarded).as("round %s", round).hasValue(1);
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aReleaseMeetsTheAnswerToARenewal() {
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle handle = Bench.held(subscribe(client.acquire("k")));
            gate.shut();
            TestSubscriber<Void> renewal = subscribe(handle.renew());

            meet(round, gate::open, () -> subscribe(handle.release()));

            assertThat(renewal.isTerminated()).isTrue();
            assertThat(handle.isHeld()).isFalse();
            assertNothingIsLeft(round);
        }
    }

    @Test
    void twoReleasesOfOneHandleMeet() {
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle handle = Bench.held(subscribe(client.acquire("k")));
            List<TestSubscriber<Void>> releases = List.of(TestSubscriber.create(), TestSubscriber.create());

            meet(
                    round,
                    () -> handle.release().subscribe(releases.get(0)),
                    () -> handle.release().subscribe(releases.get(1)));

            assertThat(releases).allMatch(TestSubscriber::isTerminatedComplete);
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aReentryMeetsTheReleaseOfTheOuterHold() {
        Mono<LockHandle> owned = client.acquire("k").contextWrite(LockContext.owner("me"));
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle outer = Bench.held(subscribe(owned));
            TestSubscriber<LockHandle> inner = TestSubscriber.create();

            meet(round, () -> subscribe(outer.release()), () -> owned.subscribe(inner));

            assertThat(Bench.held(inner).isHeld()).isTrue();
            subscribe(Bench.held(inner).release());
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aSubscriberToTheStatesMeetsTheEndOfTheHold() {
        int late = 0;
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle handle = Bench.held(subscribe(client.acquire("k")));
            TestSubscriber<HoldState> early = HoldStatesTest.watch(handle);
            TestSubscriber<HoldState> watcher =
                    TestSubscriber.builder().initialRequest(0).build();
            boolean isLost = round % 2 == 0;

            meet(
                    round / 2,
                    () -> handle.states().subscribe(watcher),
                    () -> watcher.request(1),
                    () -> subscribe(isLost ? other.forceRelease("k").then() : handle.release()));
            watcher.request(1);

            assertThat(List.of(early, watcher))
                    .allMatch(heard -> heard.getProtocolErrors().isEmpty());
            assertThat(List.of(early, watcher)).allMatch(TestSubscriber::isTerminatedComplete);
            List<String> heard = watcher.getReceivedOnNext().stream()
                    .map(HoldStatesTest::text)
                    .toList();
            assertThat(heard).isIn(isLost ? LOST : RELEASED);
            late += heard.contains("safe") ? 0 : 1;
            assertNothingIsLeft(round);
        }
        assertThat(late).as("both outcomes occur").isBetween(1, ROUNDS - 1);
    }
}
