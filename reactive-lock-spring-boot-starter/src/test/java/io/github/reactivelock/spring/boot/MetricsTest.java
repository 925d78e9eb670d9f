package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.micrometer.LockObservationContext;
import io.github.reactivelock.micrometer.LockObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Metrics and traces of locks, where the application has Micrometer. */
class MetricsTest {

    private final ApplicationContextRunner application =
            Contexts.plain().withPropertyValues("reactive-lock.store=memory");

    @Test
    void locksAreRecordedInTheRegistriesOfSpringBoot() {
        application
                .withConfiguration(AutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        ObservationAutoConfiguration.class))
                .run(context -> {
                    Contexts.aLockIsHeldWhileItsWorkRuns(context);

                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("reactive.lock.passed")
                                    .tags("lock", "order", "store", "memory")
                                    .counter())
                            .isNotNull();
                });
    }

    @Test
    void withoutAnObservationRegistryTheTimersAreThere() {
        application.withBean(MeterRegistry.class, SimpleMeterRegistry::new).run(context -> {
            Contexts.aLockIsHeldWhileItsWorkRuns(context);

            assertThat(context.getBean(MeterRegistry.class)
                            .get("reactive.lock.acquire")
                            .tags("lock", "order", "outcome", "acquired")
                            .timer()
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void whatObservesInTheApplicationSeesWaitsAndHolds() {
        List<String> observed = new CopyOnWriteArrayList<>();
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new ObservationHandler<LockObservationContext>() {
            @Override
            public void onStop(LockObservationContext ended) {
                observed.add(ended.getContextualName());
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return context instanceof LockObservationContext;
            }
        });

        application
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(ObservationRegistry.class, () -> registry)
                .run(context -> {
                    Contexts.aLockIsHeldWhileItsWorkRuns(context);

                    assertThat(observed).containsExactly("acquire order", "hold order");
                });
    }

    @Test
    void namesAreUpToTheApplicationAndWithoutARegistryNothingIsRecorded() {
        application
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(LockObservations.class, () -> LockObservations.of(new SimpleMeterRegistry()))
                .run(context -> assertThat(context).hasSingleBean(LockObservations.class));
        application.run(context -> assertThat(context).doesNotHaveBean(LockObservations.class));
    }
}
