package io.github.reactivelock;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static reactor.test.util.RaceTestUtils.race;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Two things at once, thousands of times: exactly one outcome, and nothing is left. */
class RaceTest {

    private static final int ROUNDS = 2_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final Logger NOISE = (Logger) LoggerFactory.getLogger("io.github.reactivelock");

    private final TestTime time = new TestTime();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(time::nanos);
    private final GatedBackend gate = new GatedBackend(store);
    private final Engine engine = engine(gate);
    private final LockClient client = new LockClient(engine, LockOptions.defaults());
    private final LockClient other = new LockClient(engine(store.connect()), LockOptions.defaults());

    @BeforeAll
    static void silence() {
        NOISE.setLevel(Level.ERROR);
    }

    @AfterAll
    static void speak() {
        NOISE.setLevel(null);
    }

    private Engine engine(io.github.reactivelock.spi.LockBackend backend) {
        return new Engine(LockClient.builder(backend)
                .timing(time, time::nanos)
                .workScheduler(Schedulers.immediate())
                .settings());
    }

    @Test
    void aGrantMeetsACancel() {
        for (int round = 0; round < ROUNDS; round++) {
            gate.shut();
            TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));

            meet(round, gate::open, flow::cancel);

            release(handles(flow));
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aGrantMeetsTheCancelOfWork() {
        for (int round = 0; round < ROUNDS; round++) {
            gate.shut();
            TestSubscriber<String> flow = subscribe(client.withLock("k", Mono.never()));

            meet(round, gate::open, flow::cancel);

            assertNothingIsLeft(round);
            assertThat(flow.isTerminated()).isFalse();
        }
    }

    @Test
    void theCallOfWorkMeetsItsCancelAndNobodyElseIsInBeforeBothAreOver() {
        LockClient third = new LockClient(engine(store.connect()), LockOptions.defaults());
        for (int round = 0; round < ROUNDS; round++) {
            AtomicInteger inside = new AtomicInteger();
            Mono<String> work = Mono.fromDirect(subscriber -> {
                inside.incrementAndGet();
                subscriber.onSubscribe(new CancelledOnce(inside::decrementAndGet));
                spin(1_000);
            });
            LockHandle blocking = Bench.held(subscribe(other.acquire("k")));
            TestSubscriber<String> flow = subscribe(client.withLock("k", work));
            TestSubscriber<Integer> next = subscribe(third.withLock("k", Mono.fromCallable(inside::get)));

            int wait = round % 1_000;
            meet(round, () -> subscribe(blocking.release()), () -> {
                long until = System.nanoTime() + TIMEOUT.toNanos();
                while (inside.get() == 0 && System.nanoTime() - until < 0) {
                    Thread.onSpinWait();
                }
                spin(wait);
                flow.cancel();
            });

            assertThat(next.getReceivedOnNext())
                    .as("inside, in round %s", round)
                    .containsExactly(0);
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aSubscriptionMeetsItsCancel() {
        LockClient patient = client.with(LockOptions.defaults().withWaitTimeout(TIMEOUT));
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle blocking = Bench.held(subscribe(other.acquire("k")));
            TestSubscriber<LockHandle> flow =
                    TestSubscriber.builder().initialRequest(0).build();
            patient.acquire("k").subscribe(flow);

            meet(round, () -> flow.request(1), flow::cancel);

            subscribe(blocking.release());
            release(handles(flow));
            assertNothingIsLeft(round);
            assertThat(time.armedTimers()).isZero();
        }
    }

    @Test
    void aTimeoutMeetsAGrant() {
        LockClient patient = client.with(LockOptions.defaults().withWaitTimeout(TIMEOUT));
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle blocking = Bench.held(subscribe(other.acquire("k")));
            TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));

            meet(round, () -> time.advance(TIMEOUT), () -> subscribe(blocking.release()));

