package io.github.reactivelock.spring.boot;

import static io.github.reactivelock.spring.boot.Contexts.aLockIsHeldWhileItsWorkRuns;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.Tls;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.event.connection.ConnectionActivatedEvent;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Locks in the Redis of the application, however Spring Boot knows of it; on real servers. */
class RedisStoreTest {

    private static final String PASSWORD = "marker-8f3a-password";
    private static final ClientOptions RESP2 =
            ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build();

    private static String nodes(List<RedisServer> servers) {
        return servers.stream().map(server -> "127.0.0.1:" + server.port()).collect(Collectors.joining(","));
    }

    private static ApplicationContextRunner on(RedisServer server, String... properties) {
        return Contexts.redis("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port())
                .withPropertyValues(properties);
    }

    @Test
    void oneServerWithAPassword() {
        try (RedisServer server = RedisServer.start("--requirepass", PASSWORD)) {
            on(server, "spring.data.redis.password=" + PASSWORD).run(Contexts::aLockIsHeldWhileItsWorkRuns);
            on(server)
                    .run(context -> assertThatThrownBy(
                                    () -> Contexts.get(Contexts.locks(context).ready()))
                            .isInstanceOf(LockUnavailableException.class));
        }
    }

    @Test
    void theDatabaseOfTheApplication() {
        try (RedisServer server = RedisServer.start()) {
            on(server, "spring.data.redis.database=3")
                    .run(context -> Contexts.get(Contexts.locks(context)
                            .withLock(
                                    "order:42",
                                    Mono.fromRunnable(() -> assertThat(server.command("INFO", "keyspace"))
                                            .asString()
                                            .contains("db3:")
                                            .doesNotContain("db0:")))));
        }
    }

    @Test
    void theNamesInTheStoreBeginWithThePrefix() {
        try (RedisServer server = RedisServer.start()) {
            on(server, "reactive-lock.key-prefix=shop")
                    .run(context -> Contexts.get(Contexts.locks(context)
                            .withLock(
                                    "order:42",
                                    Mono.fromRunnable(() -> assertThat(server.command("EXISTS", "{shop:order:42}"))
                                            .isEqualTo(1L)))));
        }
    }

    @Test
    void sentinels() {
        try (RedisSentinel set = RedisSentinel.start(1)) {
            Contexts.redis(
                            "spring.data.redis.sentinel.master=" + RedisSentinel.NAME,
                            "spring.data.redis.sentinel.nodes=" + nodes(set.sentinels()))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @Test
    void replicasWithoutSentinels() {
        try (RedisSentinel set = RedisSentinel.start(1)) {
            Contexts.redis("spring.data.redis.masterreplica.nodes=" + nodes(set.servers()))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    /** Spring Boot takes it for its factory; the connection details still name localhost. */
    @Test
    void replicasOfAConfigurationOfTheApplication() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.redis()
                    .withBean(
                            RedisStaticMasterReplicaConfiguration.class,
                            () -> new RedisStaticMasterReplicaConfiguration("127.0.0.1", server.port()))
                    .run(context -> {
                        assertThat(context.getBean(LockBackend.class))
                                .asString()
                                .contains("primary of 127.0.0.1:" + server.port());
                        aLockIsHeldWhileItsWorkRuns(context);
                    });
        }
    }

    @Test
    void aCluster() {
        try (RedisCluster cluster = RedisCluster.start(3, 0)) {
            Contexts.redis("spring.data.redis.cluster.nodes=" + nodes(cluster.nodes()))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @Test
    void anSslBundleSaysWhomToTrust(@TempDir Path directory) {
        Tls tls = Tls.in(directory);
        try (RedisServer server = RedisServer.start(tls.redis(PASSWORD))) {
            ApplicationContextRunner trusting = on(
                    server,
                    "spring.data.redis.password=" + PASSWORD,
                    "spring.data.redis.ssl.enabled=true",
                    "spring.ssl.bundle.pem.redis.truststore.certificate=" + tls.certificate());

            trusting.withPropertyValues("spring.data.redis.ssl.bundle=redis")
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
            trusting.run(context -> assertThatThrownBy(
                            () -> Contexts.get(Contexts.locks(context).ready()))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("certif"));
        }
    }

    @Test
    void aConnectionFactoryOfTheApplicationSaysWhereItIs() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.redis()
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory("127.0.0.1", server.port()))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @Test
    void aFactoryOfTheApplicationCountsWhateverTheConnectionDetailsSay() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.redis("spring.data.redis.masterreplica.nodes=127.0.0.1:1,127.0.0.1:2")
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory("127.0.0.1", server.port()))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFactoryThatStartsLateSaysWhereItIsToo(boolean early) {
        try (RedisServer server = RedisServer.start()) {
            RedisStandaloneConfiguration address = new RedisStandaloneConfiguration("127.0.0.1", server.port());
            address.setDatabase(3);
            LettuceConnectionFactory factory = new LettuceConnectionFactory(address);
            factory.setEarlyStartup(early);
            Contexts.redis()
                    .withBean(LettuceConnectionFactory.class, () -> factory)
                    .run(context -> {
                        aLockIsHeldWhileItsWorkRuns(context);
                        assertThat(address.getDatabase()).isEqualTo(3);
                    });
        }
    }

    /** In Kubernetes, say, an application maps the names of servers to where they can be reached from outside. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.data.redis.host=redis-0.cluster.local",
                "spring.data.redis.masterreplica.nodes=redis-0.cluster.local:6379"
            })
    void connectionsOfTheLocksAreMadeAsThoseOfTheApplication(String address) {
        try (RedisServer server = RedisServer.start()) {
            MappingSocketAddressResolver mapping = MappingSocketAddressResolver.create(
                    DnsResolvers.UNRESOLVED,
                    asked -> asked.getHostText().endsWith(".cluster.local")
                            ? HostAndPort.of("127.0.0.1", server.port())
                            : asked);
            Contexts.redis(address)
                    .withBean(
                            ClientResources.class,
                            () -> ClientResources.builder()
                                    .socketAddressResolver(mapping)
                                    .build())
                    .withBean(
                            LettuceClientConfigurationBuilderCustomizer.class,
                            () -> builder -> builder.clientName("orders").clientOptions(RESP2))
                    .run(context -> Contexts.get(Contexts.locks(context)
                            .withLock(
                                    "order:42",
                                    Mono.fromRunnable(() -> assertThat(server.command("CLIENT", "LIST"))
                                            .asString()
                                            .contains("name=orders")
                                            .contains("resp=2")
                                            .doesNotContain("resp=3")))));
        }
    }

    @Test
    void optionsOfAFactoryWithoutResourcesCountForTheLocks() {
        try (RedisServer server = RedisServer.start()) {
            LettuceClientConfiguration resp2 =
                    LettuceClientConfiguration.builder().clientOptions(RESP2).build();
            Contexts.redis()
                    .withBean(
                            LettuceConnectionFactory.class,
                            () -> new LettuceConnectionFactory(
                                    new RedisStandaloneConfiguration("127.0.0.1", server.port()), resp2))
                    .run(context -> Contexts.get(Contexts.locks(context)
                            .withLock(
                                    "order:42",
                                    Mono.fromRunnable(() -> assertThat(server.command("CLIENT", "LIST"))
                                            .asString()
                                            .contains("resp=2")
                                            .doesNotContain("resp=3")))));
        }
    }

    @Test
    void replicasAreReachedWithTheTlsAndTheCredentialsOfTheApplication(@TempDir Path directory) {
        RedisCredentialsProviderFactory rotating = new RedisCredentialsProviderFactory() {
            @Override
            public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
                return RedisCredentialsProvider.from(() -> RedisCredentials.just(null, PASSWORD));
            }
        };
        try (RedisServer server = RedisServer.start(Tls.in(directory).redis(PASSWORD))) {
            Contexts.redis("spring.data.redis.masterreplica.nodes=127.0.0.1:" + server.port())
                    .withBean(
                            LettuceClientConfigurationBuilderCustomizer.class,
                            () -> builder -> builder.redisCredentialsProviderFactory(rotating)
                                    .useSsl()
                                    .disablePeerVerification())
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    /** They show localhost, and so do the connection details: locks went there, and not to the application's Redis. */
    static Stream<Arguments> factoriesThatDoNotSayWhereTheyAre() {
        RedisStaticMasterReplicaConfiguration replicas =
                new RedisStaticMasterReplicaConfiguration("redis.example", 6379);
        replicas.addNode("replica.example", 6379);
        return Stream.of(
                arguments("static replicas", (Supplier<?>) () -> new LettuceConnectionFactory(replicas)),
                arguments("static replicas, later", (Supplier<?>) () -> late(replicas)),
                arguments("another driver", (Supplier<?>) () -> stub(RedisConnectionFactory.class)));
    }

    private static LettuceConnectionFactory late(RedisConfiguration configuration) {
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(configuration, LettuceClientConfiguration.defaultConfiguration());
        factory.setEarlyStartup(false);
        return factory;
    }

    private static <T> T stub(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> method.getName().equals("hashCode") ? 1 : null));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("factoriesThatDoNotSayWhereTheyAre")
    void aFactoryThatDoesNotSayWhereItIsIsRefused(String kind, Supplier<RedisConnectionFactory> factory) {
        for (String sharing : List.of("own", "shared")) {
            Contexts.redis("reactive-lock.client=" + sharing)
                    .withBean("redis", RedisConnectionFactory.class, factory)
                    .run(context -> assertThat(Contexts.analysis(context.getStartupFailure())
                                    .getDescription())
                            .contains("the connection factory redis of the application does not show where its Redis"));
        }
    }

    @Test
    void aReactiveFactoryOfTheApplicationBesideThatOfBootIsRefused() {
        Contexts.redis()
                .withBean(
                        "mine", ReactiveRedisConnectionFactory.class, () -> stub(ReactiveRedisConnectionFactory.class))
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getDescription())
                        .contains("mine", "redisConnectionFactory"));
    }

