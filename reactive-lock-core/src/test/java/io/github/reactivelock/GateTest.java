package io.github.reactivelock;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** What leaves for the store while there is no connection, while one is opened, and when there is very much to ask. */
class GateTest {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration TICK = Duration.ofMillis(250);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient fifo = bench.with(options -> options.withFairness(Fairness.FIFO));

    @CanIgnoreReturnValue
    private List<TestSubscriber<LockHandle>> flows(int count) {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            flows.add(subscribe(fifo.acquire("k")));
        }
        return flows;
    }

    private static long failed(List<TestSubscriber<LockHandle>> flows) {
        return flows.stream().filter(flow -> flow.isTerminatedError()).count();
    }

    // ---- without a connection

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

        bench.time.advance(Gate.LONGEST_OPENING.minus(TICK));
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
    void aConnectionThatIsRefusedFailsWhatWaitsForItAndTheNextIsTriedAMomentLater() {
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
        bench.time.advance(Gate.LONGEST_OPENING.minus(TICK));
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

    // ---- with very many

    @Test
    void onlySoManyClaimsAreUnansweredAndTheOthersLeaveInTheirOrder() {
        flows(Gate.MOST_UNANSWERED + 100);
        assertThat(store.count("claim")).isEqualTo(Gate.MOST_UNANSWERED);

        for (int i = 0; i < 60; i++) {
            store.claim().answer(ScriptedBackend.queued());
        }

        assertThat(store.count("claim")).isEqualTo(Gate.MOST_UNANSWERED + 60);
        assertThat(store.ids).doesNotHaveDuplicates().isEqualTo(inOrder(store.ids));
    }

    @Test
    void whoeverComesWhileATurnIsOnItsWayOvertakesNobody() throws Exception {
        flows(Gate.MOST_UNANSWERED);
        TestSubscriber<LockHandle> first = flows(1).get(0);
        Cohort cohort = bench.engine.cohortOf(store.claim().claim().id());
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        Thread other = new Thread(() -> cohort.post(() -> {
            busy.countDown();
            awaitUnchecked(seen);
        }));
        other.start();
        awaitUnchecked(busy);

        store.claim().answer(ScriptedBackend.queued()); // what follows stands in the mailbox of the lock
        store.claim().answer(ScriptedBackend.queued());
        TestSubscriber<LockHandle> second = flows(1).get(0);
        seen.countDown();
        other.join();

        assertThat(store.ids).hasSize(Gate.MOST_UNANSWERED + 2).isEqualTo(inOrder(store.ids));
        assertThat(first.isTerminated() || second.isTerminated()).isFalse();
    }

    private static void awaitUnchecked(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> inOrder(List<String> ids) {
        return ids.stream().sorted((a, b) -> Long.compare(number(a), number(b))).toList();
    }

    private static long number(String id) {
        return Long.parseLong(id.substring(id.indexOf('.') + 1), Character.MAX_RADIX);
    }

    @Test
    void standingInTheLineOfThisProcessIsNotTheStoresSilence() {
        List<TestSubscriber<LockHandle>> flows = flows(Gate.MOST_UNANSWERED + 100);
        List<Asked<ClaimResult>> asked = new ArrayList<>();
        for (int i = 0; i < Gate.MOST_UNANSWERED; i++) {
            asked.add(store.claim());
        }
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));
        asked.forEach(one -> one.answer(ScriptedBackend.queued()));
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));

        assertThat(failed(flows)).isZero();
        assertThat(store.count("claim")).isEqualTo(Gate.MOST_UNANSWERED + 100);
    }

    @Test
    void aStoreThatAnswersNobodyIsToldWithTheNumberOfThoseBefore() {
        List<TestSubscriber<LockHandle>> flows = flows(3 * Gate.MOST_UNANSWERED);

        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));

        assertThat(failed(flows)).isEqualTo(flows.size());
        assertThat(flows.get(0).expectTerminalError()).hasMessageContaining("did not answer within 2000 ms");
        assertThat(flows.get(flows.size() - 1).expectTerminalError())
                .hasMessageContaining("it waited in this process")
                .hasMessageContaining("questions of which the store answered none");
    }

    @Test
    void aSilentStoreGetsAFewQuestionsAndAllOfThemOnceItAnswers() {
        store.confirmsReleases = false;
        flows(1_000);
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK)); // they fail, and their releases wait
        store.ignoreAll();

        for (int second = 0; second < 20; second++) {
            flows(150);
            bench.time.advance(Duration.ofSeconds(1));
        }
        assertThat(store.log.size()).as("questions in 20 s of silence").isBetween(20, 100);
        Asked<Boolean> asked = store.release();
        store.log.clear();
        List<TestSubscriber<LockHandle>> last = flows(10);
        asked.answer(false);

        assertThat(store.count("claim")).isGreaterThanOrEqualTo(10);
        assertThat(store.count("release")).isBetween(900L, 1_300L);
        assertThat(failed(last)).isZero();
    }

    @Test
    void releasesWhoseLeaseIsOverKeepNobodyFromAskingASilentStore() {
        store.confirmsReleases = false;
        flows(1_000);
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK)); // they fail, and their releases wait
        bench.time.advance(LEASE.plus(COMMAND_TIMEOUT).plus(TICK)); // until they are not needed any more
        store.ignoreAll();

        flows(1);
        bench.time.advance(Duration.ofSeconds(1));

        assertThat(store.log).hasSize(1);
        store.claim().answer(ScriptedBackend.queued());
        assertThat(bench.engine.services.gate.isOpen()).isTrue();
    }

    @Test
    void aStoreThatCannotEvenBeAskedIsNotTakenForASilentOne() {
        store.broken = new NoClassDefFoundError("of the driver");
        assertThat(failed(flows(2 * Gate.MOST_IN_SILENCE))).isEqualTo(2 * Gate.MOST_IN_SILENCE);
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));

        assertThat(failed(flows(10))).isEqualTo(10);
    }

    @Test
    void aStoreThatWasIdleIsNotTakenForASilentOne() {
        bench.hold("k", 1);
        bench.time.advance(Duration.ofSeconds(60));
        store.log.clear();

        flows(2 * Gate.MOST_IN_SILENCE);

        assertThat(store.count("claim")).isEqualTo(2 * Gate.MOST_IN_SILENCE);
    }

    @Test
    void flowsThatGiveUpMakeRoomForOthers() {
        List<TestSubscriber<LockHandle>> flows = flows(Gate.MOST_UNANSWERED + 10);
        store.log.clear();

        flows.subList(0, 10).forEach(TestSubscriber::cancel);

        assertThat(store.count("claim")).isEqualTo(10);
        assertThat(store.count("release")).isEqualTo(10);
    }

    @Test
    void whereConnectionsComeAndGoAllAreServedAndNothingIsLeft() {
        Flapping store = new Flapping();
        Engine engine = new Engine(LockClient.builder(store.backend()).settings());
        LockClient client = new LockClient(engine, LockOptions.defaults());
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
