package io.github.reactivelock.spring.boot.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spring.boot.AutoConfigureReactiveLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SlicesTest {

    private static final Path IMPORTS = Path.of("src/main/resources/META-INF/spring");

    @Test
    void everySliceOfThePageHasWhatTheAnnotationGives() throws IOException {
        String given = Files.readString(IMPORTS.resolve(AutoConfigureReactiveLock.class.getName() + ".imports"));
        String page = Files.readString(Path.of("../docs/testing.md"));
        List<Path> slices;
        try (Stream<Path> files = Files.list(IMPORTS)) {
            slices = files.filter(file -> file.toString().endsWith("Test.imports"))
                    .toList();
        }

        assertThat(slices).hasSizeGreaterThan(5).allSatisfy(slice -> {
            String name = slice.getFileName().toString().replace(".imports", "");
            assertThat(page).contains("`@" + name.substring(name.lastIndexOf('.') + 1) + "`");
            assertThat(Files.readString(slice)).isEqualTo(given);
        });
    }
}
