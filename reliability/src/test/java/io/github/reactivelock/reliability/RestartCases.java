package io.github.reactivelock.reliability;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.reliability.Lab.Holding;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The row of the fault matrix for stores that are killed and come back with their data within a lease. */
interface RestartCases {

    /** A database on a busy machine starts within it. */
    Duration LEASE = Duration.ofSeconds(12);

    /** The lab of the row that runs. */
    Lab lab();

    /** {@code kill -9}, then a start with what was there. */
    void restart();

    @Test
    default void aStoreRestartedWithItsDataCostsNothingAndRenewalsGoOn() {
        Holding holding = lab().person(LEASE).hold("a");
        long token = holding.held().fencingToken();
        Holding waiting = lab().person(LEASE).hold("a");
        lab().untilWaiting("a", 1);

        lab().faults.faultBegan("restart");
        restart();
        lab().faults.faultEnded("restart");

        holding.untilRenewed();
        assertThat(waiting.granted).isNotDone();
        holding.release();
        assertThat(waiting.held().fencingToken()).isGreaterThan(token);
        waiting.untilRenewed();
        waiting.release();
        lab().report().verify();
    }
}
