package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.testservers.RedisServer;
import org.junit.jupiter.api.Test;

/**
 * The fault matrix of a quorum of five Redis, of which a majority stands still where others have one server. The row
 * for servers that restart is another one here: a node that comes back, with its data or without, is not counted for a
 * lease, so that a majority of such nodes is no lock at all. One of five that restarts empty is in
 * {@code RedisQuorumFaultTest} of the Lettuce module, with the other rows about a minority. It has no rows for shares.
 */
class QuorumMatrixTest extends FaultCases {

    @Override
    Store open() {
        return new QuorumStore();
    }

    @Test
    void aMajorityRestartedEmptyIsALossWithoutAnotherHolder() {
        QuorumStore five = (QuorumStore) store;
        Holding holding = lab().person().hold("a");
        holding.held();
        Lab.Person other = lab().person();
        other.hold("b").release();

        lab().faults.faultBegan("restarts");
        five.servers.subList(0, QuorumStore.MAJORITY).forEach(RedisServer::restartEmpty);
        assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);
        five.untilAllCount();
        lab().faults.faultEnded("restarts");

        Holding next = other.hold("a");
        assertThat(next.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        next.release();
        lab().report().verify();
    }
}
