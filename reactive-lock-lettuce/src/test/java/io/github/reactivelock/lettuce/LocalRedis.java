package io.github.reactivelock.lettuce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A Redis of our own on a free port. */
final class LocalRedis implements AutoCloseable {

    private final Process process;
    private final int port;

    LocalRedis(String... options) {
        try {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            Path dir = Files.createTempDirectory("redis");
            List<String> command = new ArrayList<>(List.of(
                    "redis-server",
                    "--port",
                    "" + port,
                    "--bind",
                    "127.0.0.1",
                    "--dir",
                    dir.toString(),
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--enable-debug-command",
                    "local"));
            command.addAll(List.of(options));
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(dir.resolve("log").toFile())
                    .start();
            for (int i = 0; i < 200; i++) {
                try {
                    new Socket(InetAddress.getLoopbackAddress(), port).close();
                    return;
                } catch (IOException e) {
                    Thread.sleep(20);
                }
            }
            throw new IllegalStateException("redis did not start");
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    int port() {
        return port;
    }

    String uri() {
        return "redis://127.0.0.1:" + port;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
