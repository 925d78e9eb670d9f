package io.github.reactivelock.models;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tlc2.TLC;

/** TLC in a JVM of its own, because it keeps what it knows in static fields and ends the JVM. */
final class Tlc {

    /**
     * What it found.
     *
     * @param broken the promise, an empty text if all hold, or what stands in the way of an answer
     * @param output everything it printed, the trace to the broken promise included
     */
    record Finding(String broken, String output) {}

    private static final Pattern INVARIANT = Pattern.compile("(?m)^Error: Invariant (\\w+) is violated");
    private static final Pattern STEP = Pattern.compile("(?m)^Error: Action property (\\w+) is violated");
    private static final List<String> ALL_STATES = List.of();
    private static final List<String> WALKS = List.of("-simulate", "num=5000", "-depth", "60", "-seed", "1");
    private static final String ETERNITY = "Error: Temporal properties were violated.";
    private static final String NOTHING = "Model checking completed. No error has been found.";
    private static final Pattern PROPERTY = Pattern.compile("(?m)^PROPERTIES (\\w+)$");

    private Tlc() {}

    /** A sequence in its language. */
    static <T> String tuple(List<T> parts, Function<T, String> text) {
        return parts.stream().map(text).collect(Collectors.joining(", ", "<<", ">>"));
    }

    /**
     * A promise that is broken without a rule is mostly found by some thousand walks at random, always the same ones,
     * in seconds. All states are looked at where it is not, and where a promise is to hold.
     */
    static Finding check(Configuration configuration) {
        List<Path> modules = List.of(Configuration.directory().resolve(configuration.model() + ".tla"));
        if (configuration.breaksInvariant()) {
            Finding found = check(configuration.ofThePromiseAlone(), modules, "", WALKS);
            if (found.broken().equals(configuration.promise())) {
                return found;
            }
        }
        return check(configuration, modules, "", ALL_STATES);
    }

    /** Whether courses that the code took are courses of a model. */
    static Finding follow(String model, List<String> courses, String... constants) {
        Path traces = Configuration.directory().resolve("traces");
        String recorded = "---- MODULE Recorded ----\nEXTENDS Sequences\nCourses == <<\n"
                + String.join(",\n", courses)
                + "\n>>\n====\n";
        String trace = model + "Trace";
        Configuration configuration =
                new Configuration(trace, trace, Configuration.text(traces.resolve(trace + ".cfg")), "", "");
        return check(
                configuration.with(String.join("; ", constants)),
                List.of(Configuration.directory().resolve(model + ".tla"), traces.resolve(trace + ".tla")),
                recorded,
                ALL_STATES);
    }

    private static Finding check(Configuration configuration, List<Path> modules, String recorded, List<String> way) {
        try {
            Path directory = Files.createTempDirectory("reactive-lock-model-");
            try {
                for (Path module : modules) {
                    Files.copy(module, directory.resolve(module.getFileName()));
                }
                Files.writeString(directory.resolve("Recorded.tla"), recorded);
                return check(configuration, directory, way);
            } finally {
                delete(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static Finding check(Configuration configuration, Path directory, List<String> way)
            throws IOException, InterruptedException {
        String module = configuration.model() + ".tla";
        Files.writeString(directory.resolve("checked.cfg"), configuration.constants());
        Path printed = directory.resolve("printed.txt");
        List<String> command = new ArrayList<>(List.of(
                "nice", // it leaves the processor to the tests beside it, which wait for servers, but not all
                "-n",
                "5",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.io.tmpdir=" + directory, // where it unpacks its own modules, under names that are not unique
                "-XX:+UseParallelGC",
                "-XX:ParallelGCThreads=1",
                "-Xmx" + System.getProperty("models.heap", "1g"),
                "-cp",
                Path.of(TLC.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath())
                        .toString(),
                TLC.class.getName(),
                "-workers",
                "1",
                "-nowarning",
                "-metadir",
                directory.resolve("states").toString(),
                "-config",
                "checked.cfg"));
        command.addAll(way);
        command.add(module);
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            int unused = process.waitFor();
        } finally {
            process.destroyForcibly();
        }
        String output = Files.readString(printed);
        return new Finding(broken(configuration, output), output);
    }

    private static String broken(Configuration configuration, String output) {
        if (output.contains(NOTHING)) {
            return "";
        }
        for (Pattern named : List.of(INVARIANT, STEP)) {
            Matcher found = named.matcher(output);
            if (found.find()) {
                return found.group(1);
            }
        }
        Matcher property = PROPERTY.matcher(configuration.constants());
        return output.contains(ETERNITY) && property.find() ? property.group(1) : "(no answer)";
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
