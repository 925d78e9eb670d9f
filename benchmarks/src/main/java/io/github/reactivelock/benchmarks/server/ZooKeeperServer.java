package io.github.reactivelock.benchmarks.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.zookeeper.ZooKeeper;

/** A single ZooKeeper that does not wait for its disk, in a JVM of its own. */
final class ZooKeeperServer implements Server {

    private final int port = ServerProcess.freePort();
    private final ServerProcess process = new ServerProcess("ZooKeeper", this::command);

    ZooKeeperServer() {
        process.awaitPort(port);
    }

    private List<String> command(Path directory) {
        Path settings = directory.resolve("zoo.cfg");
        try {
            Files.write(
                    settings,
                    List.of(
                            "dataDir=" + directory,
                            "clientPort=" + port,
                            "clientPortAddress=127.0.0.1",
                            "maxClientCnxns=0",
                            "admin.enableServer=false"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-Dzookeeper.forceSync=no",
                "-cp",
                System.getProperty("java.class.path"),
                "org.apache.zookeeper.server.ZooKeeperServerMain",
                settings.toString());
    }

    @Override
    public String uri() {
        return "127.0.0.1:" + port;
    }

    @Override
    public String version() {
        return "ZooKeeper " + ZooKeeper.class.getPackage().getImplementationVersion();
    }

    @Override
    public List<Long> pids() {
        return List.of(process.pid());
    }

    @Override
    public void close() {
        process.close();
    }
}
