package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import java.util.Optional;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on one ZooKeeper. */
class ZooKeeperLockBackendContractTest extends LockBackendContract {

    private static TestingServer server;
    private static CuratorFramework users;

    @BeforeAll
    static void start() throws Exception {
        server = new TestingServer();
        users = ZooKeepers.client(server.getConnectString());
    }

    @AfterAll
    static void stop() throws Exception {
        users.close();
        server.close();
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.OUTLASTS_CLIENT, Feature.AGE_OF_HOLDS, Feature.AGE_OF_WAITERS, Feature.BRIEF_OWNERS);
    }

    @Override
    protected LockBackend newBackend() {
        ZooKeeperLockBackend backend = ZooKeeperLockBackend.connect(server.getConnectString(), Fixture.patient());
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
        ZooKeepers.assertNoClaims(users);
    }
}