            assertThat(flow.isTerminated()).isTrue();
            assertThat(handles(flow)).hasSize(flow.isTerminatedComplete() ? 1 : 0);
            release(handles(flow));
            assertNothingIsLeft(round);
        }
    }

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
    void theCancelOfSeveralKeysMeetsTheirGrants() {
        List<String> keys = List.of("k", "l", "m");
        for (int round = 0; round < ROUNDS; round++) {
            gate.shut();
            TestSubscriber<String> flow = subscribe(client.withLock(keys, Mono.never()));

            meet(round, gate::open, flow::cancel);

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
    void aPushMeetsTheAnswerToAQuestion() {
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle blocking = Bench.held(subscribe(other.acquire("k")));
            TestSubscriber<LockHandle> flow = subscribe(client.acquire("k"));
            gate.shut();
            time.advance(Duration.ofSeconds(10)); // it asks again at a third of its lease

            meet(round, gate::open, () -> subscribe(blocking.release()));

            assertThat(Bench.held(flow).isHeld()).isTrue();
            subscribe(Bench.held(flow).release());
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aPassMeetsACancelAndAnArrival() {
        for (int round = 0; round < ROUNDS; round++) {
            LockHandle first = Bench.held(subscribe(client.acquire("k")));
            TestSubscriber<LockHandle> cancelled = subscribe(client.acquire("k"));
            TestSubscriber<LockHandle> next = TestSubscriber.create();

            meet(
                    round,
                    () -> subscribe(first.release()),
                    cancelled::cancel,
                    () -> client.acquire("k").subscribe(next));

            release(handles(cancelled));
            assertThat(Bench.held(next).fencingToken()).isGreaterThan(first.fencingToken());
            release(handles(next));
            assertNothingIsLeft(round);
        }
    }

    @Test
    void aCloseMeetsAnAcquisition() {
        for (int round = 0; round < ROUNDS; round++) {
            Engine closing = engine(store.connect());
            LockClient shortLived = new LockClient(closing, LockOptions.defaults());
            LockHandle held = Bench.held(subscribe(shortLived.acquire("l")));
            TestSubscriber<LockHandle> flow = TestSubscriber.create();
            TestSubscriber<Void> closed = TestSubscriber.create();

            meet(
                    round,
                    () -> shortLived.close().subscribe(closed),
                    () -> shortLived.acquire("k").subscribe(flow));

            assertThat(closed.isTerminatedComplete()).isTrue();
            assertThat(held.isHeld()).isFalse();
            assertThat(flow.isTerminated()).isTrue();
            assertThat(flow.getReceivedOnNext()).noneMatch(LockHandle::isHeld);
            assertThat(closing.isIdle()).as("round %s", round).isTrue();
            assertThat(store.size()).isZero();
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

    /** Runs all at once, in every round with other small delays, because a race is rarely lost by starting together. */
    private static void meet(int round, Runnable... all) {
        Runnable[] delayed = new Runnable[all.length];
        for (int i = 0; i < all.length; i++) {
            Runnable task = all[i];
            int spins = round % all.length == i ? round % 300 : 0;
            delayed[i] = () -> {
                spin(spins);
                task.run();
            };
        }
        race(delayed);
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    private static List<LockHandle> handles(TestSubscriber<LockHandle> flow) {
        List<LockHandle> handles = new ArrayList<>(flow.getReceivedOnNext());
        handles.addAll(flow.getReceivedOnNextAfterCancellation());
        return handles;
    }

    private static void release(List<LockHandle> handles) {
        handles.forEach(handle -> subscribe(handle.release()));
    }

    private void assertNothingIsLeft(int round) {
        assertThat(engine.isIdle())
                .as("the engine is idle after round %s", round)
                .isTrue();
        assertThat(store.size()).as("the store is empty after round %s", round).isZero();
    }

    private record CancelledOnce(Runnable ending) implements Subscription {

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            spin(1_000);
            ending.run();
        }
    }
}
