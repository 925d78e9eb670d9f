package io.github.reactivelock.faults;

import io.github.reactivelock.testservers.Loopback;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** A Redis from the PATH whose wall clock can be set, by a small library that is compiled and put in front of libc. */
final class ShiftedRedis implements AutoCloseable {

    private final Path directory = Files.createTempDirectory("reactive-lock-clock-");
    private final Path shift = directory.resolve("shift");
    private final int port;
    private final Process process;
    private final Thread onExit;

    /**
     * Starts it with the right time.
     *
     * @throws IllegalStateException without a C compiler
     */
    ShiftedRedis() throws IOException, InterruptedException {
        shift(Duration.ZERO);
        Path library = compile();
        port = Loopback.freePort();
        ProcessBuilder server = new ProcessBuilder(
                        "redis-server", "--port", "" + port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
                .directory(directory.toFile())
                .redirectOutput(Redirect.DISCARD)
                .redirectErrorStream(true);
        server.environment().put("LD_PRELOAD", library.toString());
        server.environment().put("CLOCK_SHIFT", shift.toString());
        process = server.start();
        onExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(onExit);
        awaitPort();
    }

    String uri() {
        return "redis://127.0.0.1:" + port;
    }

    /** Sets its clock this much ahead of the right time. */
    void shift(Duration ahead) throws IOException {
        ByteBuffer seconds =
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(0, ahead.toSeconds());
        // Written in place: the server has it in its memory.
        try (FileChannel file = FileChannel.open(shift, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(seconds, 0);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
        Runtime.getRuntime().removeShutdownHook(onExit);
        Leftovers.delete(directory);
    }

    private Path compile() throws IOException, InterruptedException {
        Path source = directory.resolve("clock.c");
        try (InputStream text = ShiftedRedis.class.getResourceAsStream("clock.c")) {
            Files.copy(Objects.requireNonNull(text, "clock.c"), source);
        }
        Path library = directory.resolve("clock.so");
        try {
            Process compiler = new ProcessBuilder(
                            List.of("cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString()))
                    .inheritIO()
                    .start();
            if (compiler.waitFor() != 0) {
                throw new IllegalStateException("cc cannot compile clock.c; see above");
            }
        } catch (IOException e) {
            throw new IllegalStateException("a shifted clock needs a C compiler named cc (Debian: gcc libc6-dev)", e);
        }
        return library;
    }

    private void awaitPort() throws IOException, InterruptedException {
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
                return;
            } catch (IOException notYet) {
                if (System.nanoTime() - end > 0 || !process.isAlive()) {
                    throw notYet;
                }
                Thread.sleep(10);
            }
        }
    }
}
