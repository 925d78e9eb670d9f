package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Three servers, and each of them is killed once, the leader too, while several clients want the same lock. */
class RollingRestartTest {

    private static final int CLIENTS = 6;

    /** When one turn held the lock, by one clock. */
    private record Turn(int client, long token, long from, long until) {}

    private final Queue<Turn> turns = new ConcurrentLinkedQueue<>();

    @Test
    void killingEachServerInTurnCostsNeitherExclusionNorTheOrderOfTokens() throws Exception {
        try (TestingCluster cluster = new TestingCluster(3)) {
            cluster.start();
            List<LockClient> clients = IntStream.range(0, CLIENTS)
                    .mapToObj(i -> client(cluster.getConnectString()))
                    .toList();
            AtomicBoolean enough = new AtomicBoolean();
            CompletableFuture<Void> all = Flux.range(0, CLIENTS)
                    .flatMap(i -> turn(i, clients.get(i)).repeat(() -> !enough.get()), CLIENTS)
                    .then()
                    .toFuture();
            ZooKeepers.until("the contention is under way", () -> turns.size() >= CLIENTS);

            for (InstanceSpec server : new ArrayList<>(cluster.getInstances())) {
                assertThat(cluster.killServer(server)).isTrue();
                int before = turns.size();
                ZooKeepers.until("turns go on without it", () -> turns.size() > before + CLIENTS);
                assertThat(cluster.restartServer(server)).isTrue();
                int again = turns.size();
                ZooKeepers.until("turns go on with it", () -> turns.size() > again + CLIENTS);
            }
            enough.set(true);

            assertThat(all).succeedsWithin(ZooKeepers.LIMIT);
            assertNoTwoAtOnce();
            Flux.fromIterable(clients).flatMap(LockClient::close).then().block(ZooKeepers.LIMIT);
            try (CuratorFramework zookeeper = ZooKeepers.client(cluster.getConnectString())) {
                ZooKeepers.until(
                        "no claim is left", () -> ZooKeepers.claims(zookeeper).isEmpty());
            }
        }
    }

    private static LockClient client(String connectString) {
        return LockClient.builder(ZooKeeperLockBackend.connect(
                        connectString, Fixture.patient().withSessionTimeout(Duration.ofSeconds(40))))
                .commandTimeout(Duration.ofSeconds(15))
                .options(LockOptions.defaults().withFairness(Fairness.FIFO))
                .build();
    }

    private Mono<Void> turn(int client, LockClient lock) {
        return lock.withLock("k", held -> hold(client, held))
                // A server may die with a question that nobody can answer; asking again is the user's part.
                .retryWhen(Retry.fixedDelay(20, Duration.ofMillis(100)))
                .then();
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
