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
import redis.embedded.core.ExecutableProvider;

/**
 * A real Redis for as long as an example runs: the one that comes along with the embedded-redis library, or else
 * {@code redis-server} from the PATH. It keeps nothing on disk and listens on 127.0.0.1 only.
 */
final class BundledRedis {

    private static final Duration START_LIMIT = Duration.ofSeconds(10);

    private final Path directory;
    private final Path log;
    private final int port;
    private final Process process;
    private final Thread atExit = new Thread(this::kill);

    private BundledRedis(Path directory, String program) throws IOException {
        this.directory = directory;
        this.log = directory.resolve("redis.log");
        this.port = freePort();
        this.process = new ProcessBuilder(List.of(
                        program, "--port", "" + port, "--bind", "127.0.0.1", "--save", "", "--dir", "" + directory))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    String uri() {
        return "redis://127.0.0.1:" + port;
    }

    /** Fails with {@link IllegalStateException}, which names a remedy, if there is none to start. */
    static Mono<BundledRedis> start() {
        return start(directory -> ExecutableProvider.newJarResourceProvider(directory.toFile())
                        .get()
                        .getPath())
                .onErrorResume(bundled -> start(directory -> "redis-server")
                        .onErrorMap(own -> new IllegalStateException(
                                "no Redis could be started.\n  The bundled one says: " + bundled.getMessage()
                                        + "\n  redis-server on the PATH says: " + own.getMessage()
                                        + "\n  Install OpenSSL 3 for the bundled one (Debian: apt-get install libssl3),"
                                        + " or redis-server, or name a Redis of yours with --redis redis://host:port",
                                own)));
    }

    private static Mono<BundledRedis> start(Program program) {
        return Mono.fromCallable(() -> {
                    Path directory = Files.createTempDirectory("examples-redis");
                    try {
                        return new BundledRedis(directory, program.in(directory));
                    } catch (IOException | RuntimeException e) {
                        delete(directory);
                        throw e;
                    }
                })
                .flatMap(redis -> redis.ready().onErrorResume(e -> redis.stop().then(Mono.error(e))))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private Mono<BundledRedis> ready() {
        return Mono.fromCallable(() -> {
                    // In this order: a server that is ready and then dies still counts as one that said why.
                    boolean alive = process.isAlive();
                    String said = Files.readString(log);
                    if (!alive) {
                        throw new IllegalStateException(said.isBlank() ? "exit " + process.exitValue() : said.strip());
                    }
                    return said.contains("Ready to accept connections") ? this : null;
                })
                .repeatWhenEmpty(again -> again.delayElements(Duration.ofMillis(20), Schedulers.boundedElastic()))
                .timeout(START_LIMIT);
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

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            System.err.println("could not delete " + directory + ": " + e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Finds the program file; it may unpack it into the given directory. */
    private interface Program {
        String in(Path directory) throws IOException;
    }
}
