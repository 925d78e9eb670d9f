package io.github.reactivelock.examples;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A real server that lives as long as the example. It listens on 127.0.0.1 only, and its directory is deleted at the
 * end.
 */
final class LocalServer {

    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final Path directory;
    private final Path log;
    private final int port;
    private final Process process;
    private final Thread atExit = new Thread(this::kill);

    private LocalServer(Path directory, int port, Command command) throws IOException {
        this.directory = directory;
        this.log = directory.resolve("server.log");
        this.port = port;
        this.process = new ProcessBuilder(command.in(directory, port))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** Emits the server when its log has the given words. If it ends before, the error's message has its output. */
    static Mono<LocalServer> start(Command command, String readyWords) {
        return Mono.fromCallable(LocalServer::freePort).flatMap(port -> startAt(port, command, readyWords));
    }

    /** As {@link #start}, on the port of an earlier server. */
    static Mono<LocalServer> startAt(int port, Command command, String readyWords) {
        return Mono.fromCallable(() -> {
                    Path directory = Files.createTempDirectory("examples-server");
                    try {
                        return new LocalServer(directory, port, command);
                    } catch (IOException | RuntimeException e) {
                        delete(directory);
                        throw e;
                    }
                })
                .flatMap(server -> server.ready(readyWords)
                        .onErrorResume(e -> server.stop().then(Mono.error(e))))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** Host and port. */
    String address() {
        return "127.0.0.1:" + port;
    }

    private Mono<LocalServer> ready(String words) {
        return Mono.fromCallable(() -> {
                    // In this order: a server that is ready and then dies still counts as one that said why.
                    boolean alive = process.isAlive();
                    String said = Files.readString(log);
                    if (!alive) {
                        throw new IllegalStateException(said.isBlank() ? "exit " + process.exitValue() : said.strip());
                    }
                    return said.contains(words) ? this : null;
                })
                .repeatWhenEmpty(again -> again.delayElements(Duration.ofMillis(20), Schedulers.boundedElastic()))
                .timeout(START_LIMIT);
    }

    int port() {
        return port;
    }

    /** Ends it as {@code kill -9} does; {@link #stop} is still to be called. */
    Mono<Void> crash() {
        return Mono.fromRunnable(process::destroyForcibly)
                .then(Mono.fromFuture(process::onExit))
                .then();
    }

    Mono<Void> stop() {
        return Mono.fromRunnable(process::destroy)
                .then(Mono.fromFuture(process::onExit))
                .timeout(Duration.ofSeconds(5))
                .onErrorComplete()
                .publishOn(Schedulers.boundedElastic())
                .then(Mono.fromRunnable(() -> {
                    Runtime.getRuntime().removeShutdownHook(atExit);
                    kill();
                }));
    }

    private void kill() {
        process.destroyForcibly();
        delete(directory);
    }

    static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            System.err.println("could not delete " + directory + ": " + e);
        }
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Makes the command line; it may unpack the program into the given directory. */
    interface Command {
        List<String> in(Path directory, int port) throws IOException;
    }
}
