package io.github.reactivelock.examples.points;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class PointsTest {

    @Test
    void withTheLockOfAnyStoreNoPointAppearsOrIsLost() throws Exception {
        RunningExample points = RunningExample.run(Points.class, "--demo", "--rounds", "20");

        assertThat(points.exit()).as(points.text()).isZero();
        assertThat(points.output())
                .contains(
                        "lock=redis      accounts-wrong=0 points-from-nowhere=0 points-lost=0",
                        "lock=etcd       accounts-wrong=0 points-from-nowhere=0 points-lost=0",
                        "lock=zookeeper  accounts-wrong=0 points-from-nowhere=0 points-lost=0",
                        "lock=postgresql accounts-wrong=0 points-from-nowhere=0 points-lost=0",
                        "lock=mariadb    accounts-wrong=0 points-from-nowhere=0 points-lost=0",
                        "lock=h2         accounts-wrong=0 points-from-nowhere=0 points-lost=0")
                .anyMatch(line -> line.startsWith("lock=without"));
    }

    @Test
    void aNumberOfRoundsThatMakesNoSenseIsRefused() throws Exception {
        RunningExample points = RunningExample.run(Points.class, "--rounds", "0");

        assertThat(points.exit()).as(points.text()).isEqualTo(2);
        assertThat(points.text()).contains("--rounds must be");
    }
}
