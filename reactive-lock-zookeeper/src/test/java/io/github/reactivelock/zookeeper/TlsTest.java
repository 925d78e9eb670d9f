package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.Tls;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ZooKeeper that speaks TLS only, reached by clients of the application with a user and a password. */
class TlsTest {

    @TempDir
    private static Path directory;

    private static Tls tls;
    private static Map<String, String> settings;
    private static ServerCnxnFactory secure;
    private static String address;

    @BeforeAll
    static void start() throws Exception {
        tls = Tls.in(directory);
        Path both = directory.resolve("server.pem");
        Files.writeString(both, Files.readString(tls.key()) + Files.readString(tls.certificate()));
        settings = Map.of(
                "zookeeper.serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory",
                "zookeeper.ssl.keyStore.location", both.toString(),
                "zookeeper.ssl.keyStore.type", "PEM",
                "zookeeper.ssl.clientAuth", "none");
        settings.forEach(System::setProperty);
        Path data = Files.createDirectory(directory.resolve("data"));
        ZooKeeperServer server = new ZooKeeperServer(data.toFile(), data.toFile(), 3_000);
        secure = ServerCnxnFactory.createFactory();
        secure.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100, -1, true);
        secure.startup(server);
        address = "127.0.0.1:" + secure.getLocalPort();
    }

    @AfterAll
    static void stop() {
        secure.shutdown();
        settings.keySet().forEach(System::clearProperty);
    }

    @Test
    void thoseWhoTrustItAndKnowThePasswordAreServed() {
        try (CuratorFramework one = client(true, "s3cret");
                CuratorFramework other = client(true, "s3cret");
                CuratorFramework stranger = client(true, "wr0ng")) {
            LockClient holder = lock(one);
            LockClient waiter = lock(other);
            LockHandle held = ZooKeepers.get(holder.acquire("a"));
            CompletableFuture<LockHandle> next = waiter.acquire("a").toFuture();

            assertThat(ZooKeepers.error(lock(stranger).acquire("a")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("denies this client the nodes")
                    .hasMessageNotContaining("wr0ng");
            ZooKeepers.get(held.release());
            ZooKeepers.get(ZooKeepers.get(next).release());
            ZooKeepers.get(holder.close());
            ZooKeepers.get(waiter.close());
        }
    }

    @Test
    void whoeverDoesNotTrustItIsRefused() {
        try (CuratorFramework untrusting = client(false, "s3cret")) {
            assertThat(ZooKeepers.error(LockClient.create(ZooKeeperLockBackend.using(untrusting))
                            .acquire("a")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(address);
        }
    }

    private static LockClient lock(CuratorFramework client) {
        return LockClient.builder(ZooKeeperLockBackend.using(client, Fixture.patient()))
                .commandTimeout(Duration.ofSeconds(15))
                .build();
    }

    private static CuratorFramework client(boolean trusting, String password) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty("zookeeper.client.secure", "true");
        config.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        if (trusting) {
            config.setProperty(
                    "zookeeper.ssl.trustStore.location", tls.certificate().toString());
            config.setProperty("zookeeper.ssl.trustStore.type", "PEM");
        }
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(address)
                .sessionTimeoutMs(20_000)
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .zkClientConfig(config)
                .authorization("digest", KeyLayout.bytes("locks:" + password))
                .aclProvider(new ClientSource.Creator())
                .build();
        client.start();
        return client;
    }
}
