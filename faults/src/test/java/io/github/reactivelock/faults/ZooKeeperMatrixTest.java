package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.faults.Lab.Holding;
import org.junit.jupiter.api.Test;

/**
 * The fault matrix of ZooKeeper. Pushes come over the connection that everything else uses, so all of it is broken
 * where others have one for pushes alone. The row about a server that comes back empty is another one here, because
 * ZooKeeper refuses clients that have seen more than it has, until their sessions are over. The row about a session
 * that expires is in {@code SessionTest} of the module, that about servers of an ensemble in
 * {@code RollingRestartTest}.
 */
class ZooKeeperMatrixTest extends FaultCases implements RestartCases, KeptCases {

    @Override
    Store open() {
        return new ZooKeeperStore();
    }

    @Override
    public void restart() {
        ((ZooKeeperStore) store).restart();
    }

    @Test
    void aServerRestartedEmptyServesNewClientsAndOldHoldersLoseTheirs() {
        Holding holding = lab().person().hold("a");
        holding.held();

        lab().faults.faultBegan("restart");
        ((ZooKeeperStore) store).restartEmpty();
        lab().faults.faultEnded("restart");
        Lab.Person fresh = lab().person();
        Holding next = fresh.hold("a");

        assertThat(next.held().isHeld()).isTrue();
        assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);
        next.untilRenewed();
        next.release();
        assertThat(lab().report().leaks()).isEmpty();
    }
}
