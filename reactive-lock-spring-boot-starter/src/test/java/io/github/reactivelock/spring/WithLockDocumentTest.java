package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The page on the annotation has all its attributes, and no others. */
class WithLockDocumentTest {

    @Test
    void hasARowForEachAttribute() throws IOException {
        String page = Files.readString(Path.of("../docs/with-lock.md"));
        String table = page.substring(page.indexOf("## Attributes"), page.indexOf("## The key"));
        List<String> rows = table.lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.substring(3, line.indexOf('`', 3)))
                .toList();

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(WithLock.class.getDeclaredMethods())
                        .map(Method::getName)
                        .toList());
    }
}
