package io.github.reactivelock.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A rule has one name in the model and in the comment of the method that keeps it, and neither is without the other.
 */
class RuleNamesTest {

    private static final List<Path> SOURCES = Stream.of("reactive-lock-core", "reactive-lock-quorum")
            .map(module -> Path.of("..", module, "src", "main", "java"))
            .toList();

    /** In the sources: {@code models/Grant.tla: NewestToken}. */
    private static final Pattern KEPT = Pattern.compile("models/(\\w+)\\.tla: (\\w+)");

    private static final Pattern SWITCHED = Pattern.compile("On\\(\"(\\w+)\"\\)");

    @Test
    void everyRuleOfAModelAndItsConfigurationMatch() {
        Set<String> switched = new TreeSet<>();
        for (Configuration configuration : Configuration.all()) {
            if (!configuration.rule().isEmpty()) {
                switched.add(configuration.model() + ": " + configuration.rule());
            }
        }

        assertThat(switched).isNotEmpty().isEqualTo(rulesOfTheModels());
    }

    @Test
    void theSourcesNameExactlyTheRulesOfTheModels() throws IOException {
        Set<String> named = new TreeSet<>();
        for (Path module : SOURCES) {
            try (Stream<Path> sources = Files.walk(module)) {
                for (Path source : sources.filter(file -> file.toString().endsWith(".java"))
                        .toList()) {
                    KEPT.matcher(Configuration.text(source))
                            .results()
                            .forEach(kept -> named.add(kept.group(1) + ": " + kept.group(2)));
                }
            }
        }

        assertThat(named).isNotEmpty().isEqualTo(rulesOfTheModels());
    }

    private static Set<String> rulesOfTheModels() {
        Set<String> rules = new TreeSet<>();
        for (Path file : Configuration.files(".tla")) {
            String model = file.getFileName().toString().replace(".tla", "");
            SWITCHED.matcher(Configuration.text(file))
                    .results()
                    .forEach(rule -> rules.add(model + ": " + rule.group(1)));
        }
        return rules;
    }
}
