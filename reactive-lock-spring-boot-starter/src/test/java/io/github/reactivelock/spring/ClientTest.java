package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.micrometer.LockObservations;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import reactor.core.publisher.Mono;

/** Which client a lock comes from, with which options, and what that client's listener hears. */
class ClientTest {

    static class Jobs implements DisposableBean {

        private final AtomicReference<String> ending = new AtomicReference<>();
        private Mono<Void> atItsEnd = Mono.empty();

        AtomicReference<String> endsWith(Mono<Void> work) {
            atItsEnd = work;
            return ending;
        }

        @WithLock(
                name = "job",
                key = "#id",
                client = "second",
                lease = "${lease}",
                maxHold = "1h",
                minHold = "PT1S",
                waitTimeout = "2s",
                fairness = Fairness.FIFO)
        public Mono<Void> second(int id) {
            return Mono.empty();
        }

        @WithLock(name = "job")
        public Mono<Void> primary() {
            return Mono.empty();
        }

        @WithLock(name = "kept", client = "second", retention = "5s")
        public Mono<Void> kept() {
            return Mono.empty();
        }

        @WithLock(name = "counted", client = "second", retention = "0s", shared = true)
        public Mono<Void> notKept() {
            return Mono.empty();
        }

        @Override
        public void destroy() {
            ending.set(atItsEnd.thenReturn("done")
                    .onErrorResume(failure -> Mono.just(failure.toString()))
                    .block());
        }
    }

    static final class Requests implements LockListener {

        private final AtomicReference<LockRequest> last = new AtomicReference<>();

        @Override
        public void waiting(LockRequest request) {
            last.set(request);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Clients {

        @Bean
        Requests requests() {
            return new Requests();
        }

        @Bean
        SimpleMeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean(destroyMethod = "close")
        @Primary
        LockClient primary(SimpleMeterRegistry meters) {
            return LockClient.builder(InMemoryLockBackend.create())
                    .listener(LockObservations.of(meters))
                    .build();
        }

        @Bean(destroyMethod = "close")
        LockClient second(Requests requests) {
            return LockClient.builder(InMemoryLockBackend.create())
                    .listener(requests)
                    .options(LockOptions.defaults().withOwner("me").withReleaseInBackground())
                    .build();
        }
    }

    @Test
    void aMethodsOptionsGoOverThoseOfTheNamedClient() {
        try (var context = Contexts.of(Map.of("lease", "7s"), Clients.class, Jobs.class)) {
            context.getBean(Jobs.class).second(42).block();

            LockRequest request = context.getBean(Requests.class).last.get();
            assertThat(request.key()).isEqualTo("job:42");
            LockOptions options = request.options();
            assertThat(options.lease()).isEqualTo(Duration.ofSeconds(7));
            assertThat(options.maxHold()).contains(Duration.ofHours(1));
            assertThat(options.minHold()).contains(Duration.ofSeconds(1));
            assertThat(options.waitTimeout()).contains(Duration.ofSeconds(2));
            assertThat(options.fairness()).isEqualTo(Fairness.FIFO);
            assertThat(options.owner()).contains("me");
            assertThat(options.isReleaseAwaited()).isFalse();
        }
    }

    @Test
    void aMethodMayKeepItsLockForTheNextCallOrNotAtAll() {
        try (var context = Contexts.of(Map.of("lease", "7s"), Clients.class, Jobs.class)) {
            Jobs jobs = context.getBean(Jobs.class);
            AtomicReference<LockRequest> last = context.getBean(Requests.class).last;

            jobs.kept().block();
            assertThat(last.get().options().retention()).contains(Duration.ofSeconds(5));
            jobs.notKept().block();
            assertThat(last.get().options().retention()).isEmpty();
        }
    }

    @Test
    void aBeanMayLockWhileItEnds() {
        AtomicReference<String> ending;
        try (var context = Contexts.of(Map.of("lease", "7s"), Clients.class, Jobs.class)) {
            Jobs jobs = context.getBean(Jobs.class);
            ending = jobs.endsWith(jobs.primary());
        }

        assertThat(ending).hasValue("done");
    }

    @Test
    void theNameIsTheTagOfTheMetrics() {
        try (var context = Contexts.of(Map.of("lease", "7s"), Clients.class, Jobs.class)) {
            context.getBean(Jobs.class).primary().block();

            assertThat(context.getBean(SimpleMeterRegistry.class)
                            .get("reactive.lock.acquire")
                            .tag("lock", "job")
                            .timer()
                            .count())
                    .isEqualTo(1);
        }
    }
}
