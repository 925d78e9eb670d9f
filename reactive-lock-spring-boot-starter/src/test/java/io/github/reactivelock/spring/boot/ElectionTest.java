package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import reactor.core.publisher.Mono;

/** A candidate as a bean. */
class ElectionTest {

    private static final String KEY = "leader:billing";

    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final BlockingQueue<Context> terms = new LinkedBlockingQueue<>();
    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final ApplicationContextRunner application = Contexts.plain().withBean(LockBackend.class, store::connect);

    private String next() throws InterruptedException {
        return told.poll(Contexts.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Configuration(proxyBeanMethods = false)
    static class Events {
        @Bean
        ElectionLifecycle billing(LockClient locks, ApplicationContext events) {
            return ElectionLifecycle.publishing(LeaderElection.of(locks, KEY), "billing", events);
        }
    }

    private ApplicationContextRunner listening() {
        return application
                .withUserConfiguration(Events.class)
                .withBean(ApplicationListener.class, () -> (ApplicationListener<AbstractLeaderEvent>) event -> {
                    terms.add(event.getContext());
                    told.add(event.getClass().getSimpleName() + " " + event.getRole());
                    throw new IllegalStateException("of the application");
                });
    }

    @Test
    void itsTermsAreEventsOfSpringAndALeaderMayYield() {
        listening().run(context -> {
            assertThat(next()).isEqualTo("OnGrantedEvent billing");
            Context first = terms.remove();
            assertThat(first.isLeader()).isTrue();
            assertThat(first.getRole()).isEqualTo("billing");

            first.yield();

            assertThat(next()).isEqualTo("OnRevokedEvent billing");
            assertThat(first.isLeader()).isFalse();
            assertThat(next()).isEqualTo("OnGrantedEvent billing");
        });

        assertThat(told).containsExactly("OnRevokedEvent billing");
        LockClient other = LockClient.create(store);
        assertThat(other.inspect(KEY).block(Contexts.PATIENCE)).isInstanceOf(LockInfo.Free.class);
        Contexts.get(other.close());
    }

    @Test
    void aLossRevokes() {
        listening().run(context -> {
            assertThat(next()).isEqualTo("OnGrantedEvent billing");

            Contexts.get(Contexts.locks(context).forceRelease(KEY));

            assertThat(next()).isEqualTo("OnRevokedEvent billing");
            assertThat(next()).isEqualTo("OnGrantedEvent billing");
        });
    }

    /** Others may have heard of the beginning. */
    @Test
    void anErrorOfAListenerEndsNoTermAndNoCampaign() throws InterruptedException {
        LockClient locks = LockClient.create(store);
        ElectionLifecycle candidate = ElectionLifecycle.publishing(LeaderElection.of(locks, KEY), "billing", event -> {
            told.add(event.getClass().getSimpleName());
            throw new NoClassDefFoundError("of the application");
        });
        candidate.start();
        assertThat(next()).isEqualTo("OnGrantedEvent");
        assertThat(candidate.election().state()).isInstanceOf(ElectionState.Leading.class);

        candidate.stop(() -> told.add("stopped"));

        assertThat(next()).isEqualTo("OnRevokedEvent");
        assertThat(next()).isEqualTo("stopped");
        Contexts.get(locks.close());
    }

    /** As Spring stops it: what comes after its end comes when beans and listeners may be gone. */
    @Test
    void aStopIsOverWhenTheEndOfTheTermHasBeenTold() throws InterruptedException {
        LockClient locks = LockClient.create(store);
        CountDownLatch listening = new CountDownLatch(1);
        ElectionLifecycle candidate = ElectionLifecycle.publishing(LeaderElection.of(locks, KEY), "billing", event -> {
            told.add(event.getClass().getSimpleName());
            if (event instanceof OnGrantedEvent) {
                awaited(listening);
            }
        });
        candidate.start();
        assertThat(next()).isEqualTo("OnGrantedEvent");

        candidate.stop(() -> told.add("stopped"));
        assertThat(candidate.isRunning()).isFalse();
        listening.countDown();

        assertThat(next()).isEqualTo("OnRevokedEvent");
        assertThat(next()).isEqualTo("stopped");
        Contexts.get(locks.close());
    }

    @Test
    void aCandidateThatDoesNotLeadStopsAtOnceAndMayStartAgain() throws InterruptedException {
        LockClient locks = LockClient.create(store);
        ElectionLifecycle candidate = ElectionLifecycle.publishing(
                LeaderElection.of(locks, KEY),
                "billing",
                event -> told.add(event.getClass().getSimpleName()));
        candidate.stop(() -> told.add("was not running"));
        assertThat(told.remove()).isEqualTo("was not running");
        LockHandle leader = LockClient.create(store.connect()).acquire(KEY).block(Contexts.PATIENCE);
        candidate.start();

        candidate.stop(() -> told.add("stopped"));
        assertThat(told.remove()).isEqualTo("stopped");
        candidate.start();
        Contexts.get(leader.release());

        assertThat(next()).isEqualTo("OnGrantedEvent");
        candidate.stop();
        assertThat(next()).isEqualTo("OnRevokedEvent");
        Contexts.get(locks.close());
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertThat(latch.await(Contexts.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aLeaderWorksWithoutSpringIntegration() {
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.integration"))
                .withUserConfiguration(Working.class)
                .withBean("told", BlockingQueue.class, () -> told)
                .run(context -> assertThat(next()).isEqualTo("leads"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Working {
        @Bean
        ElectionLifecycle billing(LockClient locks, BlockingQueue<String> told) {
            return ElectionLifecycle.leading(
                    LeaderElection.of(locks, KEY),
                    term -> Mono.fromRunnable(() -> told.add("leads")).then(Mono.never()));
        }
    }

    @Test
    void healthHasItsState() {
        listening().run(context -> {
            assertThat(next()).isEqualTo("OnGrantedEvent billing");
            ElectionLifecycle candidate = context.getBean(ElectionLifecycle.class);
            Contexts.get(candidate
                    .election()
                    .states()
                    .filter(ElectionState.Leading.class::isInstance)
                    .next());

            Health health =
                    context.getBean(ElectionHealthIndicator.class).health(true).block(Contexts.PATIENCE);

            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get(KEY)).asString().startsWith("leads, term ");
        });
    }

    @Test
    void healthIsDownWhenTheWorkFailed() {
        application.withUserConfiguration(Failing.class).run(context -> {
            ElectionLifecycle candidate = context.getBean(ElectionLifecycle.class);
            Contexts.get(candidate
                    .election()
                    .states()
                    .filter(state -> state instanceof ElectionState.Idle idle && idle.cause() != null)
                    .next());

            Health health =
                    context.getBean(ElectionHealthIndicator.class).health(true).block(Contexts.PATIENCE);

            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails()).containsEntry(KEY, "does not campaign: the ledger is closed");
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Failing {
        @Bean
        ElectionLifecycle billing(LockClient locks) {
            return ElectionLifecycle.leading(
                    LeaderElection.of(locks, KEY),
                    term -> Mono.error(new IllegalStateException("the ledger is closed")));
        }
    }
}
