package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.boot.LockLifecycle.Connections;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Makes a {@link LockClient} on the store that the application has, and closes it when the application stops. Each bean gives
 * way to one of the application: clients, a {@link LockBackend}, {@link LockOptions}. {@link LockListener} beans hear what the
 * client's locks do, and {@link LockClientCustomizer} beans change what no property says.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration"
        })
@EnableConfigurationProperties(ReactiveLockProperties.class)
@Import(StoreConfiguration.class)
public final class ReactiveLockAutoConfiguration {

    /** Made by Spring. */
    public ReactiveLockAutoConfiguration() {}

    /** For health and the endpoint; the client of the application's own is not listened to. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.ReactiveHealthIndicator")
    static class ListenedTo {

        @Bean
        @ConditionalOnMissingBean(LockClient.class)
        LocalLocks localLocks() {
            return new LocalLocks();
        }
    }

    @Bean
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    StoreChoice lockStoreChoice(ReactiveLockProperties properties, ObjectProvider<StoreSource> sources) {
        return StoreChoice.of(properties, sources.orderedStream().toList());
    }

    @Bean
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    LockBackend lockBackend(ReactiveLockProperties properties, StoreChoice choice) {
        return choice.backend(properties);
    }

    @Bean
    @ConditionalOnMissingBean({LockOptions.class, LockClient.class})
    LockOptions lockOptions(ReactiveLockProperties properties) {
        return properties.options();
    }

    @Bean
    @ConditionalOnMissingBean
    LockClient lockClient(
            ReactiveLockProperties properties,
            LockBackend backend,
            LockOptions options,
            ObjectProvider<LockListener> listeners,
            ObjectProvider<LockClientCustomizer> customizers) {
        String name = properties.name();
        LockClientBuilder plain = LockClient.builder(backend).options(options);
        LockClientBuilder named = name == null ? plain : ReactiveLockProperties.checked("name", () -> plain.name(name));
        customizers.orderedStream().forEach(customizer -> customizer.customize(named));
        List<LockListener> all = Stream.concat(listeners.orderedStream(), named.listener().stream())
                .distinct() // one that a customizer takes from the beans hears once
                .toList();
        return (all.isEmpty() ? named : named.listener(new LockListeners(all))).build();
    }

    @Bean
    @ConditionalOnMissingBean
    LockLifecycle lockLifecycle(
            ObjectProvider<LockClient> clients,
            ReactiveLockProperties properties,
            ObjectProvider<StoreChoice> choice,
            ConfigurableListableBeanFactory beans) {
        boolean own = choice.getIfAvailable() != null && properties.client() != Sharing.SHARED;
        return new LockLifecycle(clients.stream().toList(), own ? Connections.OWN : Connections.OF_APPLICATION, beans);
    }
}
