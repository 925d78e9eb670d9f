package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract on an ensemble of three. */
class ThreeServersContractTest extends LockBackendContract {

    private static TestingCluster cluster;
    private static CuratorFramework users;

    @BeforeAll
    static void start() throws Exception {
        cluster = new TestingCluster(3);
        cluster.start();
        users = ZooKeepers.client(cluster.getConnectString());
    }

    @AfterAll
    static void stop() throws Exception {
        users.close();
        cluster.close();
    }

    /** How far a server is behind is up to the machine: a busy one shows most. */
    @Test
    void aTryFindsALockFreeThatWasGivenBackThroughAnotherServer() {
        List<LockClient> clients = cluster.getInstances().stream()
                .map(server -> LockClient.builder(
                                ZooKeeperLockBackend.connect("127.0.0.1:" + server.getPort(), Fixture.patient()))
                        .commandTimeout(Duration.ofSeconds(15))
                        .build())
                .toList();
        String key = "given back elsewhere " + UUID.randomUUID();
        for (int i = 0; i < 300; i++) {
            release(ZooKeepers.get(clients.get(i % 3).acquire(key)));

            LockHandle tried = clients.get((i + 1) % 3).tryAcquire(key).block(ZooKeepers.LIMIT);

            assertThat(tried).as("round %s", i).isNotNull();
            release(tried);
        }
        for (LockClient client : clients) {
            var unused = client.close().block(ZooKeepers.LIMIT);
        }
    }

    private static void release(LockHandle held) {
        var unused = held.release().block(ZooKeepers.LIMIT);
    }

    @Override
    protected int cancelRaces() {
        return Math.min(200, super.cancelRaces());
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.OUTLASTS_CLIENT, Feature.AGE_OF_HOLDS, Feature.AGE_OF_WAITERS, Feature.BRIEF_OWNERS);
    }

    @Override
    protected LockBackend newBackend() {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.connect(cluster.getConnectString(), Fixture.patient());
        // Making a session takes longer than the shortest patience in the contract.
        ZooKeepers.get(backend.inspect("k"));
        return backend;
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(
                new Lent(ZooKeeperLockBackend.using(users, Fixture.patient()), () -> ZooKeepers.works(users)));
    }

    @Override
    protected void assertStoreIsClean() {
        ZooKeepers.untilCaughtUp(users);
        ZooKeepers.assertNoClaims(users);
    }
}
