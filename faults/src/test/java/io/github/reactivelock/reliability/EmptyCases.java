package io.github.reactivelock.reliability;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.reliability.Lab.Holding;
import io.github.reactivelock.testkit.history.HistoryReport;
import org.junit.jupiter.api.Test;

/** The row of the fault matrix for stores that can lose everything and serve on. */
interface EmptyCases {

    /** The lab of the row that runs. */
    Lab lab();

    /** {@code kill -9}, then a start with nothing. */
    void restartEmpty();

    /** Whether tokens come from a clock, which the store has not lost with its data. */
    boolean tokensRiseAllTheSame();

    @Test
    default void aStoreRestartedEmptyIsASoonLossAndTheWaiterAcquires() {
        Holding holding = lab().person().hold("a");
        holding.held();
        Holding waiting = lab().person().hold("a");
        lab().untilWaiting("a", 1);

        lab().faults.faultBegan("restart");
        restartEmpty();
        lab().faults.faultEnded("restart");

        FaultCases.assertLostSoon(holding);
        waiting.held();
        waiting.untilRenewed();
        waiting.release();
        // The waiter may be served before the holder knows, so nothing is said about overlaps.
        HistoryReport report = lab().report();
        if (tokensRiseAllTheSame()) {
            assertThat(report.tokenRegressions()).isEmpty();
        }
        assertThat(report.leaks()).isEmpty();
    }
}
