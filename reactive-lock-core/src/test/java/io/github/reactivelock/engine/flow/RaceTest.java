package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Door;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Races;
import io.github.reactivelock.engine.cohort.Engine;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Two things at once, while a flow gets a lock. */
class RaceTest extends Races {

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
    void aWorksCallMeetsItsCancelAndBothEndBeforeTheNextHold() {
        LockClient third = Door.client(engine(store.connect()), LockOptions.defaults());
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
            LockClient shortLived = Door.client(closing, LockOptions.defaults());
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
