package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/**
 * Finds the programs of a database: in Docker if an engine answers, else on the PATH or where Debian puts them. A
 * system property ({@code docker}, {@code path}) insists on one. If root runs the tests, the programs run as a user of
 * their own, because PostgreSQL refuses root and MariaDB asks for a flag.
 */
final class DatabaseProgram {

    private static final Logger log = LoggerFactory.getLogger(DatabaseProgram.class);

    private final String name;
    private final String user;
    private final List<Path> directories;
    final boolean isInDocker;
    private volatile String version = "";
    private volatile @Nullable Path made;

    private DatabaseProgram(String name, String user, List<Path> directories, boolean isInDocker) {
        this.name = name;
        this.user = user;
        this.directories = directories;
        this.isInDocker = isInDocker;
    }

    /** Finds a database's server program; its other programs are beside it. */
    static DatabaseProgram find(String property, String server, String user, String packageName, Path... further) {
        List<Path> directories = new ArrayList<>(ServerProcess.path());
        Stream.of(further).flatMap(DatabaseProgram::newestFirst).forEach(directories::add);
        String wanted = System.getProperty(property, "any");
        if (!List.of("any", "docker", "path").contains(wanted)) {
            throw new IllegalArgumentException(property + " must be docker or path but is '" + wanted + "'");
        }
        boolean docker = wanted.equals("docker")
                || (wanted.equals("any") && DockerClientFactory.instance().isDockerAvailable());
        DatabaseProgram found = new DatabaseProgram(server, user, directories, docker);
        if (!docker && found.file(server).isEmpty()) {
            throw new IllegalStateException("there is no Docker engine and no " + server + " on the PATH; install it"
                    + " (Debian: " + packageName + ")");
        }
        log.info("{} for tests: {}", server, docker ? "in Docker" : found.program(server));
        return found;
    }

    /** Finds a program that does not run in Docker. */
    static DatabaseProgram installed(String program, String user, String packageName, Path directory) {
        List<Path> directories = new ArrayList<>(ServerProcess.path());
        directories.add(directory);
        DatabaseProgram found = new DatabaseProgram(program, user, directories, false);
        if (found.file(program).isEmpty()) {
            throw new IllegalStateException(
                    "there is no " + program + " on the PATH; install it (Debian: " + packageName + ")");
        }
        return found;
    }

    /** A test meets the database, of this name and of the version that its program or its image says. */
    void met(String database, String image) {
        if (version.isEmpty()) {
            version = ServerVersions.named(database, isInDocker ? image : ServerVersions.ask(Path.of(program(name))));
        }
        ServerVersions.met(version);
    }

    /** The command that runs a program as the user it wants. */
    List<String> command(String program, List<String> options) {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=" + account(), "--clear-groups"));
        }
        command.add(program(program));
        command.addAll(options);
        return command;
    }

    /** Lets the programs' user write to a directory. */
    void own(Path directory) {
        if (!isRoot()) {
            return;
        }
        try {
            UserPrincipal owner =
                    directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(account());
            Files.setOwner(directory, owner);
        } catch (IOException e) {
            throw new UncheckedIOException(directory + " cannot be given to " + user, e);
        }
    }

    /** Runs a program of the database to its end. */
    void run(String program, Path directory, List<String> options) {
        run(directory, command(program, options), program);
    }

    /**
     * Puts a new database into a directory, at {@code data} there. It is made once in this JVM and copied from then on,
     * because that takes a tenth of the time.
     *
     * @param options those of the program that makes it, for the directory in which it does
     */
    void make(String program, Path directory, Function<Path, List<String>> options) {
        own(directory);
        synchronized (this) {
            if (made == null) {
                Path first = Scratch.directory(name + "-new");
                own(first);
                run(program, first, options.apply(first));
                made = first.resolve("data");
            }
        }
        run(directory, List.of("cp", "-a", made.toString(), directory.toString()), "cp");
    }

    private static void run(Path directory, List<String> command, String program) {
        try {
            Path output = directory.resolve(program + ".log");
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (process.waitFor() != 0) {
                throw new IllegalStateException(program + " failed:\n" + Files.readString(output));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(program + " could not be run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String program(String program) {
        return file(program)
                .orElseThrow(() -> new IllegalStateException("there is " + name + " but no " + program))
                .toString();
    }

    private Optional<Path> file(String program) {
        return directories.stream()
                .map(directory -> directory.resolve(program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private String account() {
        try {
            Path.of("/").getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user);
            return user;
        } catch (IOException noSuchUser) {
            return "nobody";
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    /** {@code DIRECTORY/VERSION/bin} for each version, or the directory itself if it has no versions. */
    private static Stream<Path> newestFirst(Path directory) {
        if (!Files.isDirectory(directory)) {
            return Stream.of();
        }
        try (Stream<Path> inside = Files.list(directory)) {
            List<Path> versions = inside.map(version -> version.resolve("bin"))
                    .filter(Files::isDirectory)
                    .sorted(Comparator.<Path>reverseOrder())
                    .toList();
            return Stream.concat(versions.stream(), Stream.of(directory));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
