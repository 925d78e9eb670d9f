package io.github.reactivelock.spring.boot;

import static io.github.reactivelock.spring.boot.Contexts.aLockIsHeldWhileItsWorkRuns;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.ConsulServer;
import io.github.reactivelock.testservers.EtcdServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.ConnectionFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.r2dbc.connection.TransactionAwareConnectionFactoryProxy;

/** Locks in the database, the etcd and the ZooKeeper of the application, and in a Consul; on real servers. */
class OtherStoresTest {

    private static PostgresServer database;

    @BeforeAll
    static void start() {
        database = PostgresServer.start();
    }

    @AfterAll
    static void stop() {
        database.close();
    }

    private static String url() {
        return "spring.r2dbc.url=" + database.url();
    }

    @ParameterizedTest
    @ValueSource(strings = {"own", "shared"})
    void theDatabaseOfTheApplicationWithTablesThatAreCreatedAtStartUp(String client) {
        Contexts.r2dbc(
                        url(),
                        "reactive-lock.client=" + client,
                        "reactive-lock.initialize-schema=always",
                        "reactive-lock.key-prefix=locks_" + client)
                .run(Contexts::aLockIsHeldWhileItsWorkRuns);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "r2dbc:"})
    void aDatabaseByItsUrlWithAndWithoutItsFirstWord(String left) {
        Contexts.plain()
                .withPropertyValues(
                        "reactive-lock.url=" + database.url().substring(left.length()),
                        "reactive-lock.initialize-schema=always")
                .run(Contexts::aLockIsHeldWhileItsWorkRuns);
    }

    @Test
    void aServersTablesAreLeftToAMigrationUnlessAskedFor() {
        Contexts.r2dbc(url(), "reactive-lock.key-prefix=nobody_made")
                .run(context -> assertThatThrownBy(
                                () -> Contexts.get(Contexts.locks(context).inspect("order:42")))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("nobody_made")
                        .hasMessageContaining("in Spring Boot with reactive-lock.initialize-schema=always"));
    }

    @Test
    void tablesOfAnEmbeddedDatabaseAreCreatedUnlessTurnedOff() {
        Contexts.r2dbc("spring.r2dbc.url=r2dbc:h2:mem:///made").run(Contexts::aLockIsHeldWhileItsWorkRuns);
        Contexts.r2dbc("spring.r2dbc.url=r2dbc:h2:mem:///unmade", "reactive-lock.initialize-schema=never")
                .run(context -> assertThatThrownBy(
                                () -> Contexts.get(Contexts.locks(context).inspect("order:42")))
                        .isInstanceOf(LockUnavailableException.class));
    }

    @Test
    void tablesThatCannotBeCreatedEndTheStartWithTheReason() {
        Contexts.r2dbc(
                        "spring.r2dbc.url=r2dbc:postgresql://postgres@127.0.0.1:1/postgres",
                        "reactive-lock.initialize-schema=always")
                .run(context -> {
                    var told = Contexts.analysis(context.getStartupFailure());

                    assertThat(told.getDescription()).startsWith("the tables of the locks could not be created: ");
                    assertThat(told.getAction()).contains("reactive-lock.initialize-schema=never");
                });
    }

    @Test
    void ownConnectionsAreMadeAsThoseOfThePoolWhateverIsAroundIt() {
        Contexts.r2dbc(url(), "reactive-lock.initialize-schema=always").run(context -> {
            ConnectionPool pool = context.getBean(ConnectionPool.class);
            ConnectionFactory unpooled = pool.unwrap();

            assertThat(R2dbcStore.unpooled(pool)).isSameAs(unpooled);
            assertThat(R2dbcStore.unpooled(new TransactionAwareConnectionFactoryProxy(pool)))
                    .isSameAs(unpooled);
            assertThat(R2dbcStore.unpooled(unpooled)).isSameAs(unpooled);
            aLockIsHeldWhileItsWorkRuns(context);
            assertThat(pool.getMetrics().orElseThrow().acquiredSize()).isZero();
        });
    }

    @Test
    void etcdByItsClientAndByItsUrl() {
        try (EtcdServer server = EtcdServer.start();
                Client client = Client.builder().endpoints(server.uri()).build()) {
            Contexts.plain()
                    .withBean(Client.class, () -> client, definition -> definition.setDestroyMethodName(""))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
            Contexts.plain()
                    .withPropertyValues("reactive-lock.url=" + server.uri())
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);

            assertThat(client.getKVClient()).isNotNull();
        }
    }

    @Test
    void zooKeeperByItsClientAndByItsUrl() throws Exception {
        try (TestingServer server = new TestingServer();
                CuratorFramework client = CuratorFrameworkFactory.newClient(
                        server.getConnectString(), new ExponentialBackoffRetry(100, 3))) {
            client.start();
            Contexts.plain()
                    .withBean(CuratorFramework.class, () -> client, definition -> definition.setDestroyMethodName(""))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
            Contexts.plain()
                    .withPropertyValues(
                            "reactive-lock.url=" + server.getConnectString(), "reactive-lock.store=zookeeper")
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);

            assertThat(client.getZookeeperClient().isConnected()).isTrue();
        }
    }

    @Test
    void consulByItsUrl() {
        try (ConsulServer server = ConsulServer.start()) {
            Contexts.plain()
                    .withPropertyValues("reactive-lock.url=" + server.uri().replace("http:", "consul:"))
                    .run(Contexts::aLockIsHeldWhileItsWorkRuns);
        }
    }
}
