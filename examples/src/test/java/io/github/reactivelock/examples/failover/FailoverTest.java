package io.github.reactivelock.examples.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class FailoverTest {

    @Test
    void aHoldSurvivesWhatItsStorePromisesAndNoMore() throws Exception {
        RunningExample failover = RunningExample.run(Failover.class, "--demo");

        assertThat(failover.exit()).as(failover.text()).isZero();
        assertThat(failover.text())
                .contains("after the fail-over: held=true", "kill -9 server 3", "as_promised=true tokens_rising=true")
                .doesNotContain("INFO", "Exception");
    }
}
