package io.github.reactivelock.examples.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class JobsTest {

    @Test
    void withAMinimumAJobRunsOnceAnInstantThoughItsRunnerIsKilled() throws Exception {
        RunningExample jobs = RunningExample.run(Jobs.class, "--demo");
        // A busy machine may be so late that all processes leave an instant out.
        for (int again = 0; again < 2 && jobs.exit() != 0 && jobs.text().contains("it was too late"); again++) {
            jobs = RunningExample.run(Jobs.class, "--demo");
        }

        assertThat(jobs.exit()).as(jobs.text()).isZero();
        assertThat(jobs.text()).contains("kill -9 process-");
        assertThat(jobs.output())
                .contains("way=minimum instants=6 runs=6", "way=once instants=6 runs=6")
                .anyMatch(line -> line.startsWith("way=lock-alone instants=6 runs="));
    }
}
