package io.github.reactivelock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is excused, because a process was hindered. */
class MachineTest {

    private final World world = new World(1, null);

    @Test
    void aMachineIsHinderedWhileAThreadOfItStandsStill() {
        Machine machine = new Machine(world, "m", 1, 1, 300_000_000);
        List<Long> lag = new ArrayList<>();
        for (int i = 1; i <= 100; i++) {
            var unused = world.at(i, () -> lag.add(world.now() - machine.hinderedUntil()));
        }

        machine.mayStandStill();

        assertThat(lag).hasSize(100).containsOnly(0L);
        assertThat(machine.hinderedUntil()).isEqualTo(world.now());
    }
}
