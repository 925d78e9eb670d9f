package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisClient;
import io.r2dbc.pool.ConnectionPool;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Which store keeps the locks, and what an application is told that does not say it. */
class StoreChoiceTest {

    private static final String H2 = "spring.r2dbc.url=r2dbc:h2:mem:///locks";

    private static FailureAnalysis refused(ApplicationContextRunner application) {
        FailureAnalysis[] told = new FailureAnalysis[1];
        application.run(context -> {
            assertThat(context).hasFailed();
            told[0] = Contexts.analysis(context.getStartupFailure());
        });
        return told[0];
    }

    @Test
    void theOnlyStoreOfTheApplicationIsTaken() {
        Contexts.redis().run(context -> assertThat(context).hasSingleBean(LettuceLockBackend.class));
        Contexts.r2dbc(H2).run(context -> assertThat(context).hasSingleBean(R2dbcLockBackend.class));
    }

    @Test
    void anApplicationWithoutAStoreIsToldWhatToAdd() {
        FailureAnalysis told = refused(Contexts.plain());

        assertThat(told.getDescription()).startsWith("no store for locks: the application has no connection to Redis");
        assertThat(told.getAction())
                .contains("spring-boot-starter-data-redis-reactive")
                .contains("spring-boot-starter-r2dbc")
                .contains("reactive-lock.url")
                .contains("LockBackend")
                .contains("reactive-lock.store=memory");
    }

    @Test
    void anApplicationWithTwoStoresIsToldOfBothAndOfTheProperty() {
        ApplicationContextRunner both =
                Contexts.redis(H2).withConfiguration(AutoConfigurations.of(R2dbcAutoConfiguration.class));

        FailureAnalysis told = refused(both);

        assertThat(told.getDescription())
                .isEqualTo("more than one store could keep the locks: redis (RedisConnectionFactory"
                        + " redisConnectionFactory) and r2dbc (ConnectionFactory connectionFactory)");
        assertThat(told.getAction()).isEqualTo("Set reactive-lock.store=redis or reactive-lock.store=r2dbc.");
        both.withPropertyValues("reactive-lock.store=redis")
                .run(context -> assertThat(context).hasSingleBean(LettuceLockBackend.class));
        both.withPropertyValues("reactive-lock.store=r2dbc")
                .run(context -> assertThat(context).hasSingleBean(R2dbcLockBackend.class));
    }

