package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.boot.LockLifecycle.Connections;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ClassUtils;

/**
 * Makes a {@link LockClient} on the store that the application has, and closes it when the application stops. Each bean
 * gives way to one of the application: clients, a {@link LockBackend}, {@link LockOptions}. {@link LockListener} beans
 * hear what the client's locks do, and {@link LockClientCustomizer} beans change what no property says.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration"
        })
@EnableConfigurationProperties(ReactiveLockProperties.class)
@Import(StoreConfiguration.class)
public final class ReactiveLockAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(LockClient.class);

    /** The name of the client's bean, if it is made here. */
    private static final String OWN_CLIENT = "lockClient";

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
    @ConditionalOnMissingBean(LockClient.class)
    StoreOfLocks storeOfLocks(
            ReactiveLockProperties properties, LockBackend backend, ObjectProvider<StoreChoice> choice) {
        StoreChoice chosen = choice.getIfAvailable();
        return new StoreOfLocks(
                chosen == null
                        ? "the application's " + ClassUtils.getShortName(backend.getClass())
                        : chosen.where(backend, properties));
    }

    @Bean(OWN_CLIENT)
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
        LockClientBuilder heard = all.isEmpty() ? named : named.listener(new LockListeners(all));
        return properties.retention() == null
                ? heard.build()
                : ReactiveLockProperties.checked("retention", heard::build);
    }

    @Bean
    @ConditionalOnMissingBean
    LockLifecycle lockLifecycle(
            ReactiveLockProperties properties,
            ObjectProvider<StoreChoice> choice,
            ObjectProvider<StoreOfLocks> store,
            ConfigurableListableBeanFactory beans) {
        boolean own = choice.getIfAvailable() != null && properties.client() != Sharing.SHARED;
        StoreOfLocks known = store.getIfAvailable();
        Map<LockClient, String> clients = new LinkedHashMap<>();
        // Those too that are injected only where they are named.
        beans.getBeansOfType(LockClient.class).forEach((name, client) -> {
            String text = known == null || !name.equals(OWN_CLIENT)
                    ? "the store of the application's LockClient bean '" + name + "'"
                    : known.text();
            clients.put(client, text);
        });
        if (known == null && properties.areSet()) {
            log.warn(
                    "reactive-lock.* is set, and changes nothing: the application has a LockClient of its own, '{}', so the"
                            + " starter makes none; remove one of the two, or declare that bean with"
                            + " @Bean(defaultCandidate = false) to have both",
                    String.join("', '", beans.getBeanNamesForType(LockClient.class)));
        }
        return new LockLifecycle(clients, own ? Connections.OWN : Connections.OF_APPLICATION, beans);
    }
}
