package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Work under several locks at once: few, and very many. */
class SeveralKeysTest {

    private static final int VERY_MANY = 10_000;
    private static final long SMALL_STACK = 256 * 1024;

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final IllegalStateException own = new IllegalStateException("the work's own");

    @Test
    void theyAreTakenInTheirOrderHeldTogetherAndGivenBackTogether() {
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client
                .withLockMany(
                        List.of("c", "a", "b", "a"),
                        held -> Flux.fromIterable(held).map(LockHandle::key))
                .subscribe(flow);
        grant();
        grant();
        grant();

        assertThat(flow.getReceivedOnNext()).containsExactly("a", "b", "c");
        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(store.log)
                .startsWith("claim .0", "claim .1", "claim .2")
                .contains("release .0", "release .1", "release .2")
                .hasSize(6);
        bench.assertNothingIsLeft();
    }

    @Test
    void theLossOfOneEndsTheWorkAndFreesTheOthers() {
        List<String> cancelled = new ArrayList<>();
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client
                .withLock(List.of("a", "b"), Mono.<String>never().doOnCancel(() -> cancelled.add("work")))
                .subscribe(flow);
        grant();
        grant();

        bench.time.advance(LEASE);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(cancelled).containsExactly("work");
        bench.assertNothingIsLeft();
    }

