package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.support.RandomId;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** What the first backend of a process does where BlockHound watches the thread that makes it. */
class BlockHoundAllowancesTest {

    @Test
    void theScriptMayBeLoadedByAThreadThatMustNotBlock() throws Exception {
        // Another class loader, for which the class is new whatever ran before.
        URL classes = RedisScript.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader fresh = new URLClassLoader(
                new URL[] {classes}, getClass().getClassLoader().getParent())) {
            Class<?> loaded = onNonBlockingThread(() -> Class.forName(RedisScript.class.getName(), true, fresh));

            assertThat(loaded).isNotEqualTo(RedisScript.class);
        }
    }

    @Test
    void aRandomNameMayBeTakenByAThreadThatMustNotBlock() {
        assertThat(onNonBlockingThread(RandomId::next)).hasSize(22).isNotEqualTo(onNonBlockingThread(RandomId::next));
    }

    @Test
    void timersOfOneExecutorMayBeStoppedByManyThreadsThatMustNotBlock() {
        Scheduler timers = Schedulers.newSingle("timers");
        Scheduler stopping = Schedulers.newParallel("stopping", 4);
        Runnable startAndStop = () -> {
            for (int i = 0; i < 20_000; i++) {
                timers.schedulePeriodically(() -> {}, 1, 1, TimeUnit.HOURS).dispose();
            }
        };

        StepVerifier.create(Flux.range(0, 4)
                        .flatMap(thread -> Mono.fromRunnable(startAndStop).subscribeOn(stopping)))
                .expectComplete()
                .verify(Duration.ofSeconds(30));
        timers.dispose();
        stopping.dispose();
    }

    /**
     * As where a timer is set while a client closes: an executor takes back what it was given, if it ends meanwhile.
     */
    @Test
    void anEndingExecutorMayTakeBackATimerOnANonBlockingThread() throws Exception {
        CountDownLatch locked = new CountDownLatch(1);
        CompletableFuture<Void> unlock = new CompletableFuture<>();
        AtomicReference<Thread> worker = new AtomicReference<>();
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1, task -> {
            worker.set(new Thread(task) {
                @Override
                public void interrupt() { // under the lock of the executor
                    locked.countDown();
                    unlock.join();
                    super.interrupt();
                }
            });
            return worker.get();
        });
        timers.submit(() -> {}).get();
        while (!waits(worker)) {
            Thread.onSpinWait();
        }
        Thread ending = new Thread(timers::shutdown);
        ending.start();
        assertThat(locked.await(30, TimeUnit.SECONDS)).isTrue();

        AtomicReference<Thread> asking = new AtomicReference<>();
        CompletableFuture<Boolean> takenBack = CompletableFuture.supplyAsync(() -> onNonBlockingThread(() -> {
            asking.set(Thread.currentThread());
            return timers.remove(() -> {});
        }));
        while (!takenBack.isDone() && !waits(asking)) {
            Thread.onSpinWait();
        }
        unlock.complete(null);

        assertThat(takenBack).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(false);
        ending.join();
        assertThat(timers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    private static boolean waits(AtomicReference<Thread> thread) {
        return thread.get() != null && thread.get().getState() == Thread.State.WAITING;
    }

    private static <T> T onNonBlockingThread(Callable<T> action) {
        return Mono.fromCallable(action).subscribeOn(Schedulers.parallel()).block(Duration.ofSeconds(30));
    }
}
