package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.testservers.EtcdServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Three members, and the leader fails while many clients want the same lock. */
class LeaderLossTest {

    private static final int CLIENTS = 20;
    private static final int TURNS = 6;
    /**
     * A watch on a member that hangs is silent; a third of this later the waiter asks another one. In the rest a busy
     * machine elects a leader.
     */
    private static final Duration LEASE = Duration.ofSeconds(18);

    /** When one turn held the lock, by one clock. */
    private record Turn(int client, long token, long from, long until) {}

    private final Queue<Turn> turns = new ConcurrentLinkedQueue<>();

    @Test
    void killingTheLeaderCostsNeitherExclusionNorAnybodysTurn() throws InterruptedException {
        contendWhile(EtcdServer::kill);
    }

    @Test
    void aLeaderThatHangsForSomeSecondsCostsNeitherExclusionNorAnybodysTurn() throws InterruptedException {
        contendWhile(leader -> {
            leader.pause();
            Etcds.get(Mono.delay(Duration.ofSeconds(4)));
            leader.resume();
        });
    }

    private void contendWhile(Consumer<EtcdServer> fault) throws InterruptedException {
        List<EtcdServer> members = EtcdServer.cluster(3);
        String[] endpoints = members.stream().map(EtcdServer::uri).toArray(String[]::new);
        List<LockClient> clients =
                IntStream.range(0, CLIENTS).mapToObj(i -> client(endpoints)).toList();
        try {
            EtcdServer leader =
                    members.stream().filter(EtcdServer::isLeader).findFirst().orElseThrow();
            var all = Flux.range(0, CLIENTS)
                    .flatMap(i -> turn(i, clients.get(i)).repeat(TURNS - 1), CLIENTS)
                    .then()
                    .toFuture();
            Etcds.until("the contention is under way", () -> turns.size() >= CLIENTS / 2);

            fault.accept(leader);

            assertThat(all).succeedsWithin(Duration.ofMinutes(3));
            assertNoTwoAtOnce();
            for (int i = 0; i < CLIENTS; i++) {
                int client = i;
                assertThat(turns.stream().filter(turn -> turn.client == client)).hasSize(TURNS);
            }
            try (Client etcd = Client.builder().endpoints(endpoints).build()) {
                Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(Etcds.LIMIT);
                Etcds.assertNoClaims(etcd);
            }
        } finally {
            Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(Etcds.LIMIT);
            members.forEach(EtcdServer::close);
        }
    }

    private static LockClient client(String... endpoints) {
        EtcdBackendOptions patient = EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(40));
        EtcdLockBackend backend = EtcdLockBackend.connect(Client.builder().endpoints(endpoints), patient);
        return LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(50))
                .options(LockOptions.defaults().withFairness(Fairness.FIFO).withLease(LEASE))
                .build();
    }

    private Mono<Void> turn(int client, LockClient lock) {
        return lock.withLock("k", held -> hold(client, held)).then();
    }

    private Mono<Turn> hold(int client, LockHandle held) {
        long from = System.nanoTime();
        return Mono.delay(Duration.ofMillis(3)).map(tick -> {
            Turn turn = new Turn(client, held.fencingToken(), from, System.nanoTime());
            turns.add(turn);
            return turn;
        });
    }

    private void assertNoTwoAtOnce() {
        List<Turn> inOrder = new ArrayList<>(turns);
        inOrder.sort(Comparator.comparingLong(Turn::from));
        assertThat(inOrder).hasSize(CLIENTS * TURNS);
        for (int i = 1; i < inOrder.size(); i++) {
            Turn before = inOrder.get(i - 1);
            Turn after = inOrder.get(i);
            assertThat(after.from - before.until)
                    .as("%s, then %s", before, after)
                    .isPositive();
            assertThat(after.token).as("%s, then %s", before, after).isGreaterThan(before.token);
        }
    }
}
