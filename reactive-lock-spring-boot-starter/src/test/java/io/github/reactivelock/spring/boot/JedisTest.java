package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.Tls;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import reactor.core.publisher.Mono;

/** Locks in the Redis of an application that has Jedis; they have connections of Lettuce, to the same one. */
class JedisTest {

    private static final String PASSWORD = "marker-8f3a-password";
    private static final String USER = "orders";

    private static ApplicationContextRunner jedis(String... properties) {
        return Contexts.redis("spring.data.redis.client-type=jedis").withPropertyValues(properties);
    }

    private static Set<String> nodes(List<RedisServer> servers) {
        return servers.stream().map(server -> "127.0.0.1:" + server.port()).collect(Collectors.toSet());
    }

    private static RedisStandaloneConfiguration configuration(RedisServer server) {
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", server.port());
        configuration.setUsername(USER);
        configuration.setPassword(PASSWORD);
        configuration.setDatabase(3);
        return configuration;
    }

    /** While its work runs, a lock is in database 3, of the user, and over a connection with the name. */
    private static void aLockIsHeldAsConfigured(ApplicationContextRunner application, RedisServer server) {
        Object unused = server.command("ACL", "SETUSER", USER, "on", ">" + PASSWORD, "~*", "&*", "+@all");
        application.run(context -> Contexts.get(Contexts.locks(context).withLock("order:42", Mono.fromRunnable(() -> {
            assertThat(server.command("INFO", "keyspace"))
                    .asString()
                    .contains("db3:")
                    .doesNotContain("db0:");
            assertThat(server.command("CLIENT", "LIST")).asString().contains("name=shop", "user=" + USER);
        }))));
    }

    @Test
    void aConfigurationOfTheApplicationCountsForTheLocks() {
        try (RedisServer server = RedisServer.start()) {
            aLockIsHeldAsConfigured(
                    jedis("spring.data.redis.client-name=shop")
                            .withBean(RedisStandaloneConfiguration.class, () -> configuration(server)),
                    server);
        }
    }

    @Test
    void aFactoryOfTheApplicationCountsForTheLocks() {
        try (RedisServer server = RedisServer.start()) {
            aLockIsHeldAsConfigured(
                    Contexts.redis()
                            .withBean(
                                    JedisConnectionFactory.class,
                                    () -> new JedisConnectionFactory(
                                            configuration(server),
                                            JedisClientConfiguration.builder()
                                                    .clientName("shop")
                                                    .build())),
                    server);
        }
    }

    @Test
    void sentinelsAndClustersOfTheApplicationCountForTheLocks() {
        try (RedisSentinel set = RedisSentinel.start(0);
                RedisCluster cluster = RedisCluster.start(3, 0)) {
            jedis().withBean(
                            RedisSentinelConfiguration.class,
                            () -> new RedisSentinelConfiguration(RedisSentinel.NAME, nodes(set.sentinels())))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
            jedis().withBean(
                            RedisClusterConfiguration.class,
                            () -> new RedisClusterConfiguration(nodes(cluster.nodes())))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @Test
    void propertiesSayItToo() {
        try (RedisServer server = RedisServer.start("--requirepass", PASSWORD)) {
            jedis("spring.data.redis.url=redis://:" + PASSWORD + "@127.0.0.1:" + server.port())
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @Test
    void anSslBundleSaysWhomToTrust(@TempDir Path directory) {
        Tls tls = Tls.in(directory);
        try (RedisServer server = RedisServer.start(tls.redis(PASSWORD))) {
            jedis(
                            "spring.data.redis.host=127.0.0.1",
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.password=" + PASSWORD,
                            "spring.ssl.bundle.pem.redis.truststore.certificate=" + tls.certificate(),
                            "spring.data.redis.ssl.bundle=redis")
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    /** The connection details say nothing of it, so the password went over the network as it is. */
    @Test
    void aUrlWithTlsIsOneForTheLocksToo(@TempDir Path directory) {
        try (RedisServer server = RedisServer.start(Tls.in(directory).redis(PASSWORD))) {
            ApplicationContextRunner application =
                    jedis("spring.data.redis.url=rediss://:" + PASSWORD + "@127.0.0.1:" + server.port());
            for (ApplicationContextRunner one :
                    List.of(application, application.withClassLoader(new FilteredClassLoader("redis.clients.jedis")))) {
                one.run(context -> assertThatThrownBy(
                                () -> Contexts.get(Contexts.locks(context).ready()))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("certif"));
            }
        }
    }

    @Test
    void whatIsConfiguredInCodeForJedisAloneIsRefused() {
        List<JedisClientConfigurationBuilderCustomizer> customizers = List.of(
                builder -> {
                    var unused = builder.useSsl().sslParameters(new SSLParameters());
                },
                builder -> {
                    var unused = builder.customize(its -> its.user(USER));
                });
        for (JedisClientConfigurationBuilderCustomizer customizer : customizers) {
            jedis().withBean(JedisClientConfigurationBuilderCustomizer.class, () -> customizer)
                    .run(JedisTest::isRefused);
            jedis("spring.data.redis.ssl.enabled=true")
                    .withBean(JedisClientConfigurationBuilderCustomizer.class, () -> customizer)
                    .run(JedisTest::isRefused);
            JedisClientConfiguration.JedisClientConfigurationBuilder builder = JedisClientConfiguration.builder();
            customizer.customize(builder);
            Contexts.redis()
                    .withBean(
                            "redisConnectionFactory",
                            RedisConnectionFactory.class,
                            () -> new JedisConnectionFactory(new RedisStandaloneConfiguration(), builder.build()))
                    .run(JedisTest::isRefused);
        }
    }

    private static void isRefused(AssertableApplicationContext context) {
        assertThat(Contexts.analysis(context.getStartupFailure()).getDescription())
                .contains("the connection factory redisConnectionFactory", "Jedis' with a configuration made in code");
    }

    @Test
    void itsClientIsNotShared() {
        jedis("reactive-lock.client=shared")
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getAction())
                        .startsWith("Remove reactive-lock.client"));
    }
}
