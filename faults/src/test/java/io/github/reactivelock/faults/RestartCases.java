package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.faults.Lab.Holding;
import org.junit.jupiter.api.Test;

/**
 * The rows of the fault matrix for stores that are killed and come back with their data within a lease; all of them
 * keep shares.
 */
interface RestartCases extends SharedCases {

    /** {@code kill -9}, then a start with what was there. */
    void restart();

    @Test
    default void aStoreRestartedWithItsDataCostsNothingAndRenewalsGoOn() {
        Holding holding = lab().person(lab().store.longLease()).hold("a");
        long token = holding.held().fencingToken();
        Holding waiting = lab().person(lab().store.longLease()).hold("a");
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

    @Test
    default void readersBehindAWriterGetInTogetherAfterARestart() {
        Holding writing = lab().person(lab().store.longLease()).hold("a");
        long token = writing.held().fencingToken();
        Holding one = lab().person(lab().store.longLease()).reader().hold("a");
        Holding two = lab().person(lab().store.longLease()).reader().hold("a");
        lab().untilWaiting("a", 2);

        lab().faults.faultBegan("restart");
        restart();
        lab().faults.faultEnded("restart");

        writing.untilRenewed();
        assertThat(one.granted).isNotDone();
        assertThat(two.granted).isNotDone();
        writing.release();
        assertThat(one.held().fencingToken()).isGreaterThan(token);
        assertThat(two.held().fencingToken()).isGreaterThan(token);
        one.untilRenewed();
        two.untilRenewed();
        assertThat(lab().tokensInside("a")).hasSize(2);
        one.release();
        two.release();
        lab().report().verify();
    }
}
