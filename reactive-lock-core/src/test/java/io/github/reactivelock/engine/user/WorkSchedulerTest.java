package io.github.reactivelock.engine.user;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/**
 * A work scheduler that refuses, whose tasks run on threads of the library, never where they arise; and one that runs
 * in place.
 */
class WorkSchedulerTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Logger logger = (Logger) LoggerFactory.getLogger(WorkScheduler.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final Queue<String> threads = new ConcurrentLinkedQueue<>();
    private final CountDownLatch enough = new CountDownLatch(1);
    private final ThreadPoolExecutor pool =
            new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1));
    private final Scheduler scheduler = Schedulers.fromExecutorService(pool);

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void end() {
        logger.detachAppender(logged);
        enough.countDown();
        pool.shutdownNow();
    }

    private static Mono<Integer> nested(LockClient client, int levels, Mono<Integer> innermost) {
        Mono<Integer> work = innermost;
        for (int level = 0; level < levels; level++) {
            work = client.withLock("level " + level, work);
        }
        return work;
    }

    /** Subscribed to by a thread with so little stack that one frame a level would be seen. */
    private static TestSubscriber<Integer> begun(Mono<Integer> work) {
        TestSubscriber<Integer> flow = TestSubscriber.create();
        new Thread(null, () -> work.subscribe(flow), "small stack", 512 * 1024).start();
        return flow;
    }

    private static TestSubscriber<Integer> onASmallStack(Mono<Integer> work) {
        TestSubscriber<Integer> flow = begun(work);
        flow.block(LIMIT);
        return flow;
    }

    private static LockClient inPlace() {
        return LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(Schedulers.immediate())
                .build();
    }

    private static void assertIsFree(LockClient client, String key) {
        assertThat(client.inspect(key).block(LIMIT)).matches(LockInfo::isFree);
    }

    @Test
    void locksWithinLocksOverflowNoStackWhereWorkRunsInPlace() {
        LockClient client = inPlace();

        TestSubscriber<Integer> flow = onASmallStack(nested(client, 3_000, Mono.just(1)));

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertIsFree(client, "level 0");
        assertIsFree(client, "level 2999");
        client.close().block(LIMIT);
    }

    @Test
    void aFailureDeepWithinLocksInPlaceReleasesThemAll() {
        LockClient client = inPlace();
        IllegalStateException failure = new IllegalStateException("deep inside");

        TestSubscriber<Integer> flow = onASmallStack(nested(client, 3_000, Mono.error(failure)));

        assertThat(flow.expectTerminalError()).isSameAs(failure);
        assertIsFree(client, "level 0");
        assertIsFree(client, "level 2999");
        client.close().block(LIMIT);
    }

    /** What it waits for is delivered in place, inside that work, however much runs in place on other threads. */
    @Test
    void workThatBlocksOnAnInnerLockInPlaceDoesNotWaitForItself() {
        LockClient client = inPlace();
        int many = 100;
        CyclicBarrier allInside = new CyclicBarrier(many);

        List<Mono<Integer>> flows = IntStream.range(0, many)
                .mapToObj(i -> client.withLock("outer " + i, Mono.fromCallable(() -> {
                    int unused = allInside.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
                    return client.withLock("inner " + i, Mono.just(i)).block(LIMIT);
                })))
                .toList();

        List<TestSubscriber<Integer>> begun =
                flows.stream().map(WorkSchedulerTest::begun).toList();
        assertThat(begun).allSatisfy(flow -> {
            flow.block(LIMIT);
            assertThat(flow.getReceivedOnNext()).hasSize(1);
        });
        client.close().block(LIMIT);
    }

    /** One task that does not end, and one that waits for it. */
    private void fill() {
        CountDownLatch begun = new CountDownLatch(1);
        pool.execute(() -> {
            begun.countDown();
            block();
        });
        await(begun);
        pool.execute(this::block);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void block() {
        try {
            assertThat(enough.await(2 * LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void note() {
        threads.add(Thread.currentThread().getName());
    }

    private void assertRanOnOurs(int times) {
        assertThat(threads).hasSize(times).allSatisfy(name -> assertThat(name).startsWith("reactive-lock-work-"));
    }

    private void assertWarnedOnce(String why) {
        assertThat(List.copyOf(logged.list).stream().filter(event -> event.getLevel() == Level.WARN))
                .singleElement()
                .satisfies(event -> assertThat(event.getFormattedMessage()).contains(why));
    }

    private void lockIsGrantedWhileTheSchedulerRefuses() {
        Bench bench = new Bench(settings -> settings.workScheduler(scheduler).listener(new LockListener() {
            @Override
            public void acquired(LockRequest request, long fencingToken, Duration waited) {
                note();
            }

            @Override
            public void released(LockRequest request, long fencingToken, Duration held) {
                note();
            }
        }));
        TestSubscriber<String> flow = subscribe(bench.client
                .withLock("k", Mono.fromCallable(() -> "v").doOnNext(value -> note()))
                .doOnTerminate(this::note));
        Asked<ClaimResult> asked = bench.store.claim();

        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        flow.block(LIMIT);
        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        assertRanOnOurs(4);
        bench.assertNothingIsLeft();
    }

    @Test
    void anErrorOfTheSchedulerIsARefusalToo() {
        ArrayBlockingQueue<Runnable> tasks = new ArrayBlockingQueue<>(9);
        Scheduler without =
                Schedulers.fromExecutorService(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, tasks, task -> {
                    throw new OutOfMemoryError("unable to create native thread (a planted fault)");
                }));
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(without)
                .build();

        var unused = client.withLock("k", Mono.fromRunnable(this::note)).block(LIMIT);

        assertThat(threads).singleElement().asString().startsWith("reactive-lock-work-");
        client.close().block(LIMIT);
    }

    @Test
    void whatAFullSchedulerRefusesDoesNotRunOnTheDriversThread() {
        fill();
        lockIsGrantedWhileTheSchedulerRefuses();
        assertWarnedOnce("refuses tasks");
    }

    @Test
    void whatADisposedSchedulerRefusesDoesNotEither() {
        scheduler.dispose();
        lockIsGrantedWhileTheSchedulerRefuses();
        assertWarnedOnce("is disposed");
    }

    @Test
    void workThatLosesItsLockIsCancelledOnAThreadOfOurs() {
        Bench bench = new Bench(settings -> settings.workScheduler(scheduler));
        CountDownLatch working = new CountDownLatch(1);
        TestSubscriber<Object> flow = subscribe(bench.with(o -> o.withMaxHold(Duration.ofSeconds(5)))
                .withLock(
                        "k",
                        Mono.never().doOnSubscribe(s -> working.countDown()).doOnCancel(this::note)));
        Asked<ClaimResult> asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        assertThat(Mono.fromCallable(() -> working.await(60, TimeUnit.SECONDS)).block())
                .isTrue();
        fill();

        bench.time.advance(Duration.ofSeconds(5));

        flow.block(LIMIT);
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertRanOnOurs(1);
    }

    @Test
    void lossesAnswersAndEventsOfAFullSchedulerArriveOnThreadsOfOurs() {
        InMemoryLockBackend store = InMemoryLockBackend.create();
        LockClient client = LockClient.builder(store).workScheduler(scheduler).build();
        LockHandle handle = client.acquire("k").block(LIMIT);
        TestSubscriber<Object> lost = subscribe(handle.lost().cast(Object.class).doOnNext(loss -> note()));
        fill();

        TestSubscriber<Object> info =
                subscribe(client.inspect("k").cast(Object.class).doOnNext(seen -> note()));
        info.block(LIMIT);
        TestSubscriber<LockEvent> event = subscribe(client.events("k").next().doOnNext(seen -> note()));
        event.block(LIMIT);
        TestSubscriber<Boolean> forced = subscribe(client.forceRelease("k").doOnNext(was -> note()));
        forced.block(LIMIT);
        lost.block(LIMIT);
        TestSubscriber<Void> free = subscribe(client.awaitRelease("k").doOnTerminate(this::note));
        free.block(LIMIT);
        TestSubscriber<Void> closed = subscribe(client.close().doOnTerminate(this::note));
        closed.block(LIMIT);

        assertThat(Flux.just(lost, info, event, forced, free, closed)
                        .filter(flow -> flow.isTerminatedError())
                        .collectList()
                        .block())
                .isEmpty();
        assertRanOnOurs(6);
        assertWarnedOnce("refuses tasks");
    }

    @Test
    void aTaskThatIsRefusedItselfIsNotRunTwice() {
        AtomicInteger runs = new AtomicInteger();
        Runnable refused = () -> {
            int unused = runs.incrementAndGet();
            throw new RejectedExecutionException("by somebody else");
        };

        assertThatThrownBy(() -> {
                    var unused = WorkScheduler.of(Schedulers.immediate()).schedule(refused);
                })
                .hasMessage("by somebody else");

        assertThat(runs).hasValue(1);
        assertThat(logged.list).isEmpty();
    }

    @Test
    void aDisposedWorkerTakesNothing() {
        Scheduler.Worker worker = WorkScheduler.of(scheduler).createWorker();
        worker.dispose();

        assertThat(worker.isDisposed()).isTrue();
        assertThatThrownBy(() -> {
                    var unused = worker.schedule(this::note);
                })
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(logged.list).isEmpty();
    }
}
