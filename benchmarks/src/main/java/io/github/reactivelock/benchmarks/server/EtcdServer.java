package io.github.reactivelock.benchmarks.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A single etcd from the PATH that does not wait for its disk. */
final class EtcdServer implements Server {

    private final int port = ServerProcess.freePort();
    private final String peers = "http://127.0.0.1:" + ServerProcess.freePort();
    private final ServerProcess process = new ServerProcess("etcd (Debian: etcd-server)", this::command);

    EtcdServer() {
        process.awaitPort(port);
    }

    private List<String> command(Path directory) {
        return List.of(
                "etcd",
                "--name",
                "one",
                "--data-dir",
                directory.toString(),
                "--unsafe-no-fsync",
                "--listen-client-urls",
                uri(),
                "--advertise-client-urls",
                uri(),
                "--listen-peer-urls",
                peers,
                "--initial-advertise-peer-urls",
                peers,
                "--initial-cluster",
                "one=" + peers,
                "--log-level",
                "error");
    }

    @Override
    public String uri() {
        return "http://127.0.0.1:" + port;
    }

    @Override
    public String version() {
        try {
            Process asked = new ProcessBuilder("etcd", "--version").start();
            return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .findFirst()
                    .orElse("etcd")
                    .replace(" Version:", "");
        } catch (IOException e) {
            return "etcd";
        }
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
