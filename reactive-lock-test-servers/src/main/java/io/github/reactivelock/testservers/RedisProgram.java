package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import redis.embedded.core.ExecutableProvider;

/**
 * The Redis that tests run against: Docker if an engine answers, else {@code redis-server} on the PATH, else the one
 * that comes with the embedded-redis library. Found once; the system property {@code reactivelock.redis} ({@code
 * docker}, {@code path}, {@code embedded}) insists on one.
 */
abstract sealed class RedisProgram {

    private static final Logger log = LoggerFactory.getLogger(RedisProgram.class);
    private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.\\S+");
    private static final String IMAGE = System.getProperty("reactivelock.redis.image", "redis:7.4-alpine");

    /** Found at the first use; the test output says once which it is. */
    private static final class Found {
        static final RedisProgram PROGRAM = find(System.getProperty("reactivelock.redis", "any"));
    }

    /** Unpacked at the first use. */
    private static final class Oldest {
        static final RedisProgram PROGRAM = find("embedded");
    }

    static RedisProgram found() {
        return Found.PROGRAM;
    }

    static RedisProgram oldest() {
        return Oldest.PROGRAM;
    }

    static RedisProgram find(String wanted) {
        RedisProgram found = switch (wanted) {
            case "docker" -> new InDocker();
            case "path" ->
                onPath().orElseThrow(() -> new IllegalStateException(
                        "there is no redis-server on the PATH; install it (Debian: redis-server)"));
            case "embedded" -> embedded();
            case "any" ->
                DockerClientFactory.instance().isDockerAvailable()
                        ? new InDocker()
                        : onPath().orElseGet(RedisProgram::embedded);
            default ->
                throw new IllegalArgumentException(
                        "reactivelock.redis must be docker, path or embedded but is '" + wanted + "'");
        };
        log.info("Redis for tests: {}", found);
        return found;
    }

    /** Its name and version. */
    abstract String version();

    abstract Running start(Path directory, int port, List<String> config);

    /** A server that others on this machine can reach under its own port; the configuration may begin with a file. */
    abstract Running startMember(Path directory, int port, List<String> config);

    /** A file must come first, and a sentinel knows nothing of persistence. */
    private static List<String> member(String program, Path directory, int port, List<String> config) {
        List<String> command = new ArrayList<>(List.of(program));
        boolean isSentinel = !config.get(0).startsWith("--");
        if (isSentinel) {
            command.add(config.get(0));
        }
        command.addAll(List.of("--port", Integer.toString(port)));
        command.addAll(List.of("--bind", "127.0.0.1", "--dir", directory.toString()));
        if (!isSentinel) {
            command.addAll(List.of("--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"));
        }
        command.addAll(config.subList(isSentinel ? 1 : 0, config.size()));
        return command;
    }

    private static Optional<RedisProgram> onPath() {
        return ServerProcess.onPath("redis-server").map(Executable::new);
    }

    private static RedisProgram embedded() {
        try {
            Path directory = Scratch.directory("embedded-redis");
            return new Executable(ExecutableProvider.newJarResourceProvider(directory.toFile())
                    .get()
                    .toPath());
        } catch (IOException e) {
            throw new UncheckedIOException("the bundled Redis could not be unpacked; install redis-server", e);
        }
    }

    /** A program file, run as a child process. */
    private static final class Executable extends RedisProgram {

        private final Path file;
        private final String version;
        private final boolean debugMustBeEnabled;

        Executable(Path file) {
            this.file = file;
            this.version = askVersion(file);
            Matcher matcher = VERSION.matcher(version);
            this.debugMustBeEnabled = matcher.find() && Integer.parseInt(matcher.group(1)) >= 7;
        }

        private static String askVersion(Path file) {
            try {
                return ServerVersions.ask(file);
            } catch (IllegalStateException | UncheckedIOException e) {
                throw new IllegalStateException(
                        "the bundled Redis needs OpenSSL 3 (Debian: libssl3); or install redis-server", e);
            }
        }

        @Override
        String version() {
            return ServerVersions.named(version.startsWith("Valkey") ? "valkey" : "redis", version);
        }

        @Override
        Running start(Path directory, int port, List<String> config) {
            List<String> command = new ArrayList<>(List.of(file.toString(), "--port", Integer.toString(port)));
            command.addAll(List.of("--bind", "127.0.0.1", "--dir", directory.toString()));
            command.addAll(List.of("--save", "", "--appendonly", "no"));
            if (debugMustBeEnabled) {
                command.addAll(List.of("--enable-debug-command", "local"));
            }
            command.addAll(config);
            return ServerProcess.start("redis", directory, port, command);
        }

        @Override
        Running startMember(Path directory, int port, List<String> config) {
            return ServerProcess.start("redis", directory, port, member(file.toString(), directory, port, config));
        }

        @Override
        public String toString() {
            return file + ", " + version;
        }
    }

    /** A container, with the server's directory at the same path inside. */
    private static final class InDocker extends RedisProgram {

        @Override
        String version() {
            return ServerVersions.named("redis", IMAGE);
        }

        @Override
        Running start(Path directory, int port, List<String> config) {
            List<String> command = new ArrayList<>(List.of("redis-server", "--port", Integer.toString(port)));
            command.addAll(List.of("--bind", "0.0.0.0", "--protected-mode", "no", "--dir", directory.toString()));
            command.addAll(List.of("--save", "", "--appendonly", "no", "--enable-debug-command", "yes"));
            command.addAll(config);
            return ServerContainer.start(IMAGE, directory, port, command);
        }

        @Override
        Running startMember(Path directory, int port, List<String> config) {
            return ServerContainer.startOnHost(IMAGE, directory, member("redis-server", directory, port, config));
        }

        @Override
        public String toString() {
            return "Docker image " + IMAGE;
        }
    }
}
