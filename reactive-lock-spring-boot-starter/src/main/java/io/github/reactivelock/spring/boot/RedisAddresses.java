package io.github.reactivelock.spring.boot;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.MasterReplica;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Where the application's Redis is. A connection factory says it, if there is one: the details of Spring Boot may name
 * a server that is not used at all, so a factory that does not say it is refused. That of Spring Boot alone may have
 * replicas, which it does not show; they are those of a bean, or of the details.
 */
final class RedisAddresses {

    private final Beans<RedisConnectionFactory> factories;
    private final Beans<ReactiveRedisConnectionFactory> reactive;
    private final Beans<DataRedisConnectionDetails> details;
    private final Beans<DataRedisProperties> properties;
    private final Beans<RedisStaticMasterReplicaConfiguration> configured;
    private final Beans<RedisConfiguration> configurations;
    private final Beans<JedisClientConfigurationBuilderCustomizer> customizers;
    private final ConfigurableListableBeanFactory beans;

    RedisAddresses(ConfigurableListableBeanFactory beans) {
        this.factories = new Beans<>(beans, RedisConnectionFactory.class);
        this.reactive = new Beans<>(beans, ReactiveRedisConnectionFactory.class);
        this.details = new Beans<>(beans, DataRedisConnectionDetails.class);
        this.properties = new Beans<>(beans, DataRedisProperties.class);
        this.configured = new Beans<>(beans, RedisStaticMasterReplicaConfiguration.class);
        this.configurations = new Beans<>(beans, RedisConfiguration.class);
        this.customizers = new Beans<>(beans, JedisClientConfigurationBuilderCustomizer.class);
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
        if (configurations.exist()) {
            throw new LockConfigurationException(
                    "the application has a " + configurations + ", and no connection factory that takes it",
                    "Set reactive-lock.url, or declare a connection factory or a bean of the type LockBackend.");
        }
        return RedisAddress.of(details.only(), isUrlSecured());
    }

    private RedisAddress address(String name, Object factory) {
        boolean isOfBoot = details.exist() && isOfBoot(name);
        if (factory instanceof LettuceConnectionFactory lettuce) {
            if (RedisAddress.isShownBy(lettuce)) {
                return RedisAddress.of(lettuce);
            }
            RedisStaticMasterReplicaConfiguration replicas = isOfBoot ? replicas() : null;
            if (replicas != null) {
                return RedisAddress.of(replicas, lettuce.getClientConfiguration());
            }
        } else if (factory instanceof JedisConnectionFactory jedis) {
            return RedisAddress.of(jedis, tls(name, jedis, isOfBoot));
        }
        throw new LockConfigurationException(
                "the connection factory " + name + " of the application does not show where its Redis is: only a"
                        + " LettuceConnectionFactory or JedisConnectionFactory of one server, of a socket, of sentinels or"
                        + " of a cluster does",
                "Set reactive-lock.url, or declare a bean of the type LockBackend: for a primary with replicas it is"
                        + " LettuceLockBackend.connectPrimary.");
    }

    private boolean isUrlSecured() {
        String url = properties.exist() ? properties.only().getUrl() : null;
        return url != null && url.startsWith("rediss:");
    }

    /** How a factory of Jedis secures its connections, which it shows only in classes that Lettuce cannot take. */
    private @Nullable SslBundle tls(String name, JedisConnectionFactory factory, boolean isOfBoot) {
        JedisClientConfiguration client = factory.getClientConfiguration();
        SslBundle bundle = isOfBoot && factory.isUseSsl() ? details.only().getSslBundle() : null;
        boolean isItsOwn = factory.isUseSsl()
                && (client.getSslSocketFactory().isPresent()
                        || client.getSslParameters().isPresent()
                        || client.getHostnameVerifier().isPresent());
        if (client.getCustomizer().isPresent() || (isItsOwn && (bundle == null || customizers.exist()))) {
            throw new LockConfigurationException(
                    "the connection factory " + name + " of the application is Jedis' with a configuration made in code"
                            + " (certificates, or a customizer), which connections of the locks cannot be given",
                    "Set reactive-lock.url, or declare a bean of the type LockBackend; certificates may come from an"
                            + " SSL bundle instead (spring.data.redis.ssl.bundle).");
        }
        return bundle;
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
