package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** What leaves for the store while there is no connection, and while one is opened. */
class GateTest extends GateFlows {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @Test
    void claimsThatAreGivenUpWithoutAConnectionNeverLeave() {
        store.disconnect();
        flows(50).forEach(TestSubscriber::cancel);
        TestSubscriber<LockHandle> wanted = subscribe(fifo.acquire("wanted"));
        assertThat(store.log).isEmpty();

        store.connect();

        assertThat(store.log).hasSize(1);
        assertThat(store.claim().claim().key()).isEqualTo("wanted");
        assertThat(wanted.isTerminated()).isFalse();
    }

    @Test
    void renewalsLeaveFirstThenReleasesThenClaimsInTheirOrder() {
        LockHandle renewed = bench.hold("renewed", 1);
        LockHandle released = bench.hold("released", 2);
        store.ignoreAll();
        store.disconnect();
        flows(2);
        subscribe(released.release());
        bench.time.advance(LEASE.dividedBy(3).plus(TICK));
        subscribe(fifo.acquire("third"));
        assertThat(store.log).isEmpty();

        store.connect();

        assertThat(store.log.stream().map(line -> line.substring(0, line.indexOf(' '))))
                .containsExactly("renew", "release", "claim");
        assertThat(store.claim().claim().key()).isEqualTo("third");
        assertThat(renewed.isHeld()).isTrue();
    }

