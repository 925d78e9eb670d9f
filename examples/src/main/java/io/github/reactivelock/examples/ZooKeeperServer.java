package io.github.reactivelock.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

/** A ZooKeeper inside this process, for other processes; it lives as long as the example. */
final class ZooKeeperServer implements AutoCloseable {

    private static final int ANY = -1;

    private final Path directory;
    private final TestingServer server;
    private final Thread atExit = new Thread(this::end);

    private ZooKeeperServer(Path directory, TestingServer server) {
        this.directory = directory;
        this.server = server;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Starts one that listens on a free port of 127.0.0.1 only. */
    static ZooKeeperServer start() throws Exception {
        // Its files are deleted at the end, and a busy disk would delay all clients.
        System.setProperty("zookeeper.forceSync", "no");
        Map<String, Object> local = Map.of("clientPortAddress", "127.0.0.1");
        Path directory = Files.createTempDirectory("examples-server");
        try {
            // It also leaves a file beside its data.
            Path data = Files.createDirectory(directory.resolve("data"));
            InstanceSpec spec = new InstanceSpec(data.toFile(), 0, ANY, ANY, true, ANY, ANY, ANY, local);
            return new ZooKeeperServer(directory, new TestingServer(spec, true));
        } catch (Exception e) {
            LocalServer.delete(directory);
            throw e;
        }
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(atExit);
        end();
    }

    private void end() {
        try {
            server.close();
        } catch (IOException e) {
            System.err.println("could not end ZooKeeper: " + e);
        }
        LocalServer.delete(directory);
    }
}
