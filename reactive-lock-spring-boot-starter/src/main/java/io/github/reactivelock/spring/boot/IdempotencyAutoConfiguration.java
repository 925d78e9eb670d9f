package io.github.reactivelock.spring.boot;

import io.github.reactivelock.r2dbc.Once;
import io.micrometer.core.instrument.MeterRegistry;
import io.r2dbc.spi.ConnectionFactory;
import java.util.function.Consumer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Carries out requests with an idempotency key once, where {@code reactive-lock.idempotency.enabled} says so. */
@AutoConfiguration(
        after = ReactiveLockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnBooleanProperty("reactive-lock.idempotency.enabled")
public final class IdempotencyAutoConfiguration {

    /** Made by Spring. */
    public IdempotencyAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @EnableConfigurationProperties({IdempotencyProperties.class, ReactiveLockProperties.class})
    static class WebFlux {

        @Bean
        @ConditionalOnMissingBean
        Once idempotencyOnce(ReactiveLockProperties properties, ListableBeanFactory beans) {
            Beans<ConnectionFactory> factories = new Beans<>(beans, ConnectionFactory.class);
            if (!factories.exist()) {
                throw new LockConfigurationException(
                        "reactive-lock.idempotency.enabled=true needs a database over R2DBC, and there is no"
                                + " ConnectionFactory",
                        "Add " + Store.R2DBC.needs + ", or set reactive-lock.idempotency.enabled=false.");
            }
            ConnectionFactory factory = factories.only();
            return Once.using(factory, R2dbcStore.withTables(factory, properties));
        }

        @Bean
        IdempotencyFilter idempotencyFilter(
                Once once, IdempotencyProperties properties, ObjectProvider<IdempotencyMeters> meters) {
            Consumer<IdempotencyOutcome> none = outcome -> {};
            IdempotencyMeters found = meters.getIfAvailable();
            return new IdempotencyFilter(once, properties, found == null ? none : found);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Metrics {

        @Bean
        @ConditionalOnBean(MeterRegistry.class)
        IdempotencyMeters idempotencyMeters(MeterRegistry registry) {
            return new IdempotencyMeters(registry);
        }
    }

    /** Says so instead of doing nothing. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Servlets {

        Servlets() {
            throw new LockConfigurationException(
                    "reactive-lock.idempotency.enabled=true needs WebFlux, and this application runs on servlets",
                    "Set reactive-lock.idempotency.enabled=false, or spring.main.web-application-type=reactive.");
        }
    }
}
