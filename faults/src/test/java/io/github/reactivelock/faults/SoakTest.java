package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import picocli.CommandLine;

/** Alone, because it fills the machine. */
@Isolated
class SoakTest {

    @Test
    void aShortSoakIsCleanAndSaysSoInOneLine() {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);

        int exit = new CommandLine(new Soak(out)).execute("--clients", "4", "--round", "4", "--minutes", "0.2");

        String text = printed.toString(StandardCharsets.UTF_8);
        assertThat(text.lines().reduce((line, next) -> next).orElseThrow())
                .as(text)
                .matches("acquisitions=[1-9]\\d* overlaps=0 token_regressions=0 lost_wakeups=0 leaks=0"
                        + " heap_growth_pct=-?\\d+\\.\\d");
        assertThat(text.lines().toList())
                .as("shares took part")
                .anyMatch(line -> line.matches("lost_updates=0 disorders=0 shares=[1-9]\\d* share_overlaps=0"));
        assertThat(exit).as(text).isZero();
    }
}
