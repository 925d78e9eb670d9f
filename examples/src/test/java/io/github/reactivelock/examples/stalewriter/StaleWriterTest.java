package io.github.reactivelock.examples.stalewriter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class StaleWriterTest {

    @Test
    void theGuardRefusesAWriterThatSleptPastItsLease() throws Exception {
        RunningExample example = RunningExample.run(StaleWriter.class, "--demo");

        assertThat(example.exit()).as(example.text()).isZero();
        for (String store : new String[] {"redis", "postgresql", "mariadb"}) {
            assertThat(example.output())
                    .contains(
                            "store=" + store + " guard=false stale-write=written value=111",
                            "store=" + store + " guard=true stale-write=refused value=222");
        }
    }
}
