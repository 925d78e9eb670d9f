package io.github.reactivelock.models;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One thing to be checked: a model, its constants, and what is to come of it. Each file {@code .cfg} of {@code models/}
 * is one in which everything holds, and its comments say which others there are: <em>RULE breaks PROMISE</em>, with
 * other constants if it takes those, and the larger constants.
 *
 * @param rule what is switched off, or an empty text
 * @param promise what is broken then, or an empty text
 */
record Configuration(String model, String file, String constants, String rule, String promise) {

    private static final Pattern MODEL = Pattern.compile("(?m)^\\\\\\* model (\\w+)$");
    private static final Pattern BREAKS = Pattern.compile("(?m)^\\\\\\* (\\w+) breaks (\\w+)(?: with (.+))?$");
    private static final Pattern LARGE = Pattern.compile("(?m)^\\\\\\* large: (.+)$");
    private static final Pattern INVARIANTS = Pattern.compile("(?m)^INVARIANTS .*$");
    private static final String NOTHING_OFF = "Off = {}";

    /** All that the build checks. */
    static List<Configuration> all() {
        List<Configuration> all = new ArrayList<>();
        for (Path file : files(".cfg")) {
            Configuration main = read(file);
            all.add(main);
            BREAKS.matcher(main.constants)
                    .results()
                    .forEach(line ->
                            all.add(main.without(line.group(1), line.group(2)).with(line.group(3))));
        }
        all.sort(Comparator.comparing(Configuration::rule)); // those that take long first, which have none
        return all;
    }

    /** The same promises with larger constants, which takes minutes to hours. */
    static List<Configuration> large() {
        List<Configuration> large = new ArrayList<>();
        for (Path file : files(".cfg")) {
            Configuration main = read(file);
            LARGE.matcher(main.constants).results().forEach(line -> large.add(main.with(line.group(1))));
        }
        return large;
    }

    static Path directory() {
        return Path.of("..", "models").toAbsolutePath().normalize();
    }

    static List<Path> files(String suffix) {
        try (Stream<Path> files = Files.list(directory())) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Configuration read(Path file) {
        String text = text(file);
        Matcher model = MODEL.matcher(text);
        if (!model.find() || !text.contains(NOTHING_OFF)) {
            throw new IllegalStateException(file + " has to say '\\* model NAME' and '" + NOTHING_OFF + "'");
        }
        return new Configuration(model.group(1), file.getFileName().toString(), text, "", "");
    }

    private Configuration without(String off, String broken) {
        String changed = constants.replace(NOTHING_OFF, "Off = {\"" + off + "\"}");
        return new Configuration(model, file, changed, off, broken);
    }

    /** Whether a rule is off, and the promise that is broken then is one of each state or step, not of all time. */
    boolean breaksInvariant() {
        return !rule.isEmpty() && !constants.contains("PROPERTIES " + promise);
    }

    /** The same, and no other promise is looked at. */
    Configuration ofThePromiseAlone() {
        String alone = INVARIANTS.matcher(constants).replaceFirst("INVARIANTS " + promise);
        return new Configuration(model, file, alone.replaceAll("(?m)^PROPERTIES .*$", ""), rule, promise);
    }

    Configuration with(@Nullable String assignments) {
        String changed = constants;
        for (String assignment :
                assignments == null || assignments.isEmpty() ? new String[0] : assignments.split("; ")) {
            String name = assignment.substring(0, assignment.indexOf(" ="));
            Matcher line = Pattern.compile("(?m)^  " + name + " = .*$").matcher(changed);
            if (!line.find()) {
                throw new IllegalStateException(file + " has no constant " + name);
            }
            changed = line.replaceFirst(Matcher.quoteReplacement("  " + assignment));
        }
        return new Configuration(model, file, changed, rule, promise);
    }

    @Override
    public String toString() {
        return rule.isEmpty() ? file : file + " without " + rule;
    }
}
