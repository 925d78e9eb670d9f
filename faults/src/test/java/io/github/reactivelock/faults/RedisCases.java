package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * The rows of the fault matrix about what only Redis has: scripts, a limit on memory, ACLs, and {@code CLIENT PAUSE}.
 */
interface RedisCases {

    /** The lab of the row that runs. */
    Lab lab();

    /** The server of that lab. */
    RedisServer server();

    /** A client that logs in. */
    Person person(String user, String password);

    @Test
    default void clientsThatAreMadeToPauseForLessThanTheLeaseLoseNothing() {
        Holding holding = lab().person(Lab.LONG_LEASE).hold("a");
        LockHandle held = holding.held();

        String time = Long.toString(LEASE.dividedBy(3).toMillis());
        Runnable pause = () -> server().command("CLIENT", "PAUSE", time, "ALL");
        lab().broken(pause, LEASE.dividedBy(3), () -> {}, held.renew());

        holding.untilRenewed();
        holding.release();
        lab().report().verify();
    }

    /** So is one whose process was killed: to the server that is the same. */
    @Test
    default void aWaiterCutOffAtTheHeadIsPassedOverAndServedOnReturn() {
        Way way = lab().way();
        Holding first = lab().person(Lab.LONG_LEASE).hold("a");
        first.held();
        Holding gone = lab().person(way, Lab.LIMIT).hold("a");
        lab().untilWaiting("a", 1);
        Holding alive = lab().person().hold("a");
        lab().untilWaiting("a", 2);
        Lab.eventually("both are known to listen", () -> lab().store.canTellAll("a"));

        lab().faults.faultBegan("cut off");
        way.cut();
        Lab.eventually("the server knows", () -> !lab().store.canTellAll("a"));
        first.release();
        assertThat(lab().look("a").held().orElseThrow().fencingToken())
                .as("at once, and not after a lease of the one that is gone")
                .isEqualTo(alive.held().fencingToken());
        assertThat(gone.granted).isNotDone();
        way.mend();
        lab().faults.faultEnded("cut off");

        alive.release();
        gone.held();
        gone.release();
        lab().report().verify();
    }

    @Test
    default void aStoreThatIsFlushedIsALossSoonAndTheWaiterAcquires() {
        Holding holding = lab().person().hold("a");
        holding.held();
        Holding waiting = lab().person().hold("a");
        lab().untilWaiting("a", 1);

        server().command("FLUSHALL");

        FaultCases.assertLostSoon(holding);
        assertThat(waiting.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        waiting.release();
        FaultCases.assertNothingLeftAndTokensRise(lab());
    }

    @Test
    default void scriptsThatWereFlushedAreLoadedAgainForRenewalReleaseAndClaim() {
        Holding holding = lab().person(Lab.LONG_LEASE).hold("a");
        holding.held();
        Holding waiting = lab().person(Lab.LONG_LEASE).hold("a");
        lab().untilWaiting("a", 1);

        server().command("SCRIPT", "FLUSH");
        holding.untilRenewed();
        server().command("SCRIPT", "FLUSH");
        holding.release();
        waiting.held();
        server().command("SCRIPT", "FLUSH");
        waiting.release();
        lab().report().verify();
    }

    @Test
    default void aFullMemoryIsNamedToWhoeverAsksAndTakesNothingFromTheHolder() {
        Holding holding = lab().person(Lab.LONG_LEASE).hold("a");
        holding.held();
        server().command("CONFIG", "SET", "maxmemory", "1");
        try {
            for (String key : List.of("a", "b")) {
                // A client each: a claim that leaves together with a release is let in behind it.
                assertThat(Lab.error(lab().person().hold(key).ended))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("'" + key + "'")
                        .hasMessageContaining("maxmemory");
            }
            holding.untilRenewed();
            holding.release();
        } finally {
            server().command("CONFIG", "SET", "maxmemory", "0");
        }

        lab().assertCanBeHad("a", "b");
        lab().report().verify();
    }

    @Test
    default void aLockRefusedByAFullServerCostsNoOtherHold() {
        Person one = lab().person();
        Person other = lab().person();
        Holding whole = one.hold("whole");
        Holding good = one.permits(1, 2).hold("good");
        Holding beside = other.permits(1, 2).hold("good");
        Holding bad = one.permits(1, 2).hold("bad");
        Holding badOfOther = other.permits(1, 2).hold("bad");
        List<Holding> all = List.of(whole, good, beside, bad, badOfOther);
        all.forEach(Holding::held);

        server().command("DEL", "{reactivelock:bad}:queue");
        server().command("SET", "{reactivelock:bad}:queue", "something else");
        server().command("CONFIG", "SET", "maxmemory", "1");
        try {
            for (Holding lost : List.of(bad, badOfOther)) {
                assertThat(Lab.error(lost.ended))
                        .hasRootCauseMessage("WRONGTYPE Operation against a key holding the" + " wrong kind of value");
            }
            List.of(whole, good, beside).forEach(Holding::untilRenewed);
        } finally {
            server().command("CONFIG", "SET", "maxmemory", "0");
        }

        List.of(whole, good, beside).forEach(Holding::release);
        server().command("DEL", "{reactivelock:bad}", "{reactivelock:bad}:queue", "{reactivelock:bad}:waiters");
        FaultCases.assertNothingLeftAndTokensRise(lab());
    }

    @Test
    default void aReadOnlyReplicaIsNamed() {
        Person one = lab().person();
        lab().faults.faultBegan("read only"); // which passes with a fail-over, so it is waited for
        server().command("REPLICAOF", "127.0.0.1", "1");
        try {
            assertThat(Lab.error(one.hold("a").ended))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("read-only replica");
        } finally {
            server().command("REPLICAOF", "NO", "ONE");
        }
        lab().faults.faultEnded("read only");

        lab().report().verify();
    }

    @Test
    default void aWrongPasswordIsNamedAndNotRepeated() {
        server().command("ACL", "SETUSER", "known", "on", ">right", "~*", "&*", "+@all");

        assertThat(Lab.error(person("known", "marker-password").hold("a").ended))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("WRONGPASS")
                .satisfies(error -> assertThat(Texts.everything(error)).doesNotContain("marker-password"));
        lab().closeClients();
    }

    @Test
    default void aUserWhoMayNotListenFailsToWaitAndMayTakeFreeLocks() {
        server().command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "&none", "+@all");
        Person deaf = person("deaf", "pw");
        Holding holding = lab().person(Lab.LONG_LEASE).hold("a");
        holding.held();

        assertThat(Lab.error(deaf.hold("a").ended))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining("does not let this user listen")
                .hasMessageContaining("ACL SETUSER deaf &reactivelock:*");

        Holding free = deaf.hold("b");
        free.held();
        free.release();
        lab().untilWaiting("a", 0);
        server().command("ACL", "SETUSER", "deaf", "&reactivelock:*");
        CompletableFuture<LockHandle> waiting = Mono.defer(() -> deaf.lock().acquire("a"))
                .retryWhen(Retry.fixedDelay(100, Duration.ofMillis(100)))
                .toFuture();
        lab().untilWaiting("a", 1);
        holding.release();
        Lab.get(Lab.get(waiting).release().toFuture());
        lab().report().verify();
    }

