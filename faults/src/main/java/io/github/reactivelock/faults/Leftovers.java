package io.github.reactivelock.faults;

import io.github.reactivelock.testservers.RedisServer;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What is left behind and should not be. Waits for it to go away, because what a killed client left expires. */
final class Leftovers {

    private Leftovers() {}

    /** Keys of locks; only token counters and marks of watchers outlive a lock. */
    static List<String> keys(RedisServer server, Duration patience) {
        return remaining(
                patience,
                () -> ((List<?>) Objects.requireNonNull(server.command("KEYS", "*")))
                        .stream()
                                .map(String::valueOf)
                                .filter(name -> !name.endsWith("}:token"))
                                .toList());
    }

    /** Connections to the server but the one that asks. */
    static List<String> connections(RedisServer server) {
        return remaining(
                Duration.ofSeconds(60),
                () -> String.valueOf(server.command("CLIENT", "LIST"))
                        .lines()
                        .filter(line -> !line.contains("cmd=client"))
                        .map(line -> "still connected: " + line)
                        .toList());
    }

    static void delete(Path directory) {
        File[] files = directory.toFile().listFiles();
        Stream.concat(Stream.of(files == null ? new File[0] : files), Stream.of(directory.toFile()))
                .forEach(file -> {
                    file.delete();
                });
    }

    /** What is still there when patience ends; nothing as soon as there is nothing. */
    static List<String> remaining(Duration patience, Supplier<List<String>> look) {
        long end = System.nanoTime() + patience.toNanos();
        List<String> left = look.get();
        while (!left.isEmpty() && System.nanoTime() - end < 0) {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            left = look.get();
        }
        return left;
    }
}
