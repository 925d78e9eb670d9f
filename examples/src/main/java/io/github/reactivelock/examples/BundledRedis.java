package io.github.reactivelock.examples;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import redis.embedded.core.ExecutableProvider;

/**
 * The Redis of the embedded-redis library, or else {@code redis-server} from the PATH. It keeps nothing on disk.
 */
final class BundledRedis {

    private BundledRedis() {}

    /** Fails with {@link IllegalStateException}, which names a remedy, if there is none to start. */
    static Mono<LocalServer> start() {
        return Mono.fromCallable(LocalServer::freePort).flatMap(port -> startAt(port));
    }

    /** As {@link #start()}, on a given port and with further settings. */
    static Mono<LocalServer> startAt(int port, String... settings) {
        return start(
                        port,
                        settings,
                        directory -> ExecutableProvider.newJarResourceProvider(directory.toFile())
                                .get()
                                .getPath())
                .onErrorResume(bundled -> start(port, settings, directory -> "redis-server")
                        .onErrorMap(own -> new IllegalStateException(
                                "no Redis could be started.\n  The bundled one says: " + bundled.getMessage()
                                        + "\n  redis-server on the PATH says: " + own.getMessage()
                                        + "\n  Install OpenSSL 3 for the bundled one (Debian: apt-get install libssl3),"
                                        + " or redis-server, or name your own Redis with --redis redis://host:port",
                                own)));
    }

    private static Mono<LocalServer> start(int port, String[] settings, Program program) {
        return LocalServer.startAt(
                port,
                (directory, at) -> {
                    List<String> command = new ArrayList<>(List.of(
                            program.in(directory),
                            "--port",
                            "" + at,
                            "--bind",
                            "127.0.0.1",
                            "--save",
                            "",
                            "--dir",
                            "" + directory));
                    command.addAll(List.of(settings));
                    return command;
                },
                "Ready to accept connections");
    }

    /** Finds the program file; it may unpack it into the given directory. */
    private interface Program {
        String in(Path directory) throws IOException;
    }
}
