package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the formatter leaves alone in the sources of all modules, and in what builds them and proves them. */
class SourcesTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final int COLUMNS = 120;
    private static final int WORDS = 14;
    private static final Pattern TEST = Pattern.compile(
            "@(?:Test|ParameterizedTest|RepeatedTest|Example|Property)\\b[^;]{0,400}?\\bvoid (\\w+)\\(");
    private static final Pattern WORD = Pattern.compile("\\p{Upper}?[\\p{Lower}\\d]+|\\p{Upper}+");
    private static final Set<String> NOT_WRITTEN_HERE = Set.of("target", "node_modules", ".git", ".idea", "mvnw");
    private static final Pattern IN_CODE = Pattern.compile("(?m)^\\h*(?:/?\\*|//).*|^.*\\h(?://|--) .*");
    private static final Pattern IN_SCRIPTS = Pattern.compile("(?m)^(?:.*\\h)?#(?:\\h.*)?$");
    private static final Pattern IN_STATEMENTS = Pattern.compile("(?m)^(?:.*\\h)?--(?:\\h.*)?$");
    private static final Map<String, Pattern> COMMENTS = new HashMap<>(Map.of(
            "xml", Pattern.compile("(?s)<!--.*?-->"),
            "tla", Pattern.compile("(?s)\\(\\*.*?\\*\\)|\\\\\\*[^\n]*"),
            "c", Pattern.compile("(?s)/\\*.*?\\*/")));

    static {
        Set.of("java", "kt", "js", "mjs").forEach(ending -> COMMENTS.put(ending, IN_CODE));
        Set.of("sql", "lua").forEach(ending -> COMMENTS.put(ending, IN_STATEMENTS));
        Set.of("yml", "yaml", "properties").forEach(ending -> COMMENTS.put(ending, IN_SCRIPTS));
    }

    @Test
    void commentsEndAtColumn120() throws IOException {
        Map<Path, Pattern> sources = sources();
        assertThat(sources)
                .hasSizeGreaterThan(500)
                .containsKeys(ROOT.resolve("pom.xml"), ROOT.resolve("verify"), ROOT.resolve("models/Quorum.tla"));

        Map<String, Path> tooLong = new TreeMap<>();
        for (Map.Entry<Path, Pattern> source : sources.entrySet()) {
            String text = Files.readString(source.getKey());
            Matcher comment = source.getValue().matcher(text);
            while (comment.find()) {
                text.substring(text.lastIndexOf('\n', comment.start()) + 1, comment.end())
                        .lines()
                        .filter(line -> line.length() > COLUMNS)
                        .forEach(line -> tooLong.put(line, ROOT.relativize(source.getKey())));
            }
        }
        assertThat(tooLong)
                .as("comments that are longer than " + COLUMNS + " columns")
                .isEmpty();
    }

    /** A longer one is a sentence that belongs into a comment. */
    @Test
    void namesOfTestsHaveAFewWords() throws IOException {
        Map<String, Path> names = new TreeMap<>();
        for (Path source : sources().keySet()) {
            Matcher test = TEST.matcher(source.toString().endsWith(".java") ? Files.readString(source) : "");
            while (test.find()) {
                names.put(test.group(1), ROOT.relativize(source));
            }
        }
        assertThat(names).hasSizeGreaterThan(1_000);

        names.keySet().removeIf(name -> WORD.matcher(name).results().count() <= WORDS);
        assertThat(names)
                .as("tests whose names have more than " + WORDS + " words")
                .isEmpty();
    }

    /** With what a comment is in each. */
    private static Map<Path, Pattern> sources() throws IOException {
        Map<Path, Pattern> sources = new TreeMap<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return isWrittenHere(folder) ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Pattern comments = attributes.isRegularFile() && isWrittenHere(file) ? comments(file) : null;
                if (comments != null) {
                    sources.put(file, comments);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return sources;
    }

    private static boolean isWrittenHere(Path path) {
        return !NOT_WRITTEN_HERE.contains(path.getFileName().toString());
    }

    private static @Nullable Pattern comments(Path file) throws IOException {
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        if (dot >= 0) {
            return COMMENTS.get(name.substring(dot + 1));
        }
        try (InputStream start = Files.newInputStream(file)) {
            return Arrays.equals(start.readNBytes(2), new byte[] {'#', '!'}) ? IN_SCRIPTS : null;
        }
    }
}