    /** It was told at the first connection only. */
    @Test
    default void whyAConnectionIsNotOpenedAgainIsTold() {
        server().command("ACL", "SETUSER", "changing", "on", ">before", "~*", "&*", "+@all");
        Person one = person("changing", "before");
        one.hold("a").release();

        server().command("ACL", "SETUSER", "changing", "resetpass", ">after");
        server().command("CLIENT", "KILL", "USER", "changing");

        for (String key : List.of("b", "c")) {
            assertThat(Lab.error(one.hold(key).ended))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("WRONGPASS");
        }
        server().command("ACL", "SETUSER", "changing", "resetpass", ">before");
        lab().untilServed(one, "d");
        lab().closeClients();
    }

    /** Too few replicas, as while one of them restarts. */
    @Test
    default void aRefusalThatPassesIsWaitedOutLikeAServerThatIsAway() {
        Person one = lab().person();
        one.hold("a").release();
        long refused = refusals();
        lab().faults.faultBegan("too few replicas");
        server().command("CONFIG", "SET", "min-replicas-to-write", "1");
        Holding waiting;
        try {
            waiting = one.hold("b");
            Lab.eventually("it is refused more than once", () -> refusals() > refused + 1);
            assertThat(waiting.granted).isNotDone();
        } finally {
            server().command("CONFIG", "SET", "min-replicas-to-write", "0");
        }
        lab().faults.faultEnded("too few replicas");

        waiting.held();
        waiting.release();
        lab().report().verify();
    }

    @Test
    default void aRefusalThatPassesTooLateIsToldToThoseThatGiveUp() {
        Person one = lab().person();
        one.hold("a").release();
        lab().faults.faultBegan("too few replicas");
        server().command("CONFIG", "SET", "min-replicas-to-write", "1");
        try {
            assertThat(Lab.error(one.hold("b").ended))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("NOREPLICAS")
                    .hasMessageContaining("min-replicas-to-write");
        } finally {
            server().command("CONFIG", "SET", "min-replicas-to-write", "0");
        }
        lab().faults.faultEnded("too few replicas");

        lab().assertCanBeHad("b");
        lab().report().verify();
    }

    /** With any code: Redis 6 tells the place in a script first. */
    private long refusals() {
        return String.valueOf(server().command("INFO", "errorstats"))
                .lines()
                .filter(line -> line.startsWith("errorstat_"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf("count=") + 6)))
                .sum();
    }
}