    @Test
    void aRenewalCountsFromWhenItLeftAndIsSaidOnce() {
        LockHandle held = bench.hold("k", 1);
        store.ignoreAll();
        store.disconnect();
        bench.time.advance(Duration.ofSeconds(25));
        assertThat(store.log).isEmpty();

        store.connect();
        Asked<?> renewal = store.renewal();
        assertThat(renewal.claims()).hasSize(1);
        assertThat(store.count("renew")).isEqualTo(1);
        store.confirmsRenewals = true;
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK)); // the first has no answer; the next one has
        bench.time.advance(Duration.ofSeconds(20));

        assertThat(held.isHeld()).isTrue();
    }

    @Test
    void aReleaseIsToldOfAsUnansweredAndStillLeavesOnce() {
        LockHandle held = bench.hold("k", 1);
        store.ignoreAll();
        store.disconnect();
        TestSubscriber<Void> release = subscribe(held.release());

        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));
        assertThat(release.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("no connection");
        bench.time.advance(Duration.ofSeconds(10));
        store.connect();
        bench.time.advance(Duration.ofSeconds(10));

        assertThat(store.count("release")).isEqualTo(1);
    }

    @Test
    void aReleaseWhoseLeaseIsOverNeverLeaves() {
        LockHandle held = bench.hold("k", 1);
        store.ignoreAll();
        store.disconnect();
        subscribe(held.release());
        bench.time.advance(LEASE.plus(TICK));

        store.connect();

        assertThat(store.log).isEmpty();
        assertThat(bench.engine.isIdle()).isTrue();
    }

    @Test
    void aConnectionThatBreaksIsWaitedForAsLongAsAnAnswer() {
        bench.hold("earlier", 1);
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(fifo.acquire("k"));

        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));
        assertThat(flow.isTerminated()).isFalse();
        bench.time.advance(TICK.multipliedBy(2));

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("there was no connection to the store for 2");
        store.connect();
        assertThat(store.count("claim")).isEqualTo(1);
        assertThat(store.count("release")).isZero();
    }

    @Test
    void theFirstConnectionHasTenSeconds() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(fifo.acquire("k"));
        TestSubscriber<Void> ready = subscribe(bench.client.ready());

        bench.time.advance(Opening.LONGEST.minus(TICK));
        assertThat(flow.isTerminated()).isFalse();
        assertThat(ready.isTerminated()).isFalse();
        bench.time.advance(TICK.multipliedBy(2));

        assertThat(flow.expectTerminalError()).hasMessageContaining("no connection");
        assertThat(ready.expectTerminalError())
                .hasMessageContaining("not ready")
                .hasMessageContaining("no connection");
    }

    @Test
    void theTimeOfTheFirstQuestionBeginsWhenItLeaves() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(fifo.acquire("k"));
        bench.time.advance(Duration.ofSeconds(9));
        store.connect();
        Asked<ClaimResult> asked = store.claim();
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));

        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
        bench.time.advance(Duration.ofSeconds(8)); // a lease counts from then as well
        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void aRefusedConnectionFailsWhatWaitsAndTheNextIsTriedSoon() {
        store.disconnect();
        TestSubscriber<LockHandle> first = subscribe(fifo.acquire("k"));
        store.refuseConnection();
        assertThat(first.expectTerminalError()).hasMessageContaining("connection refused");

        List<TestSubscriber<LockHandle>> second = flows(100);
        assertThat(store.openings).isEqualTo(1);
        bench.time.advance(TICK);
        assertThat(store.openings).isEqualTo(2);
        store.connect();

        assertThat(failed(second)).isZero();
        assertThat(store.count("claim")).isEqualTo(100);
    }

    @Test
    void anOpeningThatNeverEndsIsBegunAnew() {
        store.disconnect();
        subscribe(fifo.acquire("k"));
        bench.time.advance(Opening.LONGEST.minus(TICK));
        TestSubscriber<LockHandle> flow = subscribe(fifo.acquire("k"));
        assertThat(store.openings).isEqualTo(1);

        bench.time.advance(TICK.multipliedBy(3));
        assertThat(store.openings).isEqualTo(2);
        store.connect();

        assertThat(flow.isTerminated()).isFalse();
        assertThat(store.count("claim")).isEqualTo(1);
    }

    @Test
    void anOpeningThatFailsWhereAnotherOneDidNotFailsNobody() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(fifo.acquire("k"));

        store.connectUnnoticed();
        store.refuseConnection();

        assertThat(flow.isTerminated()).isFalse();
        assertThat(store.count("claim")).isEqualTo(1);
    }

    @Test
    void readyMeansThatTheStoreAnsweredAQuestion() {
        store.disconnect();
        TestSubscriber<Void> ready = subscribe(bench.client.ready());
        assertThat(ready.isTerminated()).isFalse();
        assertThat(store.openings).isEqualTo(1);

        store.connect();

        ready.expectTerminalSignal();
        assertThat(ready.isTerminatedComplete()).isTrue();
        assertThat(store.inspections).isEqualTo(1);
    }

    @Test
    void whereConnectionsComeAndGoAllAreServedAndNothingIsLeft() {
        Flapping store = new Flapping();
        LockClient client = LockClient.builder(store.backend())
                .commandTimeout(LIMIT) // however long its connection stays broken because a thread gets no turn
                .build();
        Engine engine = Bench.engine(client);
        LockClient inOrder = client.with(client.options().withFairness(Fairness.FIFO));
        Disposable flaps = Flux.interval(Duration.ofNanos(300_000), Schedulers.parallel())
                .onBackpressureDrop()
                .subscribe(tick -> store.connected(ThreadLocalRandom.current().nextInt(4) != 0));

        Long served = Flux.range(0, 20_000)
                .flatMap(
                        i -> {
                            Mono<Integer> flow = (i % 2 == 0 ? client : inOrder).withLock("k" + i % 7, Mono.just(i));
                            return i % 5 == 0
                                    ? flow.timeout(Duration.ofMillis(1 + i % 3), Mono.just(i))
                                    : flow.subscribeOn(Schedulers.parallel());
                        },
                        200)
                .count()
                .block(LIMIT);
        flaps.dispose();
        store.connected(true);
        client.close().block(LIMIT);

        assertThat(served).isEqualTo(20_000);
        long limit = System.nanoTime()
                + LIMIT.toNanos(); // a flow that gave up leaves in an event, perhaps of another thread
        while (!engine.isIdle() && System.nanoTime() - limit < 0) {
            Thread.onSpinWait();
        }
        assertThat(engine.isIdle()).isTrue();
    }

    /** A store in memory whose connection breaks and comes back. */
    private static final class Flapping {
        private final LockBackend store = InMemoryLockBackend.create();
        private final Sinks.Many<Boolean> states = Sinks.many().replay().latestOrDefault(false);
        private volatile boolean connected;

        void connected(boolean now) {
            connected = now;
            Sinks.EmitResult unused = states.tryEmitNext(now);
        }

        LockBackend backend() {
            return (LockBackend) Proxy.newProxyInstance(
                    LockBackend.class.getClassLoader(),
                    new Class<?>[] {LockBackend.class},
                    (proxy, verb, args) -> switch (verb.getName()) {
                        case "isReady" -> connected;
                        case "ready" ->
                            states.asFlux().filter(now -> now).next().then();
                        default -> verb.invoke(store, args);
                    });
        }
    }
}
