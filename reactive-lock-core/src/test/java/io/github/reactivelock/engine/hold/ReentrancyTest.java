package io.github.reactivelock.engine.hold;

import static io.github.reactivelock.Bench.VALID;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.ContextView;

/** The same key asked for again below a hold, by Context. */
class ReentrancyTest {

    private final Bench bench = new Bench();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
    private final LockClient client = bench.over(store).build();

    @Test
    void theSameKeyBelowIsTheSameHold() {
        List<Long> tokens = new ArrayList<>();
        Mono<String> nested = client.withLock("k", outer -> {
            tokens.add(outer.fencingToken());
            return client.withLock("k", inner -> {
                tokens.add(inner.fencingToken());
                return client.acquire("k").flatMap(innermost -> {
                    tokens.add(innermost.fencingToken());
                    return innermost.release().thenReturn("done");
                });
            });
        });

        TestSubscriber<String> flow = subscribe(nested);

        assertThat(flow.getReceivedOnNext()).containsExactly("done");
        assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
        assertThat(bench.heard.acquired).hasSize(1);
        assertThat(bench.heard.released).hasSize(1);
        assertThat(store.size()).isZero();
    }

    @Test
    void anotherKeyBelowIsAnotherHoldAndTheOuterOneIsStillFound() {
        TestSubscriber<String> flow =
                subscribe(client.withLock("k", client.withLock("l", client.withLock("k", Mono.just("done")))));

        assertThat(flow.getReceivedOnNext()).containsExactly("done");
        assertThat(bench.heard.acquired).hasSize(2);
        assertThat(store.size()).isZero();
    }

    @Test
    void anotherClientKnowsNothingOfTheHold() {
        LockClient other = bench.over(store.connect()).build();

        TestSubscriber<LockHandle> flow = subscribe(client.withLock("k", other.tryAcquire("k")));

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(flow.getReceivedOnNext()).isEmpty();
    }

    @Test
    void siblingsExcludeOneAnother() {
        Sinks.Empty<String> first = Sinks.empty();
        List<String> events = new ArrayList<>();
        TestSubscriber<String> both = TestSubscriber.create();
        Flux.merge(
                        client.withLock("k", first.asMono().doOnSubscribe(s -> events.add("first"))),
                        client.withLock("k", Mono.just("x").doOnSubscribe(s -> events.add("second"))))
                .subscribe(both);
        assertThat(events).containsExactly("first");

        first.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(events).containsExactly("first", "second");
        assertThat(both.isTerminatedComplete()).isTrue();
    }

    @Test
    void anInnerBranchThatOutlivesTheOuterKeepsTheHold() {
        Sinks.Empty<String> branch = Sinks.empty();
        AtomicReference<LockHandle> inner = new AtomicReference<>();
        TestSubscriber<String> detached = TestSubscriber.create();
        TestSubscriber<String> outer = subscribe(client.withLock(
                "k",
                held -> Mono.deferContextual(context -> {
                    client.withLock("k", handle -> {
                                inner.set(handle);
                                return branch.asMono();
                            })
                            .contextWrite(context)
                            .subscribe(detached);
                    return Mono.just("outer");
                })));

        assertThat(outer.getReceivedOnNext()).containsExactly("outer");
        assertThat(inner.get().isHeld()).isTrue();
        assertThat(info()).isInstanceOf(LockInfo.Held.class);
        branch.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(detached.isTerminatedComplete()).isTrue();
        assertThat(info()).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void belowAHoldThatWasReleasedTheKeyIsAcquiredAnew() {
        TestSubscriber<Long> flow = subscribe(client.withLock(
                "k",
                outer -> outer.release()
                        .then(client.withLock("k", inner -> Mono.just(inner.fencingToken() - outer.fencingToken())))));

        assertThat(flow.getReceivedOnNext())
                .singleElement()
                .satisfies(more -> assertThat(more).isPositive());
        assertThat(bench.heard.acquired).hasSize(2);
    }

    @Test
    void belowALostOrReleasedHoldTheKeyIsAcquiredAnew() {
        AtomicReference<ContextView> captured = new AtomicReference<>();
        AtomicReference<Long> token = new AtomicReference<>();
        TestSubscriber<Object> flow = subscribe(client.withLock(
                "k",
                outer -> Mono.deferContextual(context -> {
                    captured.set(context);
                    token.set(outer.fencingToken());
                    return Mono.never();
                })));
        subscribe(client.forceRelease("k"));
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);

        for (int i = 0; i < 2; i++) {
            TestSubscriber<LockHandle> again =
                    subscribe(client.acquire("k").contextWrite(context -> context.putAll(captured.get())));
            assertThat(Bench.held(again).fencingToken()).isGreaterThan(token.get());
            subscribe(Bench.held(again).release());
        }
        assertThat(store.size()).isZero();
    }

