package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tests that docs/guarantees.md names are there, so that no promise outlives what shows it. */
class GuaranteesDocumentTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);
    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|Cases))(?:#(\\w+))?`");

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        String document = COMMENT.matcher(Files.readString(ROOT.resolve("docs/guarantees.md")))
                .replaceAll("");
        List<MatchResult> named = NAMED.matcher(document).results().toList();
        List<String> missing = new ArrayList<>();
        for (MatchResult test : named) {
            if (!exists(test.group(1) + ".java", test.group(2))) {
                missing.add(test.group());
            }
        }

        assertThat(named).hasSizeGreaterThan(20);
        assertThat(missing).isEmpty();
    }

    private static boolean exists(String file, String method) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module :
                    modules.filter(dir -> Files.isDirectory(dir.resolve("src"))).toList()) {
                if (existsIn(module.resolve("src"), file, method)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean existsIn(Path sources, String file, String method) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path found : files.filter(path -> path.endsWith(file)).toList()) {
                if (method == null || Files.readString(found).contains("void " + method + "(")) {
                    return true;
                }
            }
        }
        return false;
    }
}