    @Test
    void twoConnectionsToOneStoreAreRefusedUnlessOneIsPrimary() {
        ApplicationContextRunner two = Contexts.redis()
                .withBean("one", LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", 6380))
                .withBean(
                        "other", LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", 6381));

        assertThat(refused(two).getDescription())
                .isEqualTo("the locks could use any of the beans RedisConnectionFactory [one, other], and none of"
                        + " them is @Primary");
        two.withBean(
                        "main",
                        LettuceConnectionFactory.class,
                        () -> new LettuceConnectionFactory("localhost", 6382),
                        definition -> definition.setPrimary(true))
                .run(context -> assertThat(context).hasSingleBean(LettuceLockBackend.class));
    }

    @Test
    void theMemoryOfTheProcessIsTakenOnlyIfItIsNamed() {
        Contexts.plain().withPropertyValues("reactive-lock.store=memory").run(context -> {
            assertThat(context).hasSingleBean(InMemoryLockBackend.class);
            Contexts.aLockIsHeldWhileItsWorkRuns(context);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "redis://localhost:6379, REDIS",
        "rediss://localhost:6379, REDIS",
        "redis-sentinel://localhost:26379/0#locks, REDIS",
        "r2dbc:h2:mem:///locks, R2DBC",
        "redis-cluster://user:p%40ss@localhost:7000;localhost:7001, REDIS",
        "rediss-cluster://localhost:7000, REDIS",
        "redis-primary://localhost:6379;localhost:6380/0, REDIS",
        "redis://localhost:1;redis://localhost:2;redis://localhost:3, REDIS",
        "redis-cluster://:p@ss@localhost:7000;localhost:7001, REDIS",
        "redis://:p@ss@localhost, REDIS",
        "redis://localhost:1 redis://localhost:2 redis://localhost:3, REDIS",
        "postgresql://user:p@ss@localhost:5432/locks, R2DBC",
        "postgres://user@localhost/locks, R2DBC",
        "r2dbc:postgresql://user:p@ss@localhost/locks, R2DBC",
        "http://localhost:2379, ETCD",
        "http://locks:p@ss@localhost:2379;localhost:2380, ETCD",
        "etcd://localhost, ETCD",
        "zookeeper://locks:p@ss@localhost:2181/, ZOOKEEPER",
        "etcd://localhost:2379;localhost:2380, ETCD",
        "zookeeper://localhost:2181;localhost:2182/locks, ZOOKEEPER",
        "consul://localhost:8500;localhost:8501, CONSUL",
        "consuls://:t@ken@localhost, CONSUL"
    })
    void aUrlShowsWhichStoreItBelongsTo(String url, Store store) {
        Contexts.plain()
                .withPropertyValues("reactive-lock.url=" + url.replace(';', ','))
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(LockClient.class);
                    assertThat(context.getBean(StoreChoice.class).store()).isEqualTo(store);
                });
    }

    @Test
    void aUrlComesBeforeWhatTheApplicationHas() {
        Contexts.redis()
                .withPropertyValues("reactive-lock.url=http://localhost:2379,http://localhost:2381")
                .run(context -> assertThat(context).hasSingleBean(EtcdLockBackend.class));
        Contexts.plain()
                .withPropertyValues("reactive-lock.url=localhost:2181", "reactive-lock.store=zookeeper")
                .run(context -> assertThat(context).hasSingleBean(ZooKeeperLockBackend.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "localhost:2181 | '' | does not show which store it belongs to",
                "redis://localhost | reactive-lock.client=shared | reactive-lock.client=shared for those of the application",
                "redis://localhost | reactive-lock.store=memory | keeps locks in this process",
                "redis://:secret@ | '' | reactive-lock.url: not a Redis URI",
                "redis://user:/secret@localhost | '' | reactive-lock.url: this store's URL cannot be read",
                "r2dbc:h2://user:#secret@localhost | '' | reactive-lock.url: this store's URL cannot be read",
                "http://user:secret%zz@localhost | '' | reactive-lock.url: this store's URL cannot be read",
                "consul://user:secret@localhost | '' | reactive-lock.url: Consul knows no users",
                "consul://localhost/path | '' | reactive-lock.url: an agent's address must be",
                "redis://localhost | reactive-lock.key-prefix=a!b | reactive-lock.key-prefix: prefix must be"
            })
    void aUrlThatCannotBeMeantIsRefusedAndNotRepeated(String url, String other, String says) {
        FailureAnalysis told = refused(Contexts.plain().withPropertyValues("reactive-lock.url=" + url, other));

        assertThat(told.getDescription()).contains(says).doesNotContain("secret");
        assertThat(told.getAction()).isNotBlank();
    }

    @Test
    void aStoreThatIsNamedWithoutItsDriverIsToldWhichToAdd() {
        ApplicationContextRunner named = Contexts.redis().withPropertyValues("reactive-lock.store=redis");

        assertThat(refused(Contexts.plain().withPropertyValues("reactive-lock.store=redis"))
                        .getDescription())
                .isEqualTo("reactive-lock.store=redis but the application has no connection to it");
        assertThat(refused(named.withClassLoader(new FilteredClassLoader(RedisClient.class)))
                        .getAction())
                .contains("Add io.lettuce:lettuce-core");
        assertThat(refused(Contexts.plain().withPropertyValues("reactive-lock.store=consul"))
                        .getAction())
                .contains("set reactive-lock.url");
        assertThat(refused(Contexts.plain()
                                .withPropertyValues("reactive-lock.url=consul://localhost")
                                .withClassLoader(new FilteredClassLoader("reactor.netty.http.client")))
                        .getAction())
                .contains("Add io.github.reactivelock:reactive-lock-consul");
    }

    @Test
    void nothingOfADriverThatIsNotThereIsTouched() {
        Contexts.plain()
                .withPropertyValues("reactive-lock.store=memory")
                .withClassLoader(new FilteredClassLoader(
                        RedisClient.class.getPackageName(),
                        "org.springframework.data",
                        ConnectionPool.class.getPackageName(),
                        Client.class.getPackageName(),
                        AsyncCuratorFramework.class.getPackageName(),
                        "reactor.netty",
                        "io.micrometer",
                        "org.springframework.boot.actuate",
                        "org.springframework.boot.health",
                        DataRedisConnectionDetails.class.getPackageName()))
                .run(context -> {
                    assertThat(context).hasNotFailed().doesNotHaveBean(StoreSource.class);
                    Contexts.aLockIsHeldWhileItsWorkRuns(context);
                });
    }

    @Test
    void whatTheClientsOfEtcdAndZooKeeperAreMadeOfCannotBeCopied() {
        ApplicationContextRunner etcd = Contexts.plain()
                .withBean(
                        Client.class,
                        () -> Client.builder()
                                .endpoints("http://localhost:2379")
                                .build());

        etcd.run(context -> assertThat(context).hasSingleBean(EtcdLockBackend.class));
        assertThat(refused(etcd.withPropertyValues("reactive-lock.client=own")).getAction())
                .startsWith("Set reactive-lock.url");
    }

    @Test
    void aBackendOfTheApplicationComesBeforeAllOfIt() {
        Contexts.redis()
                .withPropertyValues("reactive-lock.store=etcd")
                .withBean(LockBackend.class, InMemoryLockBackend::create)
                .run(context -> {
                    assertThat(context).hasSingleBean(LockBackend.class).hasSingleBean(InMemoryLockBackend.class);
                    Contexts.aLockIsHeldWhileItsWorkRuns(context);
                });
    }

    @Test
    void theStarterComesAfterWhatSpringBootConfigures() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ReactiveLockAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        R2dbcAutoConfiguration.class))
                .withPropertyValues("reactive-lock.store=redis", H2)
                .run(context -> assertThat(context).hasSingleBean(LettuceLockBackend.class));
    }
}
