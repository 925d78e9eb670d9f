package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.RedisServer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connection factories that are not just where they are looked for, or not what they are looked for as. Spring Boot's
 * details say localhost then, where no Redis of the application is.
 */
class OtherFactoriesTest {

    private static LettuceConnectionFactory factory(RedisServer server) {
        return new LettuceConnectionFactory("127.0.0.1", server.port());
    }

    @Test
    void aFactoryOfAParentContextCountsForTheLocks() {
        try (RedisServer server = RedisServer.start()) {
            new ApplicationContextRunner()
                    .withBean(LettuceConnectionFactory.class, () -> factory(server))
                    .run(parent -> Contexts.redis().withParent(parent).run(Contexts::aLockIsHeldWhileItsWorkRuns));
        }
    }

    @Test
    void ofTwoFactoriesThePrimaryOneCounts() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.redis()
                    .withBean(
                            "other", LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", 1))
                    .withBean(
                            "main",
                            LettuceConnectionFactory.class,
                            () -> factory(server),
                            definition -> definition.setPrimary(true))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    /** As a tool does that watches what a factory is asked. */
    private static ApplicationContextRunner wrapping(UnaryOperator<Object> wrapper) {
        return Contexts.redis().withBean(BeanPostProcessor.class, () -> new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof RedisConnectionFactory ? wrapper.apply(bean) : bean;
            }
        });
    }

    private static ProxyFactory proxied(Object bean) {
        return new ProxyFactory(bean);
    }

    @Test
    void aProxyThatIsALettuceFactoryShowsWhereItIs() {
        try (RedisServer server = RedisServer.start()) {
            wrapping(bean -> {
                        ProxyFactory proxy = proxied(bean);
                        proxy.setProxyTargetClass(true);
                        return proxy.getProxy();
                    })
                    .withBean(
                            RedisStandaloneConfiguration.class,
                            () -> new RedisStandaloneConfiguration("127.0.0.1", server.port()))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lettuce", "jedis"})
    void aWrapperAroundTheFactoryOfBootIsRefused(String driver) {
        wrapping(bean -> proxied(bean).getProxy())
                .withPropertyValues("spring.data.redis.client-type=" + driver)
                .withBean(
                        RedisStandaloneConfiguration.class,
                        () -> new RedisStandaloneConfiguration("redis.example", 6379))
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getDescription())
                        .contains("the connection factory redisConnectionFactory of the application does not show"));
    }

    @Test
    void aConfigurationThatNoFactoryTakesIsRefused() {
        Contexts.plain()
                .withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {
                    @Override
                    public Standalone getStandalone() {
                        return Standalone.of("localhost", 6379);
                    }
                })
                .withBean(
                        "orders",
                        RedisStandaloneConfiguration.class,
                        () -> new RedisStandaloneConfiguration("redis.example", 6379))
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getDescription())
                        .isEqualTo("the application has a RedisConfiguration orders, and no connection factory that"
                                + " takes it"));
    }
}
