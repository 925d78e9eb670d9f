package io.github.reactivelock.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

class ServerProcessTest {

    /** Makes one child after the other; each appends to a file for a while. */
    private static final String FORKING = """
            for child in $(seq 200); do
              (for _ in $(seq 500); do echo $child >> written; sleep 0.02; done) &
              [ $child = 20 ] && touch begun
            done
            wait
            """;

    @RepeatedTest(3)
    void aProgramThatMakesChildrenIsPausedAndKilledWithAllOfThem(@TempDir Path directory) throws IOException {
        int port = Loopback.freePort();
        try (ServerSocket answering = new ServerSocket(port, 1, Loopback.address())) {
            ServerProcess program =
                    ServerProcess.start("forking", directory, answering.getLocalPort(), List.of("sh", "-c", FORKING));
            Pause.until("it makes children", () -> Files.exists(directory.resolve("begun")));

            program.pause();
            long written = size(directory.resolve("written"));
            Pause.of(Duration.ofMillis(200));
            assertThat(size(directory.resolve("written"))).as("none runs").isEqualTo(written);

            program.resume();
            Pause.until("it runs on", () -> size(directory.resolve("written")) > written);
            program.kill();
            long atTheEnd = size(directory.resolve("written"));
            Pause.of(Duration.ofMillis(200));
            assertThat(size(directory.resolve("written"))).as("none lives on").isEqualTo(atTheEnd);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
