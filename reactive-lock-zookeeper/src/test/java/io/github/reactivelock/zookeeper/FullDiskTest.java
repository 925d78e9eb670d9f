package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.Loopback;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.SyncRequestProcessor;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ZooKeeper that finds no room for its next log: what would be its file is a device that is always full. */
class FullDiskTest {

    private static final Path FULL = Path.of("/dev/full");
    private static final int CHANGES_IN_A_LOG = 10;
    private static final int CHANGES_OF_A_TEST = 5_000;

    /** As its program runs it; it ends where that would exit. */
    private static final class Server implements AutoCloseable {

        private final ZooKeeperServerMain main = new ZooKeeperServerMain();
        private final FutureTask<Boolean> run;

        Server(int port, Path directory) {
            ServerConfig config = new ServerConfig();
            config.parse(new String[] {Integer.toString(port), directory.toString(), "500"});
            run = new FutureTask<>(() -> {
                main.runFromConfig(config);
                return true;
            });
            new Thread(run, "zookeeper").start();
        }

        boolean hasEnded() {
            return run.isDone();
        }

        @Override
        public void close() {
            main.close();
            ZooKeepers.until("the server has ended", this::hasEnded);
        }
    }

    @BeforeEach
    void beginLogsSoon() {
        SyncRequestProcessor.setSnapCount(CHANGES_IN_A_LOG);
    }

    @AfterEach
    void asBefore() {
        SyncRequestProcessor.setSnapCount(ZooKeeperServer.getSnapCount());
    }

    /** A log has its name from the first change in it. */
    private static void fill(Path logs) throws IOException {
        for (int change = 1; change <= CHANGES_OF_A_TEST; change++) {
            Path log = logs.resolve("log." + Integer.toHexString(change));
            if (!Files.exists(log)) {
                Files.createSymbolicLink(log, FULL);
            }
        }
    }

    private static void makeRoom(Path logs) throws IOException {
        try (Stream<Path> all = Files.list(logs)) {
            for (Path log : all.filter(Files::isSymbolicLink).toList()) {
                Files.delete(log);
            }
        }
    }

    @Test
    void aServerWithoutRoomEndsItselfAndServesAgainWhenThereIsSome(@TempDir Path directory) throws Exception {
        int port = Loopback.freePort();
        Path logs = directory.resolve("version-2");
        LockClient client = LockClient.create(ZooKeeperLockBackend.connect(
                "127.0.0.1:" + port, ZooKeeperBackendOptions.defaults().withSessionTimeout(Duration.ofSeconds(6))));
        LockHandle held;
        try (Server server = new Server(port, directory)) {
            held = ZooKeepers.get(ZooKeepers.patiently(client.acquire("held")));
            fill(logs);

            ZooKeepers.until("it has ended itself", () -> {
                ZooKeepers.get(
                        client.acquire("more").flatMap(LockHandle::release).onErrorComplete());
                return server.hasEnded();
            });

            assertThat(ZooKeepers.error(client.acquire("more"))).isInstanceOf(LockUnavailableException.class);
            assertThat(ZooKeepers.get(held.lost()).reason()).isEqualTo(LossReason.UNREACHABLE);
        }
        makeRoom(logs);
        try (Server server = new Server(port, directory)) {
            LockHandle next = ZooKeepers.get(ZooKeepers.patiently(client.acquire("held")));
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            ZooKeepers.get(next.release());
            ZooKeepers.get(client.close());
            assertThat(server.hasEnded()).isFalse();
        }
    }
}
