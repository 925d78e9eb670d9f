package io.github.reactivelock.engine.user;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Threads that the library makes: whom they serve, what they have, and when they end. */
class WorkThreadsTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int MANY = 4 * Runtime.getRuntime().availableProcessors();
    private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

    private final CountDownLatch enough = new CountDownLatch(1);
    private final InMemoryLockBackend store = InMemoryLockBackend.create();

    @AfterEach
    void end() {
        enough.countDown();
        INHERITED.remove();
    }

    private void block() {
        try {
            assertThat(enough.await(3 * LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Flows under locks of their own that keep their threads, more than there are processors. */
    private List<CompletableFuture<Void>> blockMany(LockClient client) {
        CountDownLatch blocked = new CountDownLatch(MANY);
        List<CompletableFuture<Void>> flows = IntStream.range(0, MANY)
                .mapToObj(flow -> client.withLock("busy " + flow, Mono.<Void>fromRunnable(() -> {
                            blocked.countDown();
                            block();
                        }))
                        .toFuture())
                .toList();
        await(blocked);
        return flows;
    }

    @Test
    void flowsThatBlockDelayNeitherAnotherGrantNorNewsOfALoss() {
        LockClient busy = LockClient.create(store.connect());
        LockClient other = LockClient.create(store.connect());
        LockHandle held = busy.acquire("held").block(LIMIT);
        CompletableFuture<LockLostException> lost = held.lost().toFuture();

        List<CompletableFuture<Void>> flows = blockMany(busy);

        assertThat(busy.acquire("free").toFuture()).succeedsWithin(LIMIT);
        assertThat(other.withLock("free too", Mono.just("v")).toFuture()).succeedsWithin(LIMIT);
        assertThat(other.forceRelease("held").toFuture()).succeedsWithin(LIMIT);
        assertThat(lost).succeedsWithin(LIMIT);
        enough.countDown();
        assertThat(flows).allSatisfy(flow -> assertThat(flow).succeedsWithin(LIMIT));
        busy.close().then(other.close()).block(LIMIT);
    }

    @Test
    void anInterruptThatComesLateIsNotTheNextTasks() throws Exception {
        WorkThreads one = new WorkThreads(1, LIMIT);
        BlockingQueue<Thread> used = new LinkedBlockingQueue<>();
        BlockingQueue<Boolean> interrupted = new LinkedBlockingQueue<>();
        one.execute(() -> used.add(Thread.currentThread()));
        Thread idle = used.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(idle).isNotNull();
        untilParked(idle);

        idle.interrupt();
        untilParked(idle); // and does not spin
        one.execute(() -> interrupted.add(Thread.currentThread().isInterrupted()));

        assertThat(interrupted.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).isFalse();
    }

    private static void untilParked(Thread thread) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (thread.getState() != Thread.State.TIMED_WAITING || thread.isInterrupted()) {
            assertThat(System.nanoTime() - deadline).as("parks").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void aThreadHasNothingOfTheOneThatCausesIt() throws Exception {
        BlockingQueue<Thread> made = new LinkedBlockingQueue<>();
        Queue<String> inherited = new ConcurrentLinkedQueue<>();
        Runnable look = () -> {
            inherited.add(String.valueOf(INHERITED.get()));
            made.add(Thread.currentThread());
        };
        try (URLClassLoader foreign = new URLClassLoader(new URL[0], null)) {
            for (ClassLoader loader : new ClassLoader[] {null, foreign}) {
                Thread causing = new Thread(() -> {
                    INHERITED.set("of the one that causes it");
                    new WorkThreads(1, LIMIT).execute(look);
                    Timing timing = new Timing(Bench.settings(LockClient.builder(store)), () -> {});
                    var unused = timing.after(0, () -> {
                        look.run();
                        timing.dispose();
                    });
                });
                causing.setContextClassLoader(loader);
                causing.start();
                causing.join();
            }
        }

        for (int i = 0; i < 4; i++) {
            Thread thread = made.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(thread.getContextClassLoader()).as(thread.getName()).isSameAs(LockClient.class.getClassLoader());
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread instanceof NonBlocking)
                    .as("it is a timer's: %s", thread)
                    .isEqualTo(thread.getName().startsWith("reactive-lock-timer-"));
        }
        assertThat(inherited).containsOnly("null");
    }

    @Test
    void aClientMakesNoThreadThatOthersShare() {
        Queue<Thread> made = new ConcurrentLinkedQueue<>();
        Schedulers.setFactory(new Noting(made));
        try {
            LockClient client = LockClient.create(store.connect());
            client.acquire("k").flatMap(LockHandle::renew).block(LIMIT);
            client.close().block(LIMIT);
        } finally {
            Schedulers.resetFactory();
        }

        assertThat(made).isEmpty();
    }

    /** Keeps what threads Reactor's schedulers make. */
    private record Noting(Queue<Thread> made) implements Schedulers.Factory {

        private ThreadFactory noting(ThreadFactory factory) {
            return task -> {
                Thread thread = factory.newThread(task);
                made.add(thread);
                return thread;
            };
        }

        @Override
        public Scheduler newBoundedElastic(int threads, int tasks, ThreadFactory factory, int seconds) {
            return Schedulers.Factory.super.newBoundedElastic(threads, tasks, noting(factory), seconds);
        }

        @Override
        public Scheduler newParallel(int threads, ThreadFactory factory) {
            return Schedulers.Factory.super.newParallel(threads, noting(factory));
        }

        @Override
        public Scheduler newSingle(ThreadFactory factory) {
            return Schedulers.Factory.super.newSingle(noting(factory));
        }
    }

    @Test
    void theTimersThreadEndsWithItsClient() throws Exception {
        CompletableFuture<Thread> timer = new CompletableFuture<>();
        Engine engine = Bench.engine(LockClient.builder(store));
        var unused = engine.services.timing.after(0, () -> timer.complete(Thread.currentThread()));
        Thread thread = timer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);

        engine.close().block(LIMIT);

        thread.join(LIMIT.toMillis());
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void whenAClientIsClosedNothingIsLeftToItsTimer() {
        Engine engine = Bench.engine(LockClient.builder(store));
        CountDownLatch soon = new CountDownLatch(1);
        var unused = engine.services.timing.after(5_000_000, soon::countDown);

        engine.close().block(LIMIT);

        assertThat(engine.services.timing.timer().isDisposed()).isTrue();
        assertThat(soon.getCount()).as("what was about to be done is done").isZero();
    }

    @Test
    void threadsThatAreIdleEndWithTheLastClient() throws Exception {
        WorkThreads threads = new WorkThreads(1, Duration.ofDays(1));
        threads.clientOpened();
        threads.clientOpened();
        Thread first = ranOn(threads);
        threads.clientClosed();
        assertThat(ranOn(threads)).as("one client is left").isEqualTo(first);

        threads.clientClosed();
        first.join(LIMIT.toMillis());
        assertThat(first.isAlive()).isFalse();
        Thread afterwards = ranOn(threads);
        afterwards.join(LIMIT.toMillis());
        assertThat(afterwards.isAlive()).isFalse();

        threads.clientOpened();
        Thread anew = ranOn(threads);
        assertThat(ranOn(threads)).isEqualTo(anew);
        threads.clientClosed();
        anew.join(LIMIT.toMillis());
        assertThat(anew.isAlive()).isFalse();
    }

    /** Which is idle when this returns, or about to end. */
    private static Thread ranOn(WorkThreads threads) throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        threads.execute(() -> ran.complete(Thread.currentThread()));
        Thread thread = ran.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        while (thread.isAlive() && thread.getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
        }
        return thread;
    }

    @Test
    void aTaskRunsThoughAllTasksBeforeItWaitForIt() {
        WorkThreads threads = new WorkThreads(1, LIMIT);
        CountDownLatch begun = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            threads.execute(() -> {
                begun.countDown();
                block();
            });
        }

        threads.execute(enough::countDown);

        await(begun);
        await(enough);
    }

    @Test
    void aThreadThatIsIdleIsUsedAgainAndEndsInTheEnd() throws Exception {
        WorkThreads threads = new WorkThreads(10, Duration.ofMillis(1));
        for (int i = 0; i < 200; i++) {
            CompletableFuture<Thread> ran = new CompletableFuture<>();
            threads.execute(() -> {
                Thread.currentThread().interrupt(); // and leaves it so
                ran.complete(Thread.currentThread());
            });
            Thread thread = ran.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (i % 50 == 0) {
                thread.join(LIMIT.toMillis());
                assertThat(thread.isAlive()).isFalse();
            }
        }
    }

    @Test
    void whatATaskThrowsEndsNothing() {
        WorkThreads threads = new WorkThreads(1, LIMIT);
        CountDownLatch done = new CountDownLatch(1);

        threads.execute(() -> {
            throw new AssertionError("on purpose");
        });
        threads.execute(done::countDown);

        await(done);
    }

    @Test
    void noTaskIsLostWhereThreadsComeAndGo() {
        WorkThreads threads = new WorkThreads(3, Duration.ofNanos(1));
        CountDownLatch done = new CountDownLatch(40_000);
        for (int i = 0; i < 4; i++) {
            new Thread(() -> IntStream.range(0, 10_000).forEach(task -> threads.execute(done::countDown))).start();
        }

        await(done);
    }
}
