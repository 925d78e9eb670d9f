package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent of OpenTelemetry changes Reactor and Spring. An annotated method sees its caller's trace, and no other. */
class MethodsUnderAgentTest {

    @TempDir
    Path directory;

    @Test
    void everyCallOfAnAnnotatedMethodSeesItsOwnTraceUnderTheAgent() throws IOException, InterruptedException {
        List<String> said = run();

        assertThat(said).contains("done");
        assertThat(said.stream().filter(line -> line.startsWith("saw its own in ")))
                .hasSize(TracedMethods.NAMES.size() * 2);
        assertThat(said).noneMatch(line -> line.startsWith("saw ANOTHER'S"));
    }

    private List<String> run() throws IOException, InterruptedException {
        String libraries = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Path printed = directory.resolve("printed.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-javaagent:" + agent(libraries),
                        "-Dotel.traces.exporter=none",
                        "-Dotel.metrics.exporter=none",
                        "-Dotel.logs.exporter=none",
                        "-Xmx384m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        libraries,
                        TracedMethods.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            assertThat(process.waitFor(12, TimeUnit.MINUTES)).as("it ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        return Files.readAllLines(printed);
    }

    private static String agent(String libraries) {
        return Arrays.stream(libraries.split(Pattern.quote(System.getProperty("path.separator"))))
                .filter(path -> Path.of(path).getFileName().toString().startsWith("opentelemetry-javaagent-"))
                .findFirst()
                .orElseThrow();
    }
}