    @Test
    void workThatThrowsOrIsNullFailsAndReleasesThemAll() {
        TestSubscriber<String> thrown = TestSubscriber.create();
        bench.client
                .<String>withLockMany(List.of("a", "b"), held -> {
                    throw own;
                })
                .subscribe(thrown);
        grant();
        grant();
        TestSubscriber<String> isNull = TestSubscriber.create();
        bench.client.withLock(List.of("a"), held -> (Mono<String>) null).subscribe(isNull);
        grant();

        assertThat(thrown.expectTerminalError()).isSameAs(own);
        assertThat(isNull.expectTerminalError()).isInstanceOf(NullPointerException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void theyAreKeptUntilTheCallOfCancelledWorkReturns() {
        TestSubscriber<String> flow = TestSubscriber.create();
        List<String> during = new ArrayList<>();
        bench.client
                .withLock(List.of("a", "b", "c"), held -> {
                    flow.cancel();
                    during.addAll(store.log);
                    return Mono.just("v");
                })
                .subscribe(flow);
        grant();
        grant();
        grant();

        assertThat(during).containsExactly("claim .0", "claim .1", "claim .2");
        assertThat(store.count("release")).isEqualTo(3);
        bench.assertNothingIsLeft();
    }

    @Test
    void whatIsHeldIsGivenBackWhenTheWaitForTheNextIsCancelled() {
        TestSubscriber<String> flow = subscribe(bench.client.withLock(List.of("a", "b"), Mono.just("v")));
        grant();

        flow.cancel();

        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1", "release .0");
    }

    @Test
    void theLossOfOneEndsTheWaitForTheNextAndLeavesNothing() {
        TestSubscriber<String> flow =
                subscribe(bench.with(LockOptions::withoutRenewal).withLock(List.of("a", "b"), Mono.just("v")));
        grant();
        store.claim().answer(ScriptedBackend.queued());

        bench.time.advance(LEASE);

        assertThat(flow.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class, e -> assertThat(e.key()).isEqualTo("a"));
        assertThat(store.log).contains("release .0", "release .1");
        bench.assertNothingIsLeft();
    }

    @Test
    void theWaitTimeoutCoversThemAll() {
        bench.engine.services.gate.opening.answered();
        TestSubscriber<String> flow = subscribe(
                bench.with(o -> o.withWaitTimeout(Duration.ofSeconds(3))).withLock(List.of("a", "b"), Mono.just("v")));
        bench.time.advance(Duration.ofSeconds(1));
        grant();
        store.claim().answer(ScriptedBackend.queued());

        bench.time.advance(Duration.ofSeconds(2));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void theOutcomeComesWhenTheLastReleaseIsAnsweredHoweverTheyEnd() {
        store.confirmsReleases = false;
        TestSubscriber<String> flow = subscribe(bench.client.withLock(List.of("a", "b"), Mono.just("v")));
        grant();
        grant();

        store.release().fail();
        assertThat(flow.isTerminated()).isFalse();
        store.release().answer(true);

        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        assertThat(bench.heard.unreleased).hasSize(1);
    }

    @Test
    void aGrantThatCrossesTheCancelIsGivenBack() {
        TestSubscriber<String> flow = subscribe(bench.client.withLock(List.of("a", "b"), Mono.just("v")));
        grant();
        bench.work.shut();
        grant();

        flow.cancel();
        bench.work.open();

        assertThat(store.count("release")).isEqualTo(2);
        assertThat(flow.getReceivedOnNext()).isEmpty();
        bench.assertNothingIsLeft();
    }

    @Test
    void onlyTheLastGrantNeedsTheWorkScheduler() {
        bench.work.shut();
        TestSubscriber<String> flow = subscribe(bench.client.withLock(List.of("a", "b", "c"), Mono.just("v")));
        grant();
        grant();
        assertThat(store.log).containsExactly("claim .0", "claim .1", "claim .2");

        grant();
        assertThat(flow.isTerminated()).isFalse();
        bench.work.open();

        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        bench.assertNothingIsLeft();
    }

    @Test
    void someOfThemMayBeHeldByTheFlowAlready() {
        InMemoryLockBackend shared = InMemoryLockBackend.create(bench.time::nanos);
        LockClient client = bench.over(shared).build();

        TestSubscriber<String> flow = subscribe(client.withLock(
                List.of("a", "c"), client.withLock(List.of("a", "b", "c"), held -> Mono.just(held.size() + " held"))));

        assertThat(flow.getReceivedOnNext()).containsExactly("3 held");
        assertThat(shared.size()).isZero();
    }

    @Test
    void veryManyAreTakenAndReleased() throws InterruptedException {
        assertVeryMany(
                Mono.just("v"),
                (client, flow) -> assertThat(flow.getReceivedOnNext()).containsExactly("v"));
    }

    @Test
    void veryManyAreCancelled() throws InterruptedException {
        assertVeryMany(Mono.never(), (client, flow) -> flow.cancel());
    }

    @Test
    void veryManyAreLost() throws InterruptedException {
        assertVeryMany(Mono.never(), (client, flow) -> {
            subscribe(client.forceRelease("key 777"));
            assertThat(flow.expectTerminalError())
                    .isInstanceOfSatisfying(
                            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.FORCED));
        });
    }

    @Test
    void theWaitForOneOfVeryManyIsCancelled() throws InterruptedException {
        onSmallStack(() -> {
            InMemoryLockBackend many = InMemoryLockBackend.create(bench.time::nanos);
            LockHandle last =
                    Bench.held(subscribe(bench.over(many.connect()).build().acquire("key 9999")));
            TestSubscriber<String> flow = subscribe(bench.over(many).build().withLock(keys(), Mono.just("v")));
            assertThat(many.size()).isEqualTo(VERY_MANY);

            flow.cancel();

            subscribe(last.release());
            assertThat(many.size()).isZero();
        });
    }

    private interface Ending {
        void end(LockClient client, TestSubscriber<String> flow);
    }

    private void assertVeryMany(Mono<String> work, Ending ending) throws InterruptedException {
        onSmallStack(() -> {
            InMemoryLockBackend many = InMemoryLockBackend.create(bench.time::nanos);
            LockClient client = bench.over(many).build();
            ending.end(client, subscribe(client.withLock(keys(), work)));
            assertThat(many.size()).isZero();
        });
    }

    private static List<String> keys() {
        return IntStream.range(0, VERY_MANY).mapToObj(i -> "key " + i).toList();
    }

    /** A recursion over the keys would not fit. */
    private static void onSmallStack(Runnable test) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(null, test, "small-stack", SMALL_STACK);
        thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
        thread.start();
        thread.join();
        assertThat(failure.get()).isNull();
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }
}
