package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.faults.Lab.Holding;
import org.junit.jupiter.api.Test;

/**
 * The fault matrix of H2 behind its TCP server. It has no row for a server that comes back empty, as {@link
 * PostgresMatrixTest} says, and pushes nothing. An H2 inside the process has no faults but the process's.
 */
class H2MatrixTest extends FaultCases implements RestartCases {

    @Override
    Store open() {
        return SqlStore.h2();
    }

    /**
     * Left out: H2's client prepares each statement with a question of its own, so nothing is done while answers are
     * lost.
     */
    @Override
    public void anAnswerLostAfterTheActIsOneHoldOrNone() {}

    /**
     * Left out: H2's client waits for an answer on the thread that asks, for as long as TCP does. docs/guarantees.md
     * says so.
     */
    @Override
    public void aForgottenConnectionCostsNeitherTheHoldNorThePlaceInTheQueue() {}

    /** Left out, as above. */
    @Override
    public void aWaiterWhosePushesAreForgottenDoesNotHoldUpTheOthers() {}

    /** Left out, as above. */
    @Override
    public void aWaiterWhosePushesEndedAtTheStoreIsServedInTheEnd() {}

    /** A release that never arrived, as on a busy machine, leaves a row; the lock is free when the lease ends. */
    @Test
    void aRowThatOutlivesItsLeaseIsNothingLeft() {
        Way way = lab().way();
        Holding holding = lab().person(way).hold("a");
        holding.held();
        lab().faults.faultBegan("network");
        way.cut();

        assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);

        lab().report().verify();
    }

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
