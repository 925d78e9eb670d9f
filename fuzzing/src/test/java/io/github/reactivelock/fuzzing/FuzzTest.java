package io.github.reactivelock.fuzzing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What stores, users and strangers may send, mutated by Jazzer, in a process of its own: the same inputs in every
 * build. {@code ./fuzz} goes on for minutes, from new seeds.
 */
class FuzzTest {

    private static final int FOUND = 77;
    private static final int HANGS = 70;
    private static final Path TARGET = Path.of("target", "fuzzing").toAbsolutePath();
    private static final String MINUTES = System.getProperty("fuzzing.minutes", "");
    private static final String INPUT = System.getProperty("fuzzing.input", "");

    private record Ended(int exit, String printed) {}

    @Test
    void noInputCrashesAReaderOrKeepsItOrBecomesAGrant(@TempDir Path seeds) throws Exception {
        Fuzz.writeSeeds(seeds);
        List<String> options = new ArrayList<>(List.of("-timeout=60"));
        if (!INPUT.isEmpty()) {
            options.add(INPUT); // instead of folders: it is read and nothing more
        } else if (MINUTES.isEmpty()) {
            options.addAll(List.of("-seed=1", "-runs=20000", seeds.toString()));
        } else {
            Path corpus = Files.createDirectories(TARGET.resolve("corpus")); // what was new, for the next time
            options.addAll(List.of(
                    "-max_total_time=" + TimeUnit.MINUTES.toSeconds(Long.parseLong(MINUTES)),
                    corpus.toString(),
                    seeds.toString()));
        }

        Ended ended = jazzer(Fuzz.class, options);

        assertThat(ended.exit)
                .as("an input in %s; ./fuzz --input FILE reads it again%n%s", TARGET, ended.printed)
                .isZero();
    }

    @Test
    void aPlantedCrashAndAPlantedGrantAreFound(@TempDir Path seeds) throws Exception {
        Planted.Faults.writeSeeds(seeds);

        Ended ended =
                jazzer(Planted.Faults.class, List.of("--keep_going=2", "-seed=1", "-runs=100000", seeds.toString()));

        assertThat(ended.exit).as(ended.printed).isEqualTo(FOUND);
        assertThat(ended.printed).contains("a grant out of garbage on", "a crash on");
    }

    @Test
    void aPlantedHangIsFound(@TempDir Path seeds) throws Exception {
        Planted.Hangs.writeSeeds(seeds);

        Ended ended = jazzer(Planted.Hangs.class, List.of("-timeout=2", "-seed=1", "-runs=100000", seeds.toString()));

        assertThat(ended.exit).as(ended.printed).isEqualTo(HANGS);
        assertThat(ended.printed).contains("libFuzzer: timeout");
    }

    private static Ended jazzer(Class<?> target, List<String> options) throws IOException, InterruptedException {
        Path printed = Files.createDirectories(TARGET).resolve(target.getSimpleName() + ".txt");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:+EnableDynamicAgentLoading",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + target.getName(),
                "--instrumentation_includes=io.github.reactivelock.**",
                "--custom_hook_includes=io.github.reactivelock.**",
                "--reproducer_path=" + TARGET,
                "-artifact_prefix=" + TARGET + "/",
                "-rss_limit_mb=0",
                "-max_len=512"));
        if (MINUTES.isEmpty()) {
            command.add(1, "-XX:TieredStopAtLevel=1"); // it lives for some seconds
        }
        command.addAll(options);
        Process process = new ProcessBuilder(command)
                .directory(TARGET.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            long minutes = MINUTES.isEmpty() ? 0 : Long.parseLong(MINUTES);
            assertThat(process.waitFor(minutes + 10, TimeUnit.MINUTES))
                    .as("it ends")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(printed, StandardCharsets.ISO_8859_1));
    }
}
