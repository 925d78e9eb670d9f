package io.github.reactivelock.reliability;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A longer file is two ideas. */
class FileLengthTest {

    private static final int MOST_LINES = 300;

    @Test
    void no_file_of_any_module_is_longer_than_300_lines() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (Path directory : sourceDirectories()) {
            try (Stream<Path> files = Files.walk(directory)) {
                sources.addAll(files.filter(file -> file.toString().matches(".*\\.(java|kt)"))
                        .toList());
            }
        }

        assertThat(sources).hasSizeGreaterThan(300);
        assertThat(sources)
                .allSatisfy(file ->
                        assertThat(Files.readAllLines(file)).as("%s", file).hasSizeLessThanOrEqualTo(MOST_LINES));
    }

    /** What docs/stores/your-own.md says of the store in an ordered map. */
    @Test
    void a_stores_protocol_fits_into_350_lines() throws IOException {
        Path store = Path.of("../reliability-core/src/test/java/io/github/reactivelock/testkit/map");
        long lines = 0;
        for (String file : List.of("OrderedMap.java", "LockState.java", "MapLockBackend.java")) {
            lines += Files.readAllLines(store.resolve(file)).stream()
                    .filter(line -> !line.isBlank() && !line.startsWith("import ") && !line.startsWith("package "))
                    .count();
        }

        assertThat(lines).isBetween(100L, 350L);
    }

    private static List<Path> sourceDirectories() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList();
        }
    }
}
