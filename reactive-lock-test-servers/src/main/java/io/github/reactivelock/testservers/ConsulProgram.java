package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/**
 * The Consul that tests run against: Docker if an engine answers, else {@code consul} on the PATH, else the one of
 * Debian 11, which {@code config/newest-servers} unpacks beside the system; it is called if it was not yet. Found once;
 * the system property {@code reactivelock.consul} ({@code docker}, {@code path}, {@code unpacked}) insists on one.
 */
enum ConsulProgram {
    DOCKER {
        @Override
        String version() {
            return ServerVersions.named("consul", IMAGE);
        }

        @Override
        Running start(Path directory, int port, List<String> before, List<String> options) {
            if (!before.isEmpty()) {
                throw new IllegalStateException("a container is started by no other program");
            }
            // Later versions listen on one more port of their own accord.
            return ServerContainer.startOnHost(
                    IMAGE, directory, command(before, "consul", options, List.of("-grpc-tls-port=-1")));
        }
    },
    PATH {
        @Override
        String version() {
            return OnPath.VERSION;
        }

        @Override
        Running start(Path directory, int port, List<String> before, List<String> options) {
            return ServerProcess.start("consul", directory, port, command(before, "consul", options, List.of()));
        }
    },
    UNPACKED {
        @Override
        String version() {
            return Unpacked.VERSION;
        }

        @Override
        Running start(Path directory, int port, List<String> before, List<String> options) {
            return ServerProcess.start(
                    "consul", directory, port, command(before, Unpacked.PROGRAM.toString(), options, List.of()));
        }
    };

    private static final Logger log = LoggerFactory.getLogger(ConsulProgram.class);
    private static final String IMAGE = System.getProperty("reactivelock.consul.image", "hashicorp/consul:1.20");
    private static final String SCRIPT = "config/newest-servers";
    private static final String NAME = "consul18";

    /** Found at the first use; the test output says once which it is. */
    private static final class Found {
        static final ConsulProgram PROGRAM = find(System.getProperty("reactivelock.consul", "any"));
    }

    private static final class OnPath {
        static final String VERSION = ServerVersions.named("consul", ServerVersions.ask(Path.of("consul")));
    }

    private static final class Unpacked {
        static final Path PROGRAM = unpack(project());
        static final String VERSION = ServerVersions.named("consul", ServerVersions.ask(PROGRAM));
    }

    static ConsulProgram found() {
        return Found.PROGRAM;
    }

    static ConsulProgram find(String wanted) {
        ConsulProgram found = switch (wanted) {
            case "docker" -> DOCKER;
            case "path" -> PATH;
            case "unpacked" -> UNPACKED;
            case "any" -> DockerClientFactory.instance().isDockerAvailable() ? DOCKER : isOnPath() ? PATH : UNPACKED;
            default ->
                throw new IllegalArgumentException(
                        "reactivelock.consul must be docker, path or unpacked but is '" + wanted + "'");
        };
        log.info("Consul for tests: {}", found == DOCKER ? "Docker image " + IMAGE : found);
        return found;
    }

    /** Its name and version. */
    abstract String version();

    /** @param before the words of a program that becomes Consul */
    abstract Running start(Path directory, int port, List<String> before, List<String> options);

    private static boolean isOnPath() {
        return ServerProcess.onPath("consul").isPresent();
    }

    /** The folder of the whole project, above the one in which the tests of a module run. */
    private static Path project() {
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            if (Files.isExecutable(folder.resolve(SCRIPT))) {
                return folder;
            }
        }
        throw new IllegalStateException("there is no Docker engine, no consul on the PATH and no " + SCRIPT);
    }

    /** Several JVMs of a build may want it at once. */
    private static Path unpack(Path project) {
        Path servers = project.resolve("target/servers");
        Path program = servers.resolve(NAME).resolve("path/consul");
        try {
            Files.createDirectories(servers);
            try (FileChannel channel = FileChannel.open(
                            servers.resolve(NAME + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock alone = channel.lock()) {
                Process unpacking = new ProcessBuilder(project.resolve(SCRIPT).toString(), NAME)
                        .redirectErrorStream(true)
                        .start();
                String said = new String(unpacking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                if (unpacking.waitFor() != 0 || !alone.isValid()) {
                    throw new IllegalStateException("there is no Docker engine, no consul on the PATH, and " + SCRIPT
                            + " " + NAME + " failed: " + said);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while Consul was unpacked", e);
        }
        return program;
    }

    private static List<String> command(List<String> before, String program, List<String> options, List<String> more) {
        return Stream.of(before, List.of(program, "agent"), options, more)
                .flatMap(List::stream)
                .toList();
    }
}
