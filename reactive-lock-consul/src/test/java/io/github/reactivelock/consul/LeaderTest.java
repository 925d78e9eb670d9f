package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.ConsulServer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three servers of which one, the leader, is killed. */
class LeaderTest {

    private static final Duration LEASE = Duration.ofMinutes(1);
    private static List<ConsulServer> members;

    @BeforeAll
    static void start() {
        members = ConsulServer.cluster(3);
    }

    @AfterAll
    static void stop() {
        members.forEach(ConsulServer::close);
    }

    /** One that was removed from the cluster gets its vote again only some seconds after it came back. */
    @BeforeEach
    void eachHasAVote() {
        Consuls.until("each has a vote", () -> votes() == members.size());
    }

    private static int votes() {
        try {
            return members.get(0).ask("GET", "operator/raft/configuration", "").split("\"Voter\":true", -1).length - 1;
        } catch (UncheckedIOException e) { // no leader
            return 0;
        }
    }

    /** Its holds last while a busy machine elects a leader. */
    private static LockClient client(String agents) {
        return LockClient.builder(
                        ConsulLockBackend.connect(agents, Consuls.patient().withSessionTtl(LEASE)))
                .options(LockOptions.defaults().withLease(LEASE))
                .commandTimeout(Duration.ofSeconds(15))
                .build();
    }

    private static LockClient client() {
        String agents = members.stream().map(ConsulServer::uri).collect(Collectors.joining(","));
        return client(agents);
    }

    @Test
    void aHoldAndAWaiterSurviveTheDeathOfTheLeader() {
        String key = "leader " + UUID.randomUUID();
        LockClient holding = client();
        LockClient waiting = client();
        LockHandle held = Consuls.get(holding.acquire(key));
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        Consuls.until(
                "it waits",
                () -> Consuls.get(holding.inspect(key))
                        .held()
                        .map(info -> info.waiters() == 1)
                        .orElse(false));
        ConsulServer leader =
                members.stream().filter(ConsulServer::isLeader).findFirst().orElseThrow();

        leader.kill();

        Consuls.done(Consuls.patiently(held.renew()));
        assertThat(held.isHeld()).isTrue();
        assertThat(next).isNotDone();
        Consuls.done(held.release());
        Consuls.until("the waiter is served", next::isDone);
        assertThat(next.join().fencingToken()).isGreaterThan(held.fencingToken());
        Consuls.done(next.join().release());
        leader.restart();
        Consuls.done(holding.close());
        Consuls.done(waiting.close());
    }

    @Test
    void withoutAMajorityItIsNotReady() {
        LockClient client = LockClient.builder(
                        ConsulLockBackend.connect(members.get(0).uri(), Consuls.patient()))
                .commandTimeout(Duration.ofSeconds(15))
                .build();
        Consuls.done(client.ready());
        List<ConsulServer> others = members.subList(1, 3);
        others.forEach(ConsulServer::kill);

        Consuls.until("it is not ready", () -> isUnavailable(client));

        ConsulServer.restart(others);
        Consuls.done(Consuls.patiently(client.ready()));
        Consuls.done(client.close());
    }

    /** The leader may answer for as long as it is one. */
    private static boolean isUnavailable(LockClient client) {
        return Consuls.get(client.ready().thenReturn(false).onErrorReturn(LockUnavailableException.class, true));
    }

    @Test
    void aHoldOutlastsTheServerOfItsSessionThatLeftTheCatalog() {
        ConsulServer first = members.stream()
                .filter(member -> !member.isLeader())
                .findFirst()
                .orElseThrow();
        ConsulServer another =
                members.stream().filter(member -> member != first).findFirst().orElseThrow();
        LockClient holding = client(first.uri() + "," + another.uri());
        LockHandle held = Consuls.get(holding.acquire("leaving " + UUID.randomUUID()));
        String node = first.ask("GET", "agent/self", "").replaceAll("(?s).*\"NodeName\":\"([^\"]+)\".*", "$1");

        first.kill();

        Consuls.until(
                "the others forget it",
                () -> !another.ask("GET", "catalog/nodes", "").contains(node));
        Consuls.done(Consuls.patiently(held.renew()));
        assertThat(held.isHeld()).isTrue();
        Consuls.done(held.release());
        first.restart();
        Consuls.done(holding.close());
    }
}
