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

/**
 * The tests that docs/guarantees.md and issues/README.md name are there, so that no promise and no defect outlives what
 * shows it.
 */
class GuaranteesDocumentTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);
    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|Cases|Contract))(?:#(\\w+))?`");

    private static final Pattern ROW = Pattern.compile("^\\| (?!defect |---).*`\\w+#\\w+` \\|$", Pattern.MULTILINE);
    private static final Pattern ENTRY = Pattern.compile("^- ", Pattern.MULTILINE);

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        assertAllExist(Files.readString(ROOT.resolve("docs/guarantees.md")));
    }

    @Test
    void everyDefectHasATestThatExists() throws IOException {
        String defects = Files.readString(ROOT.resolve("issues/README.md"));
        String changes = Files.readString(ROOT.resolve("CHANGELOG.md"));
        String fixed = changes.substring(changes.indexOf("### Fixed before the first release"));

        assertAllExist(defects);
        assertThat(ROW.matcher(defects).results())
                .as("rows of issues/README.md")
                .hasSameSizeAs(ENTRY.matcher(fixed).results().toList());
    }

    private static void assertAllExist(String page) throws IOException {
        String document = COMMENT.matcher(page).replaceAll("");
        List<MatchResult> named = NAMED.matcher(document).results().toList();
        List<String> missing = new ArrayList<>();
        for (MatchResult test : named) {
            if (!exists(test.group(1) + ".java", test.group(2))) {
                missing.add(test.group());
            }
        }

        assertThat(named).hasSizeGreaterThan(15);
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
