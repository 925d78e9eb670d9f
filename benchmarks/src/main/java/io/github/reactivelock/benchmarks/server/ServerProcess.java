package io.github.reactivelock.benchmarks.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server in its own process and directory, on a port that was free. Closing it ends the process and deletes the
 * directory.
 */
final class ServerProcess implements AutoCloseable {

    private static final Duration START_LIMIT = Duration.ofSeconds(20);

    final Path directory;
    private final String name;
    private final Process process;

    /**
     * Starts it.
     *
     * @param name for messages
     * @param command from the directory, which exists and is empty
     */
    ServerProcess(String name, Function<Path, List<String>> command) {
        this.name = name;
        try {
            this.directory = Files.createTempDirectory("reactive-lock-benchmarks");
            this.process = new ProcessBuilder(command.apply(directory))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " could not be started; is it installed? " + e.getMessage(), e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("no free port", e);
        }
    }

    /** A process that the test kit started by that program, maybe through a loader; -1 if there is none. */
    static long child(String program) {
        return ProcessHandle.current()
                .children()
                .filter(child -> words(child.info()).anyMatch(word -> word.endsWith("/" + program)))
                .mapToLong(ProcessHandle::pid)
                .findFirst()
                .orElse(-1);
    }

    private static Stream<String> words(ProcessHandle.Info info) {
        return Stream.concat(info.command().stream(), info.arguments().stream().flatMap(Stream::of));
    }

    long pid() {
        return process.pid();
    }

    void awaitPort(int port) {
        long until = System.nanoTime() + START_LIMIT.toNanos();
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
                return;
            } catch (IOException notYet) {
                if (!process.isAlive() || System.nanoTime() - until > 0) {
                    throw new UncheckedIOException(name + " does not listen", notYet);
                }
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            process.waitFor();
            Files.walkFileTree(directory, new Deletion());
        } catch (IOException e) {
            throw new UncheckedIOException("not deleted: " + directory, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Deletion extends SimpleFileVisitor<Path> {

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
        }
    }
}
