package io.github.reactivelock.reliability;

/**
 * The fault matrix of H2 behind its TCP server. It has no row for a server that comes back empty, as {@link
 * PostgresMatrixTest} says, and pushes nothing, like MariaDB. An H2 inside the process has no faults but the process's.
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

    @Override
    public void restart() {
        ((SqlStore) store).restart();
    }
}
