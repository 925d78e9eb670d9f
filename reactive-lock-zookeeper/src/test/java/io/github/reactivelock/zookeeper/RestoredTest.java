package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.Loopback;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ZooKeeper that was put back to an older backup, which has the transaction ids that it had then. */
class RestoredTest {

    private static LockClient client(TestingServer server) {
        return LockClient.create(ZooKeeperLockBackend.connect(
                server.getConnectString(), ZooKeeperBackendOptions.defaults().withSessionTimeout(Fixture.SESSION)));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
        }
    }

    @Test
    void anOlderBackupLosesHoldsMadeSinceAndTokensMayFall(@TempDir Path elsewhere, @TempDir Path directory)
            throws Exception {
        Path data = directory.resolve("version-2");
        try (TestingServer server = new TestingServer(Loopback.freePort(), directory.toFile())) {
            LockClient late = client(server);
            ZooKeepers.get(
                    ZooKeepers.get(ZooKeepers.patiently(late.acquire("before"))).release());
            server.stop();
            copy(data, elsewhere.resolve("backup"));
            server.restart();
            for (int i = 0; i < 20; i++) {
                ZooKeepers.get(ZooKeepers.get(ZooKeepers.patiently(late.acquire("before")))
                        .release());
            }
            LockHandle taken = ZooKeepers.get(ZooKeepers.patiently(late.acquire("taken since")));

            server.stop();
            Files.move(data, elsewhere.resolve("newer"));
            copy(elsewhere.resolve("backup"), data);
            server.restart();

            assertThat(ZooKeepers.get(taken.lost()).reason()).isEqualTo(LossReason.UNREACHABLE);
            LockClient fresh = client(server);
            LockHandle next = ZooKeepers.get(ZooKeepers.patiently(fresh.acquire("taken since")));
            assertThat(next.fencingToken()).isLessThan(taken.fencingToken());
            ZooKeepers.get(next.release());
            ZooKeepers.get(ZooKeepers.get(ZooKeepers.patiently(late.acquire("taken since")))
                    .release());
            List.of(late, fresh).forEach(client -> ZooKeepers.get(client.close()));
        }
    }
}
