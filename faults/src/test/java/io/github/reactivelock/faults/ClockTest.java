package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A server whose clock jumps. {@code ./soak --clock} prints what this test looks at. */
class ClockTest {

    @Test
    void aJumpingClockDoesToRedisAndAQuorumWhatIsDocumented() throws Exception {
        assumeTrue(thereIsACompiler(), "the clock is shifted by a library that a C compiler named cc has to make");

        List<String> wrong =
                ClockTrial.run(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));

        assertThat(wrong).isEmpty();
    }

    private static boolean thereIsACompiler() throws InterruptedException {
        try {
            return new ProcessBuilder("cc", "--version")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectErrorStream(true)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
