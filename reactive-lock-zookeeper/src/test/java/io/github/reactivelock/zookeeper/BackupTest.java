package io.github.reactivelock.zookeeper;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.testservers.LocksMeanwhile;
import io.github.reactivelock.testservers.Loopback;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ZooKeeper that writes a snapshot of its data, as its admin server's {@code snapshot} asks it to. */
class BackupTest {

    private static final int TICK = 3_000;
    private static final int CONNECTIONS = 20;

    private static LockClient client(int port) {
        return LockClient.builder(ZooKeeperLockBackend.connect("127.0.0.1:" + port, Fixture.patient()))
                .commandTimeout(Duration.ofSeconds(15))
                .build();
    }

    @Test
    void snapshotsOfZooKeeperCostTheLocksNothing(@TempDir Path directory) throws Exception {
        ZooKeeperServer server = new ZooKeeperServer(directory.toFile(), directory.toFile(), TICK);
        int port = Loopback.freePort();
        ServerCnxnFactory connections = ServerCnxnFactory.createFactory(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECTIONS);
        connections.startup(server);
        try {
            LockClient one = client(port);
            LockClient other = client(port);
            LocksMeanwhile.areServed(one, other, () -> {
                server.takeSnapshot(false);
                return server;
            });
            ZooKeepers.get(one.close().then(other.close()));
        } finally {
            connections.shutdown();
        }
    }
}
