package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.RedisServer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import reactor.core.publisher.Mono;

/** The end of an application: after its requests and tasks, and before its connections. */
class ShutdownTest {

    /** Says when it is stopped, and whether the application holds its lock then. */
    private record Stopping(String name, int phase, AtomicReference<LockHandle> held, List<String> order)
            implements SmartLifecycle {
        @Override
        public void start() {}

        @Override
        public void stop() {
            LockHandle lock = held.get();
            order.add(lock != null && lock.isHeld() ? name + " under the lock" : name);
        }

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public int getPhase() {
            return phase;
        }
    }

    private static ApplicationContextRunner withPhases(AtomicReference<LockHandle> held, List<String> order) {
        int scheduler = new ThreadPoolTaskScheduler().getPhase();
        int connections = new LettuceConnectionFactory().getPhase();
        return Contexts.plain()
                .withBean(
                        "requests",
                        Stopping.class,
                        () -> new Stopping(
                                "requests", WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE, held, order))
                .withBean(
                        "server",
                        Stopping.class,
                        () -> new Stopping(
                                "server", WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE, held, order))
                .withBean("tasks", Stopping.class, () -> new Stopping("tasks", scheduler, held, order))
                .withBean("connections", Stopping.class, () -> new Stopping("connections", connections, held, order));
    }

    /**
     * The order in which an application that holds a lock ends. A flow is told of its loss on a thread of its own, so
     * what each phase sees is asked of the handle.
     */
    private static List<String> end(UnaryOperator<ApplicationContextRunner> with) {
        List<String> order = new CopyOnWriteArrayList<>();
        AtomicReference<LockHandle> held = new AtomicReference<>();
        AtomicReference<CompletableFuture<LockLostException>> lost = new AtomicReference<>();
        with.apply(withPhases(held, order)).run(context -> {
            held.set(Contexts.locks(context).acquire("k").block(Contexts.PATIENCE));
            assertThat(held.get()).isNotNull();
            lost.set(held.get().lost().toFuture());
        });
        assertThat(lost.get().join().reason()).isEqualTo(LossReason.CLIENT_CLOSED);
        return order;
    }

    @Test
    void locksOverConnectionsOfTheApplicationEndAfterTheSchedulersAndBeforeTheConnections() {
        assertThat(end(application -> application.withBean(LockBackend.class, InMemoryLockBackend::create)))
                .containsExactly(
                        "requests under the lock", "server under the lock", "tasks under the lock", "connections");
    }

    @Test
    void locksOverConnectionsOfTheirOwnEndLast() {
        assertThat(end(application -> application.withPropertyValues("reactive-lock.store=memory")))
                .containsExactly(
                        "requests under the lock",
                        "server under the lock",
                        "tasks under the lock",
                        "connections under the lock");
    }

    /** It waits for the last phase, so it goes on behind all of them. */
    @ParameterizedTest
    @ValueSource(classes = {ThreadPoolTaskScheduler.class, ThreadPoolTaskExecutor.class})
    void aTaskThatIsWaitedForKeepsItsLockToItsEnd(Class<? extends ExecutorConfigurationSupport> type) throws Exception {
        CountDownLatch lastPhase = new CountDownLatch(1);
        CompletableFuture<String> outcome = new CompletableFuture<>();

        withPhases(new AtomicReference<>(), new CopyOnWriteArrayList<>())
                .withPropertyValues("reactive-lock.store=memory")
                .withBean("last", Ending.class, () -> new Ending(lastPhase))
                .withBean("executor", ExecutorConfigurationSupport.class, () -> waiting(type))
                .run(context -> {
                    CountDownLatch began = new CountDownLatch(1);
                    Mono<String> work = Mono.fromCallable(() -> {
                        began.countDown();
                        assertThat(lastPhase.await(60, TimeUnit.SECONDS)).isTrue();
                        return "done";
                    });
                    LockClient locks = Contexts.locks(context);
                    ((Executor) context.getBean("executor")).execute(() -> {
                        try {
                            outcome.complete(locks.withLock("k", work).block(Contexts.PATIENCE));
                        } catch (RuntimeException lost) {
                            outcome.completeExceptionally(lost);
                        }
                    });
                    assertThat(began.await(60, TimeUnit.SECONDS)).isTrue();
                });

        assertThat(outcome.get(60, TimeUnit.SECONDS)).isEqualTo("done");
    }

    private static ExecutorConfigurationSupport waiting(Class<? extends ExecutorConfigurationSupport> type) {
        ExecutorConfigurationSupport executor =
                type == ThreadPoolTaskScheduler.class ? new ThreadPoolTaskScheduler() : new ThreadPoolTaskExecutor();
        executor.setWaitForTasksToCompleteOnShutdown(true);
        executor.setAwaitTerminationSeconds(60);
        return executor;
    }

    /** The last phase of an application. */
    private record Ending(CountDownLatch reached) implements SmartLifecycle {
        @Override
        public void start() {}

        @Override
        public void stop() {
            reached.countDown();
        }

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public int getPhase() {
            return Integer.MIN_VALUE;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"own", "shared"})
    void whatIsHeldIsGivenBackOverConnectionsThatAreStillOpen(String client) {
        try (RedisServer server = RedisServer.start()) {
            ApplicationContextRunner application = Contexts.redis(
                    "spring.data.redis.host=127.0.0.1",
                    "spring.data.redis.port=" + server.port(),
                    "reactive-lock.client=" + client);
            AtomicReference<LockClient> locks = new AtomicReference<>();

            application.run(context -> {
                locks.set(Contexts.locks(context));
                assertThat(locks.get().acquire("order:42").block(Contexts.PATIENCE))
                        .isNotNull();
                assertThat(server.command("EXISTS", "{reactivelock:order:42}")).isEqualTo(1L);
            });

            assertThat(server.command("EXISTS", "{reactivelock:order:42}")).isEqualTo(0L);
            assertThatThrownBy(() -> Contexts.get(locks.get().acquire("order:42")))
                    .isInstanceOf(LockClientClosedException.class);
        }
    }

    @Test
    void aContextThatIsPausedBetweenTestsKeepsItsLocks() {
        Contexts.plain().withPropertyValues("reactive-lock.store=memory").run(context -> {
            ConfigurableApplicationContext paused = context.getSourceApplicationContext();
            paused.pause();
            paused.restart();

            Contexts.aLockIsHeldWhileItsWorkRuns(context);
        });
    }
}
