package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.SignalsRefusedException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the health endpoint says of locks. */
class HealthTest {

    private final ApplicationContextRunner application =
            Contexts.plain().withPropertyValues("reactive-lock.store=memory");

    private static Health health(ApplicationContext context) {
        Health seen =
                context.getBean(ReactiveHealthIndicator.class).health(true).block(Contexts.PATIENCE);
        assertThat(seen).isNotNull();
        return seen;
    }

    /** A store that answers one of its questions differently. */
    private static LockBackend answering(LockBackend store, String question, Supplier<?> answer) {
        return (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(),
                new Class<?>[] {LockBackend.class},
                (proxy, method, arguments) ->
                        method.getName().equals(question) ? answer.get() : method.invoke(store, arguments));
    }

    @Test
    void unknownBeforeTheFirstLockAndUpAfterwards() {
        application.run(context -> {
            assertThat(health(context).getStatus()).isEqualTo(Status.UNKNOWN);
            assertThat(health(context).getDetails()).containsEntry("reason", "no lock has been asked for yet");

            LockHandle held = Contexts.locks(context).acquire("k").block(Contexts.PATIENCE);
            assertThat(held).isNotNull();
            assertThat(health(context).getStatus()).isEqualTo(Status.UP);
            assertThat(health(context).getDetails()).containsEntry("held", 1).containsEntry("waiting", 0);

            Contexts.get(held.release());
            assertThat(health(context).getDetails()).containsEntry("held", 0);
        });
    }

    @Test
    void upAndSaysWhyPushesDoNotArrive() {
        application.withBean(LockBackend.class, HealthTest::unheard).run(context -> {
            Contexts.get(Contexts.locks(context).withLock("k", Mono.empty()));

            assertThat(health(context).getStatus()).isEqualTo(Status.UP);
            assertThat(health(context).getDetails()).containsEntry("notPushed", "rings are not heard: two users");
        });
    }

    @Test
    void saysWhyPushesToAClientOfTheApplicationDoNotArrive() {
        Contexts.plain()
                .withBean(LockClient.class, () -> LockClient.create(unheard()))
                .run(context -> assertThat(health(context).getDetails())
                        .containsEntry("notPushed", "rings are not heard: two users"));
    }

    private static LockBackend unheard() {
        return answering(
                InMemoryLockBackend.create(), "whyNotPushed", () -> Optional.of("rings are not heard: two users"));
    }

    @Test
    void downWithTheReasonIfTheStoreCannotBeAsked() {
        LockBackend silent = answering(
                InMemoryLockBackend.create(),
                "probe",
                () -> Mono.error(new IllegalStateException("the store is being repaired")));

        application.withBean(LockBackend.class, () -> silent).run(context -> {
            Contexts.get(Contexts.locks(context).withLock("k", Mono.empty()));

            assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
            assertThat(health(context).getDetails().get("error").toString())
                    .contains("the lock store is not ready: the store is being repaired");
        });
    }

    @Test
    void downIfTheStoreRefusesToPush() {
        InMemoryLockBackend store = InMemoryLockBackend.create();
        Supplier<LockBackend> refusing = () -> answering(
                store.connect(),
                "signals",
                () -> Flux.error(new SignalsRefusedException("no permission for channels", null)));
        LockClient other = LockClient.create(store);
        LockHandle held = other.acquire("k").block(Contexts.PATIENCE);
        assertThat(held).isNotNull();

        application.withBean(LockBackend.class, refusing).run(context -> {
            assertThatThrownBy(() -> Contexts.get(Contexts.locks(context).acquire("k")))
                    .isInstanceOf(LockUnavailableException.class);

            assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
            assertThat(health(context).getDetails().get("error").toString()).contains("no permission for channels");
        });
        application
                .withBean(LockBackend.class, refusing)
                .withBean(LockOptions.class, () -> LockOptions.defaults().withLease(Duration.ofMillis(100)))
                .run(context -> {
                    assertThatThrownBy(
                                    () -> Contexts.get(Contexts.locks(context).acquire("k")))
                            .isInstanceOf(LockUnavailableException.class);

                    // A lease later the refusal is old news.
                    Contexts.get(context.getBean(ReactiveHealthIndicator.class)
                            .health(true)
                            .repeatWhen(asked -> asked.delayElements(Duration.ofMillis(10)))
                            .any(seen -> seen.getStatus().equals(Status.UP)));
                });
        Contexts.get(other.close());
    }

    @Test
    void aClientOfTheApplicationIsAskedFromTheBeginning() {
        Contexts.plain()
                .withBean(LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .run(context -> assertThat(health(context).getStatus()).isEqualTo(Status.UP));
    }

    @Test
    void theUsualPropertyTurnsItOffAndAnApplicationsOwnReplacesIt() {
        application
                .withPropertyValues("management.health.lock.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(ReactiveHealthIndicator.class));
        application
                .withPropertyValues("management.health.defaults.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(ReactiveHealthIndicator.class));
        application
                .withBean(
                        "lockHealthIndicator",
                        ReactiveHealthIndicator.class,
                        () -> () -> Mono.just(Health.up().build()))
                .run(context -> assertThat(context).doesNotHaveBean(LockHealthIndicator.class));
        application
                .withClassLoader(new FilteredClassLoader(ReactiveHealthIndicator.class.getPackageName()))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(LocalLocks.class)
                        .doesNotHaveBean(LockHealthIndicator.class));
    }
}
