package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.micrometer.LockObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What operators see of locks: metrics and traces where the application has Micrometer, health, and the endpoint; of
 * the only or the primary client.
 */
@AutoConfiguration(
        after = ReactiveLockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnSingleCandidate(LockClient.class)
public final class ReactiveLockActuatorAutoConfiguration {

    /** Made by Spring. */
    public ReactiveLockActuatorAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, ObservationRegistry.class})
    static class Metrics {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(MeterRegistry.class)
        LockObservations lockObservations(
                MeterRegistry meters,
                ObjectProvider<ObservationRegistry> observations,
                ObjectProvider<StoreChoice> choice) {
            ObservationRegistry observed = observations.getIfUnique();
            LockObservations recorded =
                    observed == null ? LockObservations.of(meters) : LockObservations.of(meters, observed);
            StoreChoice chosen = choice.getIfAvailable();
            return chosen == null ? recorded : recorded.withStore(chosen.store().word());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ReactiveHealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static class HealthOfLocks {

        @Bean
        @ConditionalOnMissingBean(name = "lockHealthIndicator")
        @ConditionalOnEnabledHealthIndicator("lock")
        LockHealthIndicator lockHealthIndicator(LockClient client, ObjectProvider<LocalLocks> local) {
            return new LockHealthIndicator(client, local.getIfAvailable());
        }

        @Bean
        @ConditionalOnMissingBean(name = "electionHealthIndicator")
        @ConditionalOnBean(ElectionLifecycle.class)
        @ConditionalOnEnabledHealthIndicator("election")
        ElectionHealthIndicator electionHealthIndicator(
                LockClient client, ObjectProvider<ElectionLifecycle> candidates) {
            return new ElectionHealthIndicator(
                    candidates.orderedStream().toList(), client.options().lease());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class LocksOfThisProcess {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        LocksEndpoint locksEndpoint(LockClient client, ObjectProvider<LocalLocks> local) {
            return new LocksEndpoint(client, local.getIfAvailable());
        }
    }
}
