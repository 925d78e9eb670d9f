package io.github.reactivelock.examples.partitions;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PartitionsTest {

    private static long scripts(RunningExample partitions, String what) {
        Matcher count = Pattern.compile(Pattern.quote(what) + " acquisitions=[0-9]+ scripts=([0-9]+) ")
                .matcher(partitions.text());
        assertThat(count.find()).as(partitions.text()).isTrue();
        return Long.parseLong(count.group(1));
    }

    @Test
    void aLockThatStaysSavesQuestionsAndGoesToTheClientThatWantsIt() throws Exception {
        RunningExample partitions = RunningExample.run(Partitions.class, "--demo");

        assertThat(partitions.exit()).as(partitions.text()).isZero();
        assertThat(scripts(partitions, "retention=none")).isGreaterThanOrEqualTo(1_600);
        assertThat(scripts(partitions, "retention=10s")).isBetween(8L, 80L);
        assertThat(partitions.text())
                .containsSubsequence(
                        "  partition:3 is of consumer-1",
                        "recallable=true",
                        "  consumer-1 is called back: partition:3",
                        "  partition:3 is of consumer-2",
                        "consumer-2 acquisitions=1 ",
                        "consumer-1 goes on: acquisitions=8 ")
                .doesNotContain("INFO");
        assertThat(scripts(partitions, "consumer-1 goes on:")).isLessThan(16);
    }
}
