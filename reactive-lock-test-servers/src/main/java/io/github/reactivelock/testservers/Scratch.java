package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Cleans up when this JVM ends: child processes first, then the directories they wrote to. */
final class Scratch {

    private static final Set<Process> PROCESSES = ConcurrentHashMap.newKeySet();
    private static final Set<Path> DIRECTORIES = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Scratch::cleanUp, "testkit-clean-up"));
    }

    private Scratch() {}

    static Path directory(String name) {
        try {
            Path made = Files.createTempDirectory("reactive-lock-" + name + "-");
            DIRECTORIES.add(made);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException("no temporary directory for " + name, e);
        }
    }

    static void destroyOnExit(Process process) {
        PROCESSES.removeIf(earlier -> !earlier.isAlive());
        PROCESSES.add(process);
    }

    static void delete(Path directory) {
        empty(directory);
        directory.toFile().delete();
        DIRECTORIES.remove(directory);
    }

    /** Deletes the contents of a directory, as far as possible. */
    static void empty(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> inside = Files.walk(directory)) {
            inside.filter(path -> !path.equals(directory))
                    .sorted(Comparator.reverseOrder())
                    .forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot empty " + directory, e);
        }
    }

    private static void cleanUp() {
        for (Process process : PROCESSES) {
            process.destroyForcibly();
            process.onExit().join();
        }
        DIRECTORIES.forEach(Scratch::delete);
    }
}
