package io.github.reactivelock.examples.limits;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class LimitsTest {

    @Test
    void theFleetKeepsTheLimitAndThePermitsOfAKilledProcessComeBack() throws Exception {
        RunningExample limits = RunningExample.run(Limits.class, "--demo");

        assertThat(limits.exit()).as(limits.text()).isZero();
        assertThat(limits.text())
                .contains("kill -9 process-1", "20 permits in use")
                .contains("killed=1 all-permits-back-after=", "within-the-limit=true")
                .doesNotContain("INFO");
    }
}
