package io.github.reactivelock.testservers;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/**
 * The etcd that tests run against: Docker if an engine answers, else {@code etcd} on the PATH. Found once; the system
 * property {@code reactivelock.etcd} ({@code docker}, {@code path}) insists on one.
 */
enum EtcdProgram {
    DOCKER {
        @Override
        String version() {
            return ServerVersions.named("etcd", IMAGE);
        }

        @Override
        Running start(Path directory, int port, List<String> options) {
            return ServerContainer.startOnHost(IMAGE, directory, command("/usr/local/bin/etcd", options));
        }
    },
    PATH {
        @Override
        String version() {
            return OnPath.VERSION;
        }

        @Override
        Running start(Path directory, int port, List<String> options) {
            return ServerProcess.start("etcd", directory, port, command("etcd", options));
        }
    };

    private static final Logger log = LoggerFactory.getLogger(EtcdProgram.class);
    private static final String IMAGE =
            System.getProperty("reactivelock.etcd.image", "gcr.io/etcd-development/etcd:v3.5.21");

    /** Found at the first use; the test output says once which it is. */
    private static final class Found {
        static final EtcdProgram PROGRAM = find(System.getProperty("reactivelock.etcd", "any"));
    }

    private static final class OnPath {
        static final String VERSION = ServerVersions.named("etcd", ServerVersions.ask(Path.of("etcd")));
    }

    static EtcdProgram found() {
        return Found.PROGRAM;
    }

    static EtcdProgram find(String wanted) {
        EtcdProgram found = switch (wanted) {
            case "docker" -> DOCKER;
            case "path" -> onPath();
            case "any" -> DockerClientFactory.instance().isDockerAvailable() ? DOCKER : onPath();
            default ->
                throw new IllegalArgumentException("reactivelock.etcd must be docker or path but is '" + wanted + "'");
        };
        log.info("etcd for tests: {}", found == DOCKER ? "Docker image " + IMAGE : "the one on the PATH");
        return found;
    }

    /** Its name and version. */
    abstract String version();

    abstract Running start(Path directory, int port, List<String> options);

    private static EtcdProgram onPath() {
        if (ServerProcess.onPath("etcd").isEmpty()) {
            throw new IllegalStateException(
                    "there is no Docker engine and no etcd on the PATH; install it (Debian: etcd-server)");
        }
        return PATH;
    }

    private static List<String> command(String program, List<String> options) {
        return Stream.concat(Stream.of(program), options.stream()).toList();
    }
}
