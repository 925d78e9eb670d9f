package io.github.reactivelock.spring.boot;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.MasterReplica;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Where the application's Redis is. A connection factory that Spring Boot made connects where its connection details
 * say, or a configuration that is a bean. One that the application made connects where that one says, and the details
 * may then name a server that is not used at all: so a factory that does not say it is refused.
 */
final class RedisAddresses {

    private final Beans<RedisConnectionFactory> factories;
    private final Beans<ReactiveRedisConnectionFactory> reactive;
    private final Beans<DataRedisConnectionDetails> details;
    private final Beans<RedisStaticMasterReplicaConfiguration> configured;
    private final ConfigurableListableBeanFactory beans;

    RedisAddresses(ConfigurableListableBeanFactory beans) {
        this.factories = new Beans<>(beans, RedisConnectionFactory.class);
        this.reactive = new Beans<>(beans, ReactiveRedisConnectionFactory.class);
        this.details = new Beans<>(beans, DataRedisConnectionDetails.class);
        this.configured = new Beans<>(beans, RedisStaticMasterReplicaConfiguration.class);
        this.beans = beans;
    }

    /** For people; null if the application has no Redis. */
    @Nullable
    String found() {
        if (factories.exist()) {
            return factories.toString();
        }
        if (reactive.exist()) {
            return reactive.toString();
        }
        return details.exist() ? details.toString() : null;
    }

    RedisAddress address() {
        if (factories.exist() && reactive.exist() && factories.only() != (Object) reactive.only()) {
            throw new LockConfigurationException(
                    "the locks could use the connection factory " + factories.onlyName() + " or " + reactive.onlyName(),
                    "Set reactive-lock.url, or declare a bean of the type LockBackend.");
        }
        if (factories.exist()) {
            return address(factories.onlyName(), factories.only());
        }
        if (reactive.exist()) {
            return address(reactive.onlyName(), reactive.only());
        }
        return RedisAddress.of(details.only());
    }

    private RedisAddress address(String name, Object factory) {
        LettuceConnectionFactory lettuce = factory instanceof LettuceConnectionFactory its ? its : null;
        if (isOfBoot(name) && details.exist()) {
            if (lettuce == null) {
                return RedisAddress.of(details.only());
            }
            RedisStaticMasterReplicaConfiguration replicas = replicas(); // which a factory does not show
            return replicas == null || RedisAddress.isShownBy(lettuce)
                    ? RedisAddress.of(lettuce)
                    : RedisAddress.of(replicas, lettuce.getClientConfiguration());
        }
        if (lettuce == null || !RedisAddress.isShownBy(lettuce)) {
            throw new LockConfigurationException(
                    "the connection factory " + name + " of the application does not show where its Redis is: only a"
                            + " LettuceConnectionFactory of one server, of a socket, of sentinels or of a cluster does",
                    "Set reactive-lock.url, or declare a bean of the type LockBackend: for a primary with replicas it is"
                            + " LettuceLockBackend.connectPrimary.");
        }
        return RedisAddress.of(lettuce);
    }

    /** As Spring Boot has them: those of a bean, or else of the connection details. */
    private @Nullable RedisStaticMasterReplicaConfiguration replicas() {
        if (configured.exist()) {
            return configured.only();
        }
        MasterReplica nodes = details.only().getMasterReplica();
        if (nodes == null) {
            return null;
        }
        RedisStaticMasterReplicaConfiguration replicas = new RedisStaticMasterReplicaConfiguration();
        nodes.getNodes().forEach(node -> replicas.addNode(node.host(), node.port()));
        replicas.setUsername(details.only().getUsername());
        replicas.setPassword(details.only().getPassword());
        return replicas;
    }

    /** Known once the bean was made. */
    private boolean isOfBoot(String name) {
        if (!beans.containsBeanDefinition(name)
                || !(beans.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition)) {
            return false;
        }
        Method made = definition.getResolvedFactoryMethod();
        return made != null && made.getDeclaringClass().getName().startsWith("org.springframework.boot.");
    }
}
