package io.github.reactivelock.engine.cohort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** How the work scheduler is used for a lock that goes from one flow of a process to the next. */
class DeliveryTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Bench bench = new Bench(settings -> settings.passBudget(4_000, Duration.ofDays(1)));
    private final List<Integer> taskOfEach = new ArrayList<>();
    private int tasks;

    /** The lock is held and flows wait that give it back at once; nothing that is scheduled runs from now on. */
    private LockHandle heldWhileWaiting(int flows, Duration work) {
        LockHandle first = bench.hold("k", 1);
        IntStream.range(0, flows)
                .forEach(flow -> Bench.subscribe(bench.client.withLock("k", Mono.fromRunnable(() -> {
                    taskOfEach.add(tasks);
                    bench.time.advance(work);
                }))));
        bench.work.shut();
        return first;
    }

    private void runAll() {
        while (bench.work.waiting() > 0) {
            tasks++;
            bench.work.runOne();
        }
    }

    @Test
    void flowsThatGiveTheLockBackAtOnceFollowOneAnotherInOneTask() {
        LockHandle first = heldWhileWaiting(20, Duration.ofNanos(4_000));

        Bench.subscribe(first.release());
        runAll();

        assertThat(taskOfEach).hasSize(20).containsOnly(taskOfEach.get(0));
    }

    @Test
    void othersWhoNeedTheThreadGetItInBetween() {
        LockHandle first = heldWhileWaiting(20, Duration.ofNanos(40_000));

        Bench.subscribe(first.release());
        runAll();

        assertThat(taskOfEach).hasSize(20);
        assertThat(Set.copyOf(taskOfEach)).as("tasks that entered somebody").hasSizeBetween(5, 10);
    }

    @Test
    void workThatTakesItsTimeHasATaskOfItsOwn() {
        LockHandle first = heldWhileWaiting(20, Duration.ofMillis(1));

        Bench.subscribe(first.release());
        runAll();

        assertThat(Set.copyOf(taskOfEach)).as("tasks that entered somebody").hasSize(20);
    }

    /** In which task each flow goes on after its lock; it takes as long as is said there. */
    private List<Integer> tasksAfterTheLock(Duration each) {
        List<Integer> after = new ArrayList<>();
        LockHandle first = bench.hold("k", 1);
        for (int i = 0; i < 20; i++) {
            Bench.subscribe(bench.client.withLock("k", Mono.empty()).doOnTerminate(() -> {
                after.add(tasks);
                bench.time.advance(each);
            }));
        }
        bench.work.shut();
        Bench.subscribe(first.release());
        runAll();
        assertThat(after).hasSize(20);
        return after;
    }

    @Test
    void flowsThatAreSoonDoneGoOnInTheTaskOfTheirLock() {
        assertThat(Set.copyOf(tasksAfterTheLock(Duration.ofNanos(1_000)))).hasSizeLessThan(3);
    }

    @Test
    void flowsThatDoMoreAfterTheirLockHaveTasksOfTheirOwn() {
        assertThat(Set.copyOf(tasksAfterTheLock(Duration.ofNanos(60_000)))).hasSizeGreaterThan(17);
    }

    @Test
    void aFlowThatBlocksUntilItsReleaseIsDoneIsAnswered() {
        LockClient client = LockClient.builder(InMemoryLockBackend.create()).build();
        LockHandle first = client.acquire("k").block(LIMIT);
        CompletableFuture<LockHandle> blocking = client.acquire("k")
                .doOnNext(handle -> handle.release().block(LIMIT))
                .toFuture();
        CompletableFuture<LockHandle> next = client.acquire("k").toFuture();

        first.release().block(LIMIT);

        assertThat(blocking).succeedsWithin(LIMIT);
        assertThat(next).succeedsWithin(LIMIT);
        client.close().block(LIMIT);
    }

    @Test
    void aFlowThatBlocksOnItsReleaseIsAnsweredWhileItsClientCloses() throws Exception {
        for (int i = 0; i < 200; i++) {
            LockClient client = LockClient.builder(InMemoryLockBackend.create()).build();
            LockHandle first = client.acquire("k").block(LIMIT);
            CountDownLatch releasing = new CountDownLatch(1);
            CompletableFuture<LockHandle> blocking = client.acquire("k")
                    .doOnNext(handle -> {
                        releasing.countDown();
                        handle.release().onErrorComplete().block(LIMIT);
                    })
                    .toFuture();
            CompletableFuture<LockHandle> next = client.acquire("k").toFuture();
            Bench.subscribe(first.release());
            await(releasing, LIMIT);

            client.close().block(LIMIT);

            assertThat(blocking).as("in round %d", i).succeedsWithin(LIMIT.dividedBy(2));
            next.cancel(true);
        }
    }

    @Test
    void anInterruptOfOneFlowIsNotTheNextOnes() {
        List<Boolean> interrupted = new ArrayList<>();
        LockHandle first = bench.hold("k", 1);
        for (int i = 0; i < 10; i++) {
            Bench.subscribe(bench.client.withLock("k", Mono.fromRunnable(() -> {
                interrupted.add(Thread.currentThread().isInterrupted());
                Thread.currentThread().interrupt();
            })));
        }
        bench.work.shut();

        Bench.subscribe(first.release());
        runAll();

        assertThat(Thread.interrupted()).as("left for the owner of the thread").isTrue();
        assertThat(interrupted).hasSize(10).containsOnly(false);
    }

    @Test
    void whoeverReleasesAndThenThrowsIsFollowed() {
        LockHandle first = bench.hold("k", 1);
        bench.client.acquire("k").subscribe(new Throwing());
        TestSubscriber<LockHandle> next = Bench.subscribe(bench.client.acquire("k"));
        bench.work.shut();

        Bench.subscribe(first.release());
        assertThatThrownBy(this::runAll).hasMessage("thrown on purpose");
        runAll();

        assertThat(Bench.held(next).isHeld()).isTrue();
    }

    @Test
    void whoeverLosesTheLockAndKeepsItsThreadHoldsUpNobody() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(Schedulers.fromExecutorService(threads))
                .build();
        LockHandle first = client.acquire("k").block(LIMIT);
        CountDownLatch computing = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        CompletableFuture<Void> losing = client.withLock("k", Mono.<Void>fromRunnable(() -> {
                    computing.countDown();
                    await(enough, LIMIT.multipliedBy(2));
                }))
                .toFuture();
        CompletableFuture<LockHandle> next = client.acquire("k").toFuture();
        first.release().block(LIMIT);
        await(computing, LIMIT);

        assertThat(client.forceRelease("k").block(LIMIT)).isTrue();

        assertThat(next.get(LIMIT.toSeconds(), TimeUnit.SECONDS).isHeld()).isTrue();
        enough.countDown();
        assertThat(losing).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(LockLostException.class);
        client.close().block(LIMIT);
        threads.shutdownNow();
    }

    @Test
    void aFlowThatGivesTheLockBackAndKeepsItsThreadHoldsUpNobody() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(Schedulers.fromExecutorService(threads))
                .build();
        LockHandle first = client.acquire("k").block(LIMIT);
        CountDownLatch entered = new CountDownLatch(1);
        CompletableFuture<LockHandle> busy = client.acquire("k")
                .doOnNext(handle -> {
                    Bench.subscribe(handle.release());
                    await(entered, LIMIT.multipliedBy(2));
                })
                .toFuture();
        CompletableFuture<LockHandle> next =
                client.acquire("k").doOnNext(handle -> entered.countDown()).toFuture();

        first.release().block(LIMIT);

        assertThat(next.get(LIMIT.toSeconds(), TimeUnit.SECONDS).isHeld()).isTrue();
        assertThat(busy).succeedsWithin(LIMIT);
        client.close().block(LIMIT);
        threads.shutdownNow();
    }

    private static void await(CountDownLatch latch, Duration limit) {
        try {
            assertThat(latch.await(limit.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Breaks the rule that a subscriber must not throw. */
    private static final class Throwing implements CoreSubscriber<LockHandle> {
        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(1);
        }

        @Override
        public void onNext(LockHandle held) {
            Bench.subscribe(held.release());
            throw new AssertionError("thrown on purpose");
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {}
    }
}
