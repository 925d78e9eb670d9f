package io.github.reactivelock.reliability;

import static io.github.reactivelock.reliability.Lab.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.reliability.Lab.Holding;
import io.github.reactivelock.reliability.Lab.Person;
import io.github.reactivelock.testkit.history.HistoryReport;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What clients of Redis through Lettuce see when the server stops, restarts, forgets or refuses. */
class ServerFaultTest {

    /** A third of a lease, and some more for a busy machine. */
    private static final Duration SOON = LEASE.dividedBy(3).plusSeconds(2);

    private final Lab lab = new Lab("--appendonly", "yes", "--appendfsync", "no");
    private final Person one = lab.person();
    private final Person other = lab.person();

    @AfterEach
    void close() {
        lab.close();
    }

    private void stopped(String how, Duration time) {
        lab.faults.faultBegan(how);
        if (how.equals("SIGSTOP")) {
            lab.server.pause();
            Lab.pass(time);
            lab.server.resume();
        } else {
            lab.server.command("CLIENT", "PAUSE", Long.toString(time.toMillis()), "ALL");
            Lab.pass(time);
        }
        lab.faults.faultEnded(how);
    }

    private void assertLostWithin(Holding holding, Duration time) {
        assertThat(holding.ended)
                .failsWithin(time)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockLostException.class);
    }

    /** The waiter may be served before the holder knows, so nothing is said about overlaps. */
    private void assertNothingLeftAndTokensRise() {
        HistoryReport report = lab.report();
        assertThat(report.tokenRegressions()).isEmpty();
        assertThat(report.leaks()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SIGSTOP", "CLIENT PAUSE"})
    void aServerStoppedForLessThanTheLeaseCostsNothing(String how) {
        Holding holding = one.hold("a");
        holding.held();
        Holding waiting = other.hold("a");
        lab.untilWaiting("a", 1);

        stopped(how, LEASE.dividedBy(3));
        Lab.pass(LEASE);

        assertThat(holding.held().isHeld()).isTrue();
        holding.release();
        waiting.held();
        waiting.release();
        lab.report().verify();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SIGSTOP", "CLIENT PAUSE"})
    void aServerStoppedForMoreThanTheLeaseIsALossAndAnAttemptAnsweredLateOwnsNothing(String how) {
        Holding holding = one.hold("a");
        holding.held();
        Holding free = other.hold("warm");
        free.held();
        free.release();
        Holding[] late = new Holding[1];

        Thread attempt = new Thread(() -> late[0] = other.hold("b"));
        lab.faults.faultBegan("late");
        if (how.equals("SIGSTOP")) {
            lab.server.pause();
        } else {
            lab.server.command(
                    "CLIENT", "PAUSE", Long.toString(LEASE.plusSeconds(1).toMillis()), "ALL");
        }
        attempt.start();
        Lab.pass(LEASE.plusSeconds(1));
        if (how.equals("SIGSTOP")) {
            lab.server.resume();
        }
        lab.faults.faultEnded("late");

        assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);
        assertThat(Lab.error(late[0].ended)).isInstanceOf(LockUnavailableException.class);
        for (String key : new String[] {"a", "b"}) {
            Holding next = lab.person().hold(key);
            next.held();
            next.release();
        }
        lab.report().verify();
    }

    @Test
    void aServerRestartedWithItsDataCostsNothingAndRenewalsGoOn() {
        Holding holding = one.hold("a");
        long token = holding.held().fencingToken();
        Holding waiting = other.hold("a");
        lab.untilWaiting("a", 1);

        lab.faults.faultBegan("restart");
        lab.server.kill();
        lab.server.restart();
        lab.faults.faultEnded("restart");
        Lab.pass(LEASE.plusSeconds(1));

        assertThat(holding.held().isHeld()).isTrue();
        holding.release();
        assertThat(waiting.held().fencingToken()).isGreaterThan(token);
        Lab.pass(LEASE);
        assertThat(waiting.held().isHeld()).isTrue();
        waiting.release();
        lab.report().verify();
    }

    @Test
    void aServerRestartedEmptyIsALossSoonAfterItsReturnAndTheWaiterAcquires() {
        Holding holding = one.hold("a");
        holding.held();
        Holding waiting = other.hold("a");
        lab.untilWaiting("a", 1);

        lab.server.restartEmpty();

        assertLostWithin(holding, SOON);
        assertThat(waiting.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        Lab.pass(LEASE.plusMillis(500));
        assertThat(waiting.held().isHeld()).as("renewals go on").isTrue();
        waiting.release();
        assertNothingLeftAndTokensRise();
    }

    @ParameterizedTest
    @ValueSource(strings = {"FLUSHALL", "DEL {reactivelock:a}"})
    void aStoreThatForgetsTheLockIsALossSoonAndTheWaiterAcquires(String command) {
        Holding holding = one.hold("a");
        holding.held();
        Holding waiting = other.hold("a");
        lab.untilWaiting("a", 1);

        lab.server.command(command.split(" ", -1));

        assertLostWithin(holding, SOON);
        assertThat(waiting.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        waiting.release();
        assertNothingLeftAndTokensRise();
    }

    @Test
    void aForcedReleaseIsALossSoonAndTheWaiterAcquires() {
        Holding holding = one.hold("a");
        holding.held();
        Holding waiting = other.hold("a");
        lab.untilWaiting("a", 1);

        assertThat(lab.person().lock().forceRelease("a").block(Lab.LIMIT)).isTrue();

        assertLostWithin(holding, SOON);
        waiting.held();
        waiting.release();
        assertNothingLeftAndTokensRise();
    }

    @Test
    void scriptsThatWereFlushedAreLoadedAgainForRenewalReleaseAndClaim() {
        Holding holding = one.hold("a");
        holding.held();
        Holding waiting = other.hold("a");
        lab.untilWaiting("a", 1);

        for (int i = 0; i < 8; i++) {
            lab.server.command("SCRIPT", "FLUSH");
            Lab.pass(LEASE.dividedBy(6));
        }
        assertThat(holding.held().isHeld()).isTrue();
        lab.server.command("SCRIPT", "FLUSH");
        holding.release();
        waiting.held();
        lab.server.command("SCRIPT", "FLUSH");
        waiting.release();
        lab.report().verify();
    }

    @Test
    void aFullMemoryIsNamedToWhoeverAsksAndTakesNothingFromTheHolder() {
        Holding holding = one.hold("a");
        holding.held();
        lab.server.command("CONFIG", "SET", "maxmemory", "1");

        for (String key : new String[] {"a", "b"}) {
            assertThat(Lab.error(other.hold(key).ended))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("'" + key + "'")
                    .hasMessageContaining("maxmemory");
        }
        Lab.pass(LEASE);
        assertThat(holding.held().isHeld()).isTrue();
        holding.release();
        lab.server.command("CONFIG", "SET", "maxmemory", "0");

        Holding next = other.hold("a");
        next.held();
        next.release();
        lab.report().verify();
    }

    @Test
    void aReadOnlyReplicaIsNamed() {
        lab.server.command("REPLICAOF", "127.0.0.1", "1");

        assertThat(Lab.error(one.hold("a").ended))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("read-only replica");

        lab.server.command("REPLICAOF", "NO", "ONE");
        lab.report().verify();
    }

    @Test
    void aWrongPasswordIsNamedAndNotRepeated() {
        Person wrong = lab.person("redis://default:marker-password@127.0.0.1:" + lab.server.port());
        lab.server.command("ACL", "SETUSER", "default", "on", "resetpass", ">right");
        try {
            assertThat(Lab.error(wrong.hold("a").ended))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("WRONGPASS")
                    .satisfies(error -> assertThat(Texts.everything(error)).doesNotContain("marker-password"));
        } finally {
            lab.close();
        }
    }

    @Test
    void aUserWhoMayNotListenIsToldSoInsteadOfWaitingAndMayTakeWhatIsFree() {
        lab.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "&none", "+@all");
        Person deaf = lab.person("redis://deaf:pw@127.0.0.1:" + lab.server.port());
        Holding holding = one.hold("a");
        holding.held();

        assertThat(Lab.error(deaf.hold("a").ended))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining("does not let this user listen")
                .hasMessageContaining("ACL SETUSER <user> &reactivelock:*");

        Holding free = deaf.hold("b");
        free.held();
        free.release();
        lab.untilWaiting("a", 0);
        lab.server.command("ACL", "SETUSER", "deaf", "&reactivelock:*");
        CompletableFuture<LockHandle> waiting = Mono.defer(() -> deaf.lock().acquire("a"))
                .retryWhen(Retry.fixedDelay(100, Duration.ofMillis(100)))
                .toFuture();
        lab.untilWaiting("a", 1);
        holding.release();
        Lab.get(Lab.get(waiting).release().toFuture());
        lab.report().verify();
    }
}
