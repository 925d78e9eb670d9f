package io.github.reactivelock.simulation;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Puts old defects back, one at a time, and lets the simulation look for them. A file of
 * {@code simulation/planted} says what it is, in lines that begin with {@code #}, and why it is not found if it
 * is not, then for each place the file ({@code file Name.java}, or {@code file scripts/lock.lua}), the lines that are
 * there (behind a minus sign) and those that take their place (behind a plus sign).
 */
final class Planted {

    /** Sources of the modules that know no server; no two have a package in common. */
    private static final List<Path> SOURCES = Stream.of("core", "quorum")
            .map(name -> Path.of("reactive-lock-" + name + "/src/main/java/io/github/reactivelock"))
            .toList();

    private static final Path SCRIPTS = Path.of("reactive-lock-redis/src/main/resources/io/github/reactivelock/redis");
    /** Where the script's class looks for it. */
    private static final String PLACE_OF_SCRIPTS = "classes/io/github/reactivelock/redis";

    /** A machine that does much else gives a search its time of the processor so many times later. */
    private static final int MOST_LATE = 20;

    private static final String NOT_FOUND = "# Not found:";

    private final Path root;
    private final PrintStream out;

    /** @param root of the project */
    Planted(Path root, PrintStream out) {
        this.root = root;
        this.out = out;
    }

    /** Prints a table; false if one of them was not found that should be. */
    boolean findAll(Duration longest, String only) throws IOException, InterruptedException {
        out.println("| planted defect | seeds | processor seconds | what was seen |");
        out.println("|---|---:|---:|---|");
        boolean all = true;
        try (Stream<Path> files = Files.list(root.resolve("simulation/planted"))) {
            for (Path file : files.filter(file -> file.getFileName().toString().contains(only))
                    .sorted()
                    .toList()) {
                all &= find(file, longest);
            }
        }
        return all;
    }

    boolean find(Path file, Duration longest) throws IOException, InterruptedException {
        List<String> lines = Files.readAllLines(file);
        String what = lines.get(0).substring(1).trim();
        boolean expected = lines.stream().noneMatch(line -> line.startsWith(NOT_FOUND));
        Path directory = Files.createTempDirectory("reactive-lock-planted-");
        try {
            plant(lines, copied(directory));
            compile(directory);
            copy(directory.resolve("source/scripts"), directory.resolve(PLACE_OF_SCRIPTS));
            List<String> said = run(directory, longest);
            String seen = first(said, "  ");
            String seeds = first(said, "seeds=").split(" ", -1)[0];
            boolean found = !seen.isEmpty();
            String spent = first(said, Simulate.PROCESSOR_SECONDS);
            String about = found ? seen : expected ? "not found" : reason(lines);
            out.println("| " + what + " | " + (found ? "" : "not in ") + seeds + " | " + spent + " | " + about + " |");
            return found || !expected;
        } finally {
            delete(directory);
        }
    }

    private static String reason(List<String> lines) {
        return "not found: " + first(lines, NOT_FOUND).strip();
    }

    /** Fails if the defect cannot be planted any more. */
    void tryOut(Path file) throws IOException {
        Path directory = Files.createTempDirectory("reactive-lock-planted-");
        try {
            plant(Files.readAllLines(file), copied(directory));
        } finally {
            delete(directory);
        }
    }

    private Path copied(Path directory) throws IOException {
        Path source = directory.resolve("source");
        for (Path module : SOURCES) {
            copy(root.resolve(module), source);
        }
        copy(root.resolve(SCRIPTS), source.resolve("scripts"));
        return source;
    }

    private static void plant(List<String> lines, Path source) throws IOException {
        Path file = source;
        List<String> before = new ArrayList<>();
        List<String> after = new ArrayList<>();
        for (String line : lines) {
            boolean ends = line.startsWith("-") && !after.isEmpty();
            if (line.startsWith("file ") || ends) {
                replace(file, before, after);
            }
            if (line.startsWith("file ")) {
                file = source.resolve(line.substring("file ".length()).trim());
            } else if (line.startsWith("-")) {
                before.add(line.substring(1).strip());
            } else if (line.startsWith("+")) {
                after.add(line.substring(1).strip());
            }
        }
        replace(file, before, after);
    }

    private static void replace(Path file, List<String> before, List<String> after) throws IOException {
        if (before.isEmpty()) {
            return;
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        List<String> stripped = lines.stream().map(String::strip).toList();
        int at = Collections.indexOfSubList(stripped, before);
        if (at < 0 || at != Collections.lastIndexOfSubList(stripped, before)) {
            throw new IllegalStateException(
                    file.getFileName() + " has this not once, so the defect cannot be planted: " + before);
        }
        lines.subList(at, at + before.size()).clear();
        lines.addAll(at, after);
        Files.write(file, lines);
        before.clear();
        after.clear();
    }

    private static boolean needsWhatUsersBring(Path source) {
        return Stream.of("BlockHoundAllowances.java", "CracCheckpoints.java", "Snapshots.java")
                .anyMatch(source::endsWith);
    }

    private void compile(Path directory) throws IOException {
        List<String> args = new ArrayList<>(List.of(
                "-nowarn", "-proc:none", "-d", directory.resolve("classes").toString(), "-cp", classPath()));
        try (Stream<Path> sources = Files.walk(directory.resolve("source"))) {
            // What is compiled against things that users bring, BlockHound and org.crac, is taken as it is.
            sources.filter(path -> path.toString().endsWith(".java") && !needsWhatUsersBring(path))
                    .forEach(path -> args.add(path.toString()));
        }
        int failed = ToolProvider.getSystemJavaCompiler().run(null, null, null, args.toArray(String[]::new));
        if (failed != 0) {
            throw new IllegalStateException("the planted defect does not compile");
        }
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    private static String first(List<String> lines, String beginning) {
        return lines.stream()
                .filter(line -> line.startsWith(beginning))
                .findFirst()
                .map(line -> line.substring(beginning.length()))
                .orElse("");
    }

    /** What the simulation said. */
    private static List<String> run(Path directory, Duration longest) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-cp",
                        directory.resolve("classes") + File.pathSeparator + classPath(),
                        Simulate.class.getName(),
                        "--first",
                        "--threads",
                        "1",
                        "--from",
                        "1",
                        "--minutes",
                        Double.toString(longest.toMillis() / 60e3))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(MOST_LATE * longest.toSeconds() + 120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return List.of("  the run did not end");
        }
        return Files.readAllLines(output);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path copied = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copied);
                } else {
                    Files.copy(file, copied);
                }
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                file.toFile().delete();
            });
        }
    }
}
