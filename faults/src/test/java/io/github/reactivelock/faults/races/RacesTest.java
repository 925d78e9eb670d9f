package io.github.reactivelock.faults.races;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.openjdk.jcstress.Main;

/**
 * Races that a single thread cannot show, each run some hundred thousand times by jcstress, which has the two threads
 * of a race meet at every point. Their classes end with {@code Races} and say which outcomes there may be; every other
 * one is a failure. Alone, because threads that do not run at the same time do not race.
 */
@Isolated
class RacesTest {

    @Test
    void each_race_ends_in_a_way_that_is_named(@TempDir Path directory) throws IOException, InterruptedException {
        Path printed = directory.resolve("printed.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Main.class.getName(),
                        "-t",
                        System.getProperty("races.only", ".*"),
                        "-f", // one JVM for each race, with both actors compiled alike
                        "1",
                        "-sc",
                        "false",
                        "-af",
                        "NONE",
                        "-pth",
                        "false",
                        "-iters",
                        System.getProperty("races.iterations", "1"),
                        "-time",
                        "300",
                        "-jvmArgs",
                        "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1", // a JVM lives for a second or two
                        "-r",
                        directory.resolve("report").toString())
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            assertThat(process.waitFor(20, TimeUnit.MINUTES)).as("it ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        String output = Files.readString(printed);

        assertThat(process.exitValue()).as("jcstress said%n%s", output).isZero();
        assertThat(output).contains("Failed tests: No matches.", "Error tests: No matches.");
    }
}