    @Test
    void connectionDetailsSayItWhereThereIsNoFactory(@TempDir Path directory) {
        try (RedisServer server = RedisServer.start();
                RedisSentinel set = RedisSentinel.start(0);
                RedisCluster cluster = RedisCluster.start(3, 0)) {
            List<DataRedisConnectionDetails> all = List.of(
                    Details.of(DataRedisConnectionDetails.Standalone.of("127.0.0.1", server.port())),
                    Details.ofSentinels(set),
                    Details.ofCluster(cluster));
            for (DataRedisConnectionDetails details : all) {
                Contexts.plain()
                        .withBean(DataRedisConnectionDetails.class, () -> details)
                        .run(Contexts::aLockIsHeldWhileItsWorkRuns);
            }
        }
    }

    @Test
    void theConnectionsAreTheLocksOwnUnlessTheClientIsShared() {
        try (RedisServer server = RedisServer.start()) {
            assertThat(connectionsOfTheApplication(on(server))).isZero();
            assertThat(connectionsOfTheApplication(on(server, "reactive-lock.client=shared")))
                    .isPositive();
        }
    }

    /** That its own client opens when a lock is taken. */
    private static int connectionsOfTheApplication(ApplicationContextRunner application) {
        AtomicInteger opened = new AtomicInteger();
        application.run(context -> {
            ClientResources own = context.getBean(LettuceConnectionFactory.class)
                    .getRequiredNativeClient()
                    .getResources();
            Disposable watching = own.eventBus()
                    .get()
                    .ofType(ConnectionActivatedEvent.class)
                    .subscribe(event -> opened.incrementAndGet());
            aLockIsHeldWhileItsWorkRuns(context);
            watching.dispose();
        });
        return opened.get();
    }

