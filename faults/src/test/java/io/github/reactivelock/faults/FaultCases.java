package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testkit.history.HistoryReport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The rows of the fault matrix that make sense for every store, with those of {@link NetworkCases} and {@link
 * LeaderCases}. A subclass brings the store, and adds the rows about
 * what not every store can do: {@link RestartCases}, {@link EmptyCases}. Each row is judged by its history. A class has
 * one store, so its rows run one after the other, while other classes run beside it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FaultCases implements NetworkCases, LeaderCases {

    Store store;
    private Lab lab;

    /** Starts the servers. */
    abstract Store open();

    @BeforeAll
    void openTheStore() {
        store = open();
        Lab.warmUp(store);
    }

    @BeforeEach
    void openALab() {
        lab = new Lab(store);
    }

    @AfterEach
    void closeTheLab() {
        lab.close();
    }

    @AfterAll
    void closeTheStore() {
        store.close();
    }

    @Override
    public Lab lab() {
        return lab;
    }

    /** By the word of the store, when it is asked next, and not only when the deadline passes without one. */
    static void assertLostSoon(Holding holding) {
        assertThat(Lab.error(holding.ended))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isNotEqualTo(LossReason.UNREACHABLE));
    }

    /** The waiter may be served before the holder knows, so nothing is said about overlaps. */
    static void assertNothingLeftAndTokensRise(Lab lab) {
        HistoryReport report = lab.report();
        assertThat(report.tokenRegressions()).isEmpty();
        assertThat(report.leaks()).isEmpty();
    }

    @Test
    void aStoreThatStandsStillForLessThanTheLeaseCostsNothing() {
        Holding holding = lab.person(store.longLease()).hold("a");
        LockHandle held = holding.held();
        Holding waiting = lab.person(store.longLease()).hold("a");
        lab.untilWaiting("a", 1);

        lab.broken(store::pause, store.lease().dividedBy(3), store::resume, held.renew());

        holding.untilRenewed();
        assertThat(waiting.granted).isNotDone();
        holding.release();
        waiting.held();
        waiting.release();
        lab.report().verify();
    }

    @Test
    void aStoreStalledPastALeaseIsALossAndLateAnswersOwnNothing() {
        Holding holding = lab.person().hold("a");
        holding.held();
        Person other = lab.person();
        other.hold("warm").release();

        lab.faults.faultBegan("paused");
        store.pause();
        Holding late;
        try {
            late = other.hold("b");
            Lab.pass(store.lease().plusSeconds(1));
        } finally {
            store.resume();
        }
        lab.faults.faultEnded("paused");

        assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);
        assertThat(Lab.error(late.ended)).isInstanceOf(LockUnavailableException.class);
        lab.assertCanBeHad("a", "b");
        lab.report().verify();
    }

    @Test
    void aLockThatAnOperatorDeletesIsALossSoonAndTheWaiterAcquires() {
        Holding holding = lab.person().hold("a");
        holding.held();
        Holding waiting = lab.person().hold("a");
        lab.untilWaiting("a", 1);

        store.forget("a");

        assertLostSoon(holding);
        assertThat(waiting.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        waiting.release();
        assertNothingLeftAndTokensRise(lab);
    }

    @Test
    void aForcedReleaseIsALossSoonAndTheWaiterAcquires() {
        Holding holding = lab.person(store.longLease()).hold("a");
        holding.held();
        Holding waiting = lab.person(store.longLease()).hold("a");
        lab.untilWaiting("a", 1);

        assertThat(lab.person().lock().forceRelease("a").block(LIMIT)).isTrue();

        assertLostSoon(holding);
        assertThat(waiting.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        waiting.release();
        assertNothingLeftAndTokensRise(lab);
    }

    @Test
    void aCleanCloseHandsOverAtOnceAndLeavesNoConnection() {
        Way way = lab.way();
        Person leaving = lab.person(way, store.longLease());
        Person staying = lab.person(store.longLease());
        Holding holding = leaving.hold("a");
        holding.held();
        Holding other = staying.hold("b");
        other.held();
        Holding next = staying.hold("a");
        Holding failing = leaving.hold("b");
        lab.untilWaiting("a", 1);
        lab.untilWaiting("b", 1);
        assertThat(way.connections()).isPositive();

        leaving.lock().close().block(LIMIT);

        assertThat(Lab.error(failing.ended)).isInstanceOf(LockClientClosedException.class);
        assertThat(Lab.error(holding.ended))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.CLIENT_CLOSED));
        next.held();
        Lab.eventually("no connection is left", () -> way.connections() == 0);
        next.release();
        other.release();
        lab.report().verify();
    }

    /** Stopped, then resumed, then killed: one after the other, because a process takes long to start. */
    @Test
    void aStoppedClientDoesNoHarmAndAKilledOnesLockPassesInTime() {
        try (Processes two = new Processes(store)) {
            ClientProcess holder = two.holder();
            ClientProcess waiter = two.waiter();
            holder.say("hold 1 a " + Processes.FOR_LONG);
            long first = two.granted(holder, "1");
            holder.say("write " + first);
            holder.heard("accepted " + first, LIMIT);
            waiter.say("hold 2 a 0");
            lab.untilWaiting("a", 1);

            lab.faults.faultBegan("stopped");
            lab.stop(holder);
            long second = two.granted(waiter, "2");
            waiter.say("write " + second);
            waiter.heard("accepted " + second, LIMIT);
            waiter.heard("released 2", LIMIT);
            waiter.say("hold 3 a " + Processes.FOR_LONG);
            long third = two.granted(waiter, "3");
            holder.resume();
            lab.faults.faultEnded("stopped");

            assertThat(holder.heard("failed 1 ", LIMIT)).contains("lost");
            holder.say("write " + first);
            holder.heard("refused " + first, LIMIT);
            long ofAnother = two.grantedAtLast(holder, "b");
            assertThat(lab.look("a"))
                    .as("its late release changed nothing")
                    .isInstanceOfSatisfying(
                            LockInfo.Held.class,
                            held -> assertThat(held.fencingToken()).isEqualTo(third));
            waiter.say("hold 5 b 0");
            lab.untilWaiting("b", 1);

            lab.faults.killed("holder");
            holder.kill();
            assertThat(two.granted(waiter, "5")).isGreaterThan(ofAnother);
            waiter.heard("released 5", LIMIT);

            waiter.close();
            assertThat(waiter.heard("left", LIMIT)).as("threads that are left").isEmpty();
            lab.events.addAll(two.events());
            HistoryReport report = lab.report();
            report.verify();
            assertThat(report.acquisitions()).isEqualTo(5);
        }
    }
}