    @Test
    void whileALossIsNotTakenInYetTheKeyIsNotJoinedEither() {
        AtomicReference<TestSubscriber<LockHandle>> below = new AtomicReference<>();
        TestSubscriber<Object> flow = subscribe(client.withLock(
                "k",
                outer -> Mono.deferContextual(context -> {
                    bench.time.pause(VALID);
                    below.set(subscribe(client.acquire("k").contextWrite(outerOne -> outerOne.putAll(context))));
                    return Mono.just("late");
                })));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(Bench.held(below.get()).isHeld()).isTrue();
        subscribe(Bench.held(below.get()).release());
        assertThat(store.size()).isZero();
    }

    @Test
    void theShorterLongestHoldCountsWhileItsFlowIsIn() {
        LockClient brief = client.with(client.options().withMaxHold(Duration.ofMillis(200)));
        AtomicReference<LockHandle> outer = new AtomicReference<>();
        TestSubscriber<Object> flow = subscribe(client.withLock("k", handle -> {
            outer.set(handle);
            return brief.withLock("k", Mono.delay(Duration.ofMillis(100), bench.time))
                    .thenMany(Mono.delay(Duration.ofMillis(300), bench.time))
                    .then(brief.withLock("k", Mono.never()));
        }));
        bench.time.advance(Duration.ofMillis(400));
        assertThat(outer.get().isHeld())
                .as("longer, but not under the shorter one")
                .isTrue();

        bench.time.advance(Duration.ofMillis(200));

        assertThat(flow.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.HELD_TOO_LONG));
        assertThat(bench.time.armedTimers()).isZero();
        assertThat(store.size()).isZero();
    }

    @Test
    void anAcquisitionWithoutRenewalEndsWithItsLeaseInARenewedHold() {
        LockClient fixed = client.with(client.options().withoutRenewal().withLease(Duration.ofSeconds(1)));
        AtomicReference<LockHandle> inner = new AtomicReference<>();
        TestSubscriber<Object> flow = subscribe(client.withLock("k", fixed.withLock("k", handle -> {
            inner.set(handle);
            return Mono.never();
        })));
        bench.time.advance(Duration.ofMillis(900));
        subscribe(inner.get().renew());
        bench.time.advance(Duration.ofMillis(900));
        assertThat(inner.get().isHeld()).as("renewed by hand").isTrue();

        bench.time.advance(Duration.ofMillis(100));

        assertThat(flow.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(bench.time.armedTimers()).isZero();
    }

    @Test
    void anInnerAcquisitionThatReachesItsLeaseOrItsLongestHoldEndsAlone() {
        for (LockOptions limited : List.of(
                client.options().withoutRenewal().withLease(Duration.ofSeconds(1)),
                client.options().withMaxHold(Duration.ofSeconds(1)))) {
            AtomicReference<LockHandle> outer = new AtomicReference<>();
            List<Class<?>> failures = new ArrayList<>();
            TestSubscriber<Object> flow = subscribe(client.withLock("k", handle -> {
                outer.set(handle);
                return client.with(limited).withLock("k", Mono.never()).onErrorResume(e -> {
                    failures.add(e.getClass());
                    return Mono.never();
                });
            }));

            bench.time.advance(Duration.ofMinutes(1));

            assertThat(failures).containsExactly(LockLostException.class);
            assertThat(outer.get().isHeld()).isTrue();
            assertThat(flow.isTerminated()).isFalse();
            flow.cancel();
            assertThat(store.size()).isZero();
            assertThat(bench.time.armedTimers()).isZero();
        }
    }

    @Test
    void anInnerHandleThatEndedSaysSoAndLeavesTheHold() {
        LockClient fixed = client.with(client.options().withoutRenewal().withLease(Duration.ofSeconds(1)));
        AtomicReference<LockHandle> outer = new AtomicReference<>();
        AtomicReference<LockHandle> inner = new AtomicReference<>();
        TestSubscriber<Object> flow = subscribe(client.withLock("k", handle -> {
            outer.set(handle);
            return fixed.acquire("k").doOnNext(inner::set).then(Mono.never());
        }));
        TestSubscriber<LockLostException> lost = subscribe(inner.get().lost());
        TestSubscriber<HoldState> states = TestSubscriber.create();
        inner.get().states().subscribe(states);
        assertThat(inner.get().remaining()).isLessThanOrEqualTo(Duration.ofSeconds(1));

        bench.time.advance(Duration.ofMinutes(1));

        assertThat(inner.get().isHeld()).isFalse();
        assertThat(lost.getReceivedOnNext()).hasSize(1);
        assertThat(states.getReceivedOnNext()).last().isInstanceOf(HoldState.Lost.class);
        assertThat(states.isTerminatedComplete()).isTrue();
        assertThat(subscribe(inner.get().renew()).expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(subscribe(inner.get().release()).expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(outer.get().isHeld()).isTrue();
        flow.cancel();
        assertThat(store.size()).as("the inner handle is not counted any more").isZero();
    }

    @Test
    void aRenewedAcquisitionDoesNotJoinAHoldThatNothingRenews() {
        LockClient fixed = client.with(client.options().withoutRenewal());

        for (Mono<?> renewed : List.of(
                client.withLock("k", Mono.just("v")),
                client.acquire("k"),
                client.withLock(List.of("a", "k"), Mono.just("v")))) {
            TestSubscriber<Object> flow = subscribe(fixed.withLock("k", renewed.cast(Object.class)));

            assertThat(flow.expectTerminalError())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("lock 'k' is held withoutRenewal()");
            assertThat(store.size()).isZero();
        }
    }

    @Test
    void aLossCancelsTheWorkOfEveryLevel() {
        List<String> cancelled = new ArrayList<>();
        TestSubscriber<Object> flow = subscribe(client.withLock(
                "k",
                client.withLock("k", Mono.never().doOnCancel(() -> cancelled.add("inner")))
                        .doOnCancel(() -> cancelled.add("outer"))));

        subscribe(client.forceRelease("k"));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(cancelled).contains("inner");
        assertThat(store.size()).isZero();
    }

    @Test
    void nestedWorkThatEndedIsForgottenByAHoldThatGoesOn() {
        AtomicReference<Hold> hold = new AtomicReference<>();
        TestSubscriber<Object> flow = subscribe(client.withLock("k", outer -> {
            hold.set(((Handle) outer).hold);
            return Flux.range(0, 100)
                    .concatMap(i -> client.withLock("k", Mono.just(i)))
                    .then(Mono.never());
        }));

        assertThat(hold.get().lossSignal.works).as("only the outer work").hasSize(1);
        flow.cancel();
        assertThat(store.size()).isZero();
    }

    @Test
    void anOwnerInTheContextMakesAcquireReentrant() {
        Mono<LockHandle> owned = client.acquire("k").contextWrite(LockContext.owner("saga-17"));
        LockHandle first = Bench.held(subscribe(owned));
        LockHandle second = Bench.held(subscribe(owned));
        TestSubscriber<LockHandle> stranger = subscribe(client.acquire("k").contextWrite(LockContext.owner("saga-18")));

        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
        assertThat(info())
                .isInstanceOfSatisfying(
                        LockInfo.Held.class, held -> assertThat(held.owner()).isEqualTo("saga-17"));
        subscribe(first.release());
        assertThat(first.isHeld()).isFalse();
        assertThat(second.isHeld()).isTrue();
        assertThat(stranger.getReceivedOnNext()).isEmpty();
        subscribe(second.release());

        assertThat(Bench.held(stranger).isHeld()).isTrue();
        subscribe(Bench.held(stranger).release());
        assertThat(store.size()).isZero();
    }

    @Test
    void anOwnerWhoseHoldWasLostAcquiresAnew() {
        Mono<LockHandle> owned = client.acquire("k").contextWrite(LockContext.owner("saga-17"));
        LockHandle first = Bench.held(subscribe(owned));
        subscribe(client.forceRelease("k"));
        assertThat(first.isHeld()).isFalse();

        LockHandle second = Bench.held(subscribe(owned));

        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
        TestSubscriber<Void> late = subscribe(first.release());
        assertThat(late.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(second.isHeld()).isTrue();
    }

    private LockInfo info() {
        return subscribe(client.inspect("k")).getReceivedOnNext().get(0);
    }
}
