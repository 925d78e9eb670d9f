package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the formatter leaves alone in the sources of all modules. */
class SourcesTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final int COLUMNS = 120;
    private static final Pattern COMMENT = Pattern.compile("\\s*(?:/?\\*|//|--).*|.*\\s(?://|--) .*");

    @Test
    void commentsEndAtColumn120() throws IOException {
        List<Path> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(each -> Files.isDirectory(each.resolve("src")))
                    .toList()) {
                try (Stream<Path> files = Files.walk(module.resolve("src"))) {
                    files.filter(file -> file.toString().matches(".*\\.(?:java|kt|lua)"))
                            .forEach(sources::add);
                }
            }
        }
        assertThat(sources).hasSizeGreaterThan(500);

        List<String> tooLong = new ArrayList<>();
        for (Path source : sources) {
            List<String> lines = Files.readAllLines(source);
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).length() > COLUMNS
                        && COMMENT.matcher(lines.get(i)).matches()) {
                    tooLong.add(ROOT.relativize(source) + ":" + (i + 1));
                }
            }
        }
        assertThat(tooLong)
                .as("comments that are longer than " + COLUMNS + " columns")
                .isEmpty();
    }
}
