package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
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

    /** What was lost with the data is not given to a flow behind it. */
    @Test
    default void anIdleLockIsForgottenWithItsStoreAndTheNextFlowAsks() {
        Person keeper = lab().keeper(lab().way());
        long token = lab().kept(keeper, "a");

        lab().faults.faultBegan("restart");
        restartEmpty();
        lab().faults.faultEnded("restart");

        Holding next = lab().person(lab().store.longLease()).hold("a");
        next.held();
        Holding back = lab().waiting(keeper, "a");
        next.release();
        back.held();
        back.release();
        HistoryReport report = lab().report();
        if (tokensRiseAllTheSame()) {
            assertThat(next.held().fencingToken()).isGreaterThan(token);
            assertThat(report.tokenRegressions()).isEmpty();
        }
        assertThat(report.overlaps()).isEmpty();
        assertThat(report.leaks()).isEmpty();
    }

    @Test
    default void aStoreRestartedEmptyIsASoonLossAndTheWaiterAcquires() {
        Holding holding = lab().person(lab().store.longLease()).hold("a");
        holding.held();
        Holding waiting = lab().person(lab().store.longLease()).hold("a");
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
