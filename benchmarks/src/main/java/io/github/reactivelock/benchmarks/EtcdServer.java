package io.github.reactivelock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A single etcd from the PATH that does not wait for its disk. */
final class EtcdServer implements Server {

    private static final Duration START_LIMIT = Duration.ofSeconds(10);

    private final int port = RedisServer.freePort();
    private final Process process;

    EtcdServer() {
        String peers = "http://127.0.0.1:" + RedisServer.freePort();
        try {
            Path directory = Files.createTempDirectory("reactive-lock-benchmarks");
            this.process = started(List.of(
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
                    "error"));
        } catch (IOException e) {
            throw new UncheckedIOException("etcd could not be started; install it (Debian: etcd-server)", e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        awaitPort();
    }

    private static Process started(List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private void awaitPort() {
        long until = System.nanoTime() + START_LIMIT.toNanos();
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
                return;
            } catch (IOException notYet) {
                if (!process.isAlive() || System.nanoTime() - until > 0) {
                    throw new UncheckedIOException("etcd does not listen", notYet);
                }
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        }
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
    public Usage usage(String side) {
        return Usage.NONE;
    }

    @Override
    public void close() {
        process.destroy();
    }
}
