package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
import org.junit.jupiter.api.Test;

/**
 * The rows of the fault matrix for stores that call a lock back which its client keeps; one more is in {@link
 * EmptyCases}. In all of them the lock is idle when something breaks.
 */
interface KeptCases {

    /** The lab of the row that runs. */
    Lab lab();

    @Test
    default void aRecallThatIsLostCostsTheRestOfTheTimeItIsKept() {
        Way way = lab().way();
        Person keeper = lab().keeper(way);
        Person other = lab().person(lab().store.longLease());
        long token = lab().kept(keeper, "a");

        lab().faults.faultBegan("pushes forgotten");
        lab().store.forgetPushes(way);
        Holding next = other.hold("a");

        assertThat(next.held().fencingToken()).isGreaterThan(token);
        lab().faults.faultEnded("pushes forgotten");
        Holding back = lab().waiting(keeper, "a");
        next.release();
        assertThat(back.held().fencingToken()).isGreaterThan(next.held().fencingToken());
        back.release();
        lab().report().verify();
    }

    /** The recall may have come before the cut, and what is given back then may have arrived or not. */
    @Test
    default void aCutBetweenTheRecallAndTheReturnLeavesOneOwner() {
        Way way = lab().way();
        Person keeper = lab().keeper(way);
        Person other = lab().person(lab().store.longLease());
        for (int round = 0; round < 3; round++) {
            String key = "a" + round;
            long token = lab().kept(keeper, key);

            lab().faults.faultBegan("cut");
            Holding next = other.hold(key);
            way.cut();
            Lab.pass(lab().store.lease().dividedBy(4));
            way.mend();
            lab().faults.faultEnded("cut");

            assertThat(next.held().fencingToken()).isGreaterThan(token);
            Holding back = lab().waiting(keeper, key);
            next.release();
            assertThat(back.held().fencingToken()).isGreaterThan(next.held().fencingToken());
            back.release();
        }
        lab().report().verify();
    }

    /** First stopped and resumed, then killed: one after the other, because a process takes long to start. */
    @Test
    default void anOwnerStoppedOrKilledWhileIdleDelaysOthersForItsLease() {
        try (Processes two = new Processes(lab().store)) {
            ClientProcess keeper = two.holder();
            ClientProcess other = two.waiter();
            long first = two.kept(keeper, "a");

            lab().faults.faultBegan("stopped");
            lab().stop(keeper);
            other.say("hold 1 a 0");
            long second = two.granted(other, "1");
            assertThat(second).isGreaterThan(first);
            other.heard("released 1", LIMIT);
            other.say("hold 2 a " + Processes.FOR_LONG);
            long third = two.granted(other, "2");
            keeper.say("keep late a");
            keeper.resume();
            lab().untilWaiting("a", 1, () -> {
                assertThat(keeper.hasSaid("granted late ")).isFalse();
                if (keeper.hasSaid("failed late ")) { // it may have to connect anew
                    keeper.say("keep late a");
                }
            });
            lab().faults.faultEnded("stopped");
            assertThat(lab().look("a").held().orElseThrow().fencingToken())
                    .as("what it gives back late changes nothing")
                    .isEqualTo(third);

            long idle = two.kept(keeper, "b");
            lab().faults.killed(keeper.name());
            keeper.kill();
            other.say("hold 3 b 0");
            assertThat(two.granted(other, "3")).isGreaterThan(idle);
            other.heard("released 3", LIMIT);

            other.close();
            other.heard("left", LIMIT);
            lab().events.addAll(two.events());
            lab().report().verify();
        }
    }
}