    @Test
    void aClusterIsShared() {
        try (RedisCluster cluster = RedisCluster.start(3, 0)) {
            Contexts.redis("spring.data.redis.cluster.nodes=" + nodes(cluster.nodes()), "reactive-lock.client=shared")
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    @Test
    void aClientThatDoesNotFindThePrimaryIsNotShared() {
        Contexts.redis("spring.data.redis.masterreplica.nodes=127.0.0.1:1,127.0.0.1:2", "reactive-lock.client=shared")
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getAction())
                        .startsWith("Remove reactive-lock.client"));
    }

    @Test
    void aUrlOfRedisNeedsNoSpringData() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.plain()
                    .withPropertyValues("reactive-lock.url=" + server.uri())
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }

    /** As a service connection of a container gives them. */
    private record Details(Standalone standalone, Sentinel sentinel, Cluster cluster)
            implements DataRedisConnectionDetails {

        static DataRedisConnectionDetails of(Standalone server) {
            return new Details(server, null, null);
        }

        static DataRedisConnectionDetails ofSentinels(RedisSentinel set) {
            return new Details(
                    null,
                    new Sentinel() {
                        @Override
                        public int getDatabase() {
                            return 0;
                        }

                        @Override
                        public String getMaster() {
                            return RedisSentinel.NAME;
                        }

                        @Override
                        public List<Node> getNodes() {
                            return nodesOf(set.sentinels());
                        }

                        @Override
                        public String getUsername() {
                            return null;
                        }

                        @Override
                        public String getPassword() {
                            return null;
                        }
                    },
                    null);
        }

        static DataRedisConnectionDetails ofCluster(RedisCluster cluster) {
            return new Details(null, null, () -> nodesOf(cluster.nodes()));
        }

        private static List<Node> nodesOf(List<RedisServer> servers) {
            return servers.stream()
                    .map(server -> new Node("127.0.0.1", server.port()))
                    .toList();
        }

        @Override
        public Standalone getStandalone() {
            return standalone;
        }

        @Override
        public Sentinel getSentinel() {
            return sentinel;
        }

        @Override
        public Cluster getCluster() {
            return cluster;
        }
    }
}
