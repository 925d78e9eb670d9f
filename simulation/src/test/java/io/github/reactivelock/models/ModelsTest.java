package io.github.reactivelock.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Every promise of the models holds, and each of their rules is needed: without it a promise is broken, the one that is
 * named. A model that cannot fail shows nothing. Two of them at a time fill the machine, and leave it to what runs
 * beside them.
 */
class ModelsTest {

    private static final Pattern ALL_STATES = Pattern.compile("(\\d+) distinct states found, 0 states left on queue");

    @TestFactory
    @DisabledIfSystemProperty(named = "models.large", matches = "true")
    Stream<DynamicTest> what_is_promised_holds_with_all_rules_and_breaks_without_any_of_them() {
        return checked(Configuration.all());
    }

    @TestFactory
    @EnabledIfSystemProperty(named = "models.large", matches = "true")
    Stream<DynamicTest> what_is_promised_holds_with_larger_constants() {
        return checked(Configuration.large());
    }

    private static Stream<DynamicTest> checked(List<Configuration> configurations) {
        record Begun(Configuration configuration, CompletableFuture<Tlc.Finding> finding) {}
        String only = System.getProperty("models.only", "");
        ExecutorService two = Executors.newFixedThreadPool(2);
        List<Begun> begun = configurations.stream()
                .filter(configuration -> configuration.toString().contains(only))
                .map(each -> new Begun(each, CompletableFuture.supplyAsync(() -> Tlc.check(each), two)))
                .toList();
        two.shutdown(); // when all are checked
        assertThat(begun).isNotEmpty();
        return begun.stream()
                .map(each -> dynamicTest(
                        each.configuration().toString(), () -> judge(each.configuration(), each.finding())));
    }

    private static void judge(Configuration configuration, CompletableFuture<Tlc.Finding> finding) throws IOException {
        Tlc.Finding found = finding.join();
        found.output()
                .lines()
                .filter(line -> line.matches("\\d+ states generated.*|The depth of.*|Finished in.*"))
                .forEach(line -> System.out.println(configuration + ": " + line));
        assertThat(found.broken())
                .as("%s: which promise is broken%n%s", configuration, found.output())
                .isEqualTo(configuration.promise());
        Matcher states = ALL_STATES.matcher(found.output());
        if (states.find() && !Boolean.getBoolean("models.large")) {
            assertDocumented(configuration, String.format(Locale.ROOT, "%,d states", Long.valueOf(states.group(1))));
        }
    }

    /** Where the guarantees tell how much was tried, that is the figure of this run. */
    private static void assertDocumented(Configuration configuration, String states) throws IOException {
        Path guarantees = Configuration.directory().resolveSibling("docs").resolve("guarantees.md");
        List<String> rows = Files.readAllLines(guarantees).stream()
                .filter(line -> line.contains("`" + configuration + "`") && line.contains(" states"))
                .toList();
        assertThat(rows)
                .as("%s: what docs/guarantees.md says of it", configuration)
                .allMatch(row -> row.contains(states));
    }
}
