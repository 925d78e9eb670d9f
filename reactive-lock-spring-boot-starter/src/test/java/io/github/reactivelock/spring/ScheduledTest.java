package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static reactor.core.publisher.Sinks.EmitFailureHandler.FAIL_FAST;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A job of several instances, each a context of its own, over one store. */
class ScheduledTest {

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger runs = new AtomicInteger();
    private final CountDownLatch busy = new CountDownLatch(5);
    private final CountDownLatch again = new CountDownLatch(5);
    private final Sinks.Empty<Void> end = Sinks.empty();

    @EnableScheduling
    static class Job {

        private final ScheduledTest test;

        Job(ScheduledTest test) {
            this.test = test;
        }

        @Scheduled(fixedDelay = 5)
        @WithLock(name = "report", ifFree = true)
        public Mono<Void> report() {
            test.most.accumulateAndGet(test.inside.incrementAndGet(), Math::max);
            test.runs.incrementAndGet();
            test.again.countDown();
            // Not doFinally, which is told after the lock was given back.
            return test.end
                    .asMono()
                    .doOnTerminate(test.inside::decrementAndGet)
                    .doOnCancel(test.inside::decrementAndGet);
        }
    }

    /** Ends at once, so that an instance that comes late would find the lock free. */
    @EnableScheduling
    static class ShortJob {

        private final ScheduledTest test;

        ShortJob(ScheduledTest test) {
            this.test = test;
        }

        @Scheduled(fixedDelay = 5)
        @WithLock(name = "report", ifFree = true, minHold = "1h")
        public Mono<Void> report() {
            return Mono.fromRunnable(test.runs::incrementAndGet);
        }
    }

    @Test
    void aShortJobRunsOnceAnInstant() throws InterruptedException {
        List<AnnotationConfigApplicationContext> instances =
                List.of(instance(ShortJob.class), instance(ShortJob.class));
        try {
            assertThat(busy.await(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            instances.forEach(AnnotationConfigApplicationContext::close);
        }

        assertThat(runs).hasValue(1);
    }

    @Test
    void runsInOneInstanceAtATimeAndIsCalledAnewEachTime() throws InterruptedException {
        List<AnnotationConfigApplicationContext> instances = List.of(instance(Job.class), instance(Job.class));
        try {
            assertThat(busy.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(runs).hasValue(1);
            end.emitEmpty(FAIL_FAST);
            assertThat(again.await(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            instances.forEach(AnnotationConfigApplicationContext::close);
        }

        assertThat(most).hasValue(1);
    }

    private AnnotationConfigApplicationContext instance(Class<?> job) {
        var context = new AnnotationConfigApplicationContext();
        context.registerBean(WithLockBeanPostProcessor.class);
        context.registerBean(LockClient.class, this::client, bean -> bean.setDestroyMethodName(""));
        context.registerBean(ScheduledTest.class, () -> this);
        context.registerBean(job);
        context.refresh();
        return context;
    }

    private LockClient client() {
        return LockClient.builder(store.connect())
                .listener(new LockListener() {
                    @Override
                    public void busy(LockRequest request) {
                        busy.countDown();
                    }
                })
                .build();
    }
}
