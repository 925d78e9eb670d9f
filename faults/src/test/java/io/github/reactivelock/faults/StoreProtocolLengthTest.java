package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What docs/stores/your-own.md says of the store in an ordered map. */
class StoreProtocolLengthTest {

    @Test
    void a_stores_protocol_fits_into_350_lines() throws IOException {
        Path store = Path.of("../simulation/src/test/java/io/github/reactivelock/testkit/map");
        long lines = 0;
        for (String file : List.of("OrderedMap.java", "LockState.java", "MapLockBackend.java")) {
            lines += Files.readAllLines(store.resolve(file)).stream()
                    .filter(line -> !line.isBlank() && !line.startsWith("import ") && !line.startsWith("package "))
                    .count();
        }

        assertThat(lines).isBetween(100L, 350L);
    }
}
