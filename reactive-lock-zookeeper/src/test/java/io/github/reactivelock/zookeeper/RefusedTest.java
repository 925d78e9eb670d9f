package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** Users and passwords, and what is said when ZooKeeper cannot or will not answer. */
class RefusedTest extends Fixture {

    private Throwable refusal(ZooKeeperLockBackend backend) {
        LockClient client = client(backend);
        Throwable refused = ZooKeepers.error(client.tryAcquire(key));
        ZooKeepers.get(client.close());
        return refused;
    }

    @Test
    void nobodyListensThere() throws InterruptedException {
        // Who asks why has a tenth of the command timeout, in which a busy machine may not get an answer.
        ZooKeepers.until("the cause is named", () -> {
            Throwable refused = refusal(ZooKeeperLockBackend.connect("127.0.0.1:1"));
            assertThat(refused)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("ZooKeeper at 127.0.0.1:1 cannot be reached (127.0.0.1:1 ");
            return refused.getMessage().contains("Connection refused");
        });
    }

    @Test
    void whatIsNoConnectStringIsRefused() {
        for (String bad : List.of("", " ", "http://localhost:2181", "me:s3cret@localhost:2181", "host:2181/a//b")) {
            assertThatThrownBy(() -> ZooKeeperLockBackend.connect(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("host:2181")
                    .hasMessageNotContaining("s3cret");
        }
    }

    @Test
    void aPathThatDoesNotExistIsNamed() {
        assertThat(refusal(ZooKeeperLockBackend.connect(server.getConnectString() + "/nowhere", patient())))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("path at the end of the connect string");
    }

    @Test
    void aClientThatWasNotStartedIsNamed() {
        CuratorFramework latent = CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(10));

        assertThat(refusal(ZooKeeperLockBackend.using(latent)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("must be started");
    }

    @Test
    void onlyTheUserWhoMadeTheLocksIsAllowedThere() {
        ZooKeeperBackendOptions options = patient().withPrefix("private");
        ZooKeeperBackendOptions login = options.withDigest("locks", "s3cret");
        LockClient one = client(ZooKeeperLockBackend.connect(server.getConnectString(), login));
        LockClient other = client(ZooKeeperLockBackend.connect(server.getConnectString(), login));
        LockHandle held = ZooKeepers.get(one.acquire(key));
        CompletableFuture<LockHandle> next = other.acquire(key).toFuture();

        for (ZooKeeperBackendOptions wrong : List.of(options, options.withDigest("locks", "wr0ng"))) {
            assertThat(ZooKeepers.error(client(ZooKeeperLockBackend.connect(server.getConnectString(), wrong))
                            .acquire(key)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("denies this client the nodes below /private")
                    .hasMessageNotContaining("wr0ng");
        }

        assertThat(ZooKeepers.get(other.forceRelease(key))).isTrue();
        assertThat(ZooKeepers.get(held.lost()).fencingToken()).isEqualTo(held.fencingToken());
        ZooKeepers.get(ZooKeepers.get(next).release());
    }

    @Test
    void aUserWhoMayOnlyReadIsToldSoByReady() throws Exception {
        LockClient writes = client();
        ZooKeepers.get(writes.ready().thenReturn(true));
        zookeeper
                .create()
                .withACL(List.of(new ACL(ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath("/readonly");
        LockClient reads = client(ZooKeeperLockBackend.connect(
                server.getConnectString(), patient().withPrefix("readonly")));

        assertThat(ZooKeepers.get(reads.inspect(key)).isFree()).isTrue();
        assertThat(ZooKeepers.error(reads.ready()))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("denies this client the nodes below /readonly");
    }

    /** Its hold needs nothing that is denied; its release and its next claim do. */
    @Test
    void aLockThatIsDeniedFromNowOnCostsNoOther() throws Exception {
        LockClient client = client();
        LockClient other = client();
        LockHandle good = ZooKeepers.get(client.acquire(key + " good"));
        LockHandle bad = ZooKeepers.get(client.acquire(key));
        String lock = new KeyLayout(patient().prefix()).lock(key);

        permit(ZooDefs.Perms.READ | ZooDefs.Perms.ADMIN, lock);

        assertThat(ZooKeepers.error(other.acquire(key))).hasMessageContaining("denies this client");
        ZooKeepers.get(ZooKeepers.get(other.acquire(key + " beside")).release());
        ZooKeepers.get(good.renew());
        ZooKeepers.get(bad.renew());
        assertThat(ZooKeepers.error(bad.release()))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("denies this client");
        ZooKeepers.get(good.release());
        assertThat(ZooKeepers.get(other.inspect(key + " good")).isFree()).isTrue();

        permit(ZooDefs.Perms.ALL, lock);
        ZooKeepers.until(
                "its release is said again",
                () -> ZooKeepers.get(other.inspect(key)).isFree());
    }

    private void permit(int permissions, String path) throws Exception {
        zookeeper
                .setACL()
                .withACL(List.of(new ACL(permissions, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
                .forPath(path);
    }

    @Test
    void readyLeavesNothingBehind() throws Exception {
        zookeeper.create().forPath("/quiet");
        Stat before = ZooKeepers.stat(zookeeper, "/quiet");
        ZooKeeperBackendOptions quiet = patient().withPrefix("quiet");

        ZooKeepers.get(client(ZooKeeperLockBackend.connect(server.getConnectString(), quiet))
                .ready()
                .thenReturn(true));

        Stat after = ZooKeepers.stat(zookeeper, "/quiet");
        assertThat(after.getCversion()).isEqualTo(before.getCversion());
    }

    @Test
    void aClosedBackendLeavesNoThreadOfItsClient() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        LockClient client = client();
        ZooKeepers.get(ZooKeepers.get(client.acquire(key)).release());

        ZooKeepers.get(client.close());

        ZooKeepers.until(
                "no thread of Curator or ZooKeeper is left",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName)
                        .filter(name -> !name.startsWith("reactive-lock-work-")) // of all clients
                        .noneMatch(name -> name.startsWith("Curator-")
                                || name.contains("-SendThread")
                                || name.contains("-EventThread")
                                || name.startsWith("reactive-lock")));
    }

    @Test
    void withoutAMajorityTheCauseIsNamed() throws Exception {
        try (TestingCluster cluster = new TestingCluster(3)) {
            cluster.start();
            LockClient client = promptClient(ZooKeeperLockBackend.connect(cluster.getConnectString()));
            LockHandle first = ZooKeepers.get(ZooKeepers.patiently(client.acquire(key)));
            ZooKeepers.get(first.release());
            List<InstanceSpec> servers = new ArrayList<>(cluster.getInstances());
            assertThat(cluster.killServer(servers.get(0))).isTrue();
            assertThat(cluster.killServer(servers.get(1))).isTrue();

            // The first questions may still find the connection that the kill is just cutting.
            ZooKeepers.until("the missing majority is named", () -> {
                Throwable refused = ZooKeepers.error(client.tryAcquire(key));
                assertThat(refused).isInstanceOf(LockUnavailableException.class);
                return refused.getMessage().contains("majority");
            });
            assertThat(ZooKeepers.error(client.ready())).isInstanceOf(LockUnavailableException.class);
        }
    }

    @Test
    void aServerThatOnlyReadsWithoutItsMajorityIsNotReady() throws Exception {
        System.setProperty("readonlymode.enabled", "true");
        try (TestingCluster cluster = new TestingCluster(3)) {
            cluster.start();
            List<InstanceSpec> servers = new ArrayList<>(cluster.getInstances());
            assertThat(cluster.killServer(servers.get(0))).isTrue();
            assertThat(cluster.killServer(servers.get(1))).isTrue();
            try (CuratorFramework users = CuratorFrameworkFactory.builder()
                    .connectString("127.0.0.1:" + servers.get(2).getPort())
                    .retryPolicy(new RetryOneTime(100))
                    .ensembleTracker(false)
                    .canBeReadOnly(true)
                    .build()) {
                users.start();
                ZooKeepers.until("it reads", () -> isReading(users));
                LockClient client = promptClient(ZooKeeperLockBackend.using(users));

                // A busy machine is late with the answer.
                ZooKeepers.until("what it refuses is named", () -> {
                    Throwable refused = ZooKeepers.error(client.ready());
                    assertThat(refused).isInstanceOf(LockUnavailableException.class);
                    return refused.getMessage().contains("is read-only now");
                });
            }
        } finally {
            System.clearProperty("readonlymode.enabled");
        }
    }

    private static boolean isReading(CuratorFramework client) {
        try {
            return client.getZookeeperClient().getZooKeeper().getState() == ZooKeeper.States.CONNECTEDREADONLY;
        } catch (Exception e) { // not yet
            return false;
        }
    }
}
