package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LockInfo;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.Test;

/** More claims on one lock, or more locks, than fit into one answer of the usual size. */
class CrowdTest extends Fixture {

    private static final int MANY = 25_000;

    private final Queue<String> paths = new ConcurrentLinkedQueue<>();
    private final KeyLayout names = new KeyLayout("reactivelock");

    private void make(CreateMode mode, String parent, String prefix) throws Exception {
        CountDownLatch made = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            zookeeper
                    .create()
                    .withMode(mode)
                    .inBackground((client, event) -> {
                        paths.add(event.getName());
                        made.countDown();
                    })
                    .forPath(parent + "/" + prefix + i + ":", new byte[0]);
        }
        assertThat(made.await(4, TimeUnit.MINUTES)).isTrue();
    }

    /** Their names would not fit into an answer for this client either. */
    private void remove() throws Exception {
        CountDownLatch removed = new CountDownLatch(paths.size());
        for (String path : paths) {
            zookeeper
                    .delete()
                    .inBackground((client, event) -> removed.countDown())
                    .forPath(path);
        }
        assertThat(removed.await(4, TimeUnit.MINUTES)).isTrue();
        paths.clear();
    }

    @Test
    void aClientOfOursReadsALongLineAndLosesNothing() throws Exception {
        LockHandle owner = ZooKeepers.get(client().acquire(key));
        String longId = "a".repeat(30);
        make(CreateMode.EPHEMERAL_SEQUENTIAL, names.lock(key), longId);
        LockClient lock = client();
        LockHandle other = ZooKeepers.get(lock.acquire("other" + key));
        try {
            assertThat(ZooKeepers.get(lock.tryAcquire(key).hasElement())).isFalse();
            assertThat(ZooKeepers.get(lock.inspect(key)))
                    .isInstanceOfSatisfying(
                            LockInfo.Held.class,
                            held -> assertThat(held.waiters()).isEqualTo(MANY));
            assertThat(other.isHeld()).isTrue();
        } finally {
            remove();
        }
        ZooKeepers.get(other.release());
        ZooKeepers.get(owner.release());
    }

    @Test
    void anApplicationsClientIsWarnedOfALongLineAndKeepsItsLocks() throws Exception {
        LockHandle owner = ZooKeepers.get(client().acquire(key));
        String longId = "b".repeat(30);
        make(CreateMode.EPHEMERAL_SEQUENTIAL, names.lock(key), longId);
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            long session = users.getZookeeperClient().getZooKeeper().getSessionId();
            ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.using(users, patient()));
            LockClient lock = client(backend);
            LockHandle other = ZooKeepers.get(lock.acquire("other" + key));
            Claim waiting = claim();

            for (Throwable refused : List.of(
                    ZooKeepers.error(lock.tryAcquire(key)),
                    ZooKeepers.error(lock.inspect(key)),
                    ZooKeepers.error(backend.claim(waiting)))) {
                assertThat(refused)
                        .hasMessageContaining(MANY + 1 + " nodes below /reactivelock/" + key)
                        .hasMessageContaining("jute.maxbuffer");
            }

            assertThat(other.isHeld()).isTrue();
            assertThat(users.getZookeeperClient().isConnected()).isTrue();
            assertThat(users.getZookeeperClient().getZooKeeper().getSessionId()).isEqualTo(session);
            ZooKeepers.get(other.release());
            remove();
            Boolean unused = ZooKeepers.get(backend.release(waiting));
            closeAll();
        }
        assertThat(owner.isHeld()).isFalse(); // its client was closed, too
    }

    @Test
    void manyLocksThatAreFreeAreInTheWayOfNoList() throws Exception {
        LockClient lock = client();
        LockHandle held = ZooKeepers.get(lock.acquire(key));
        String prefix = "free-" + UUID.randomUUID();
        make(CreateMode.PERSISTENT, names.root(), prefix);
        try {
            assertThat(ZooKeepers.get(lock.list(key).map(LockInfo.Held::key).collectList()))
                    .containsExactly(key);
            assertThat(held.isHeld()).isTrue();
        } finally {
            remove();
        }
        ZooKeepers.get(held.release());
    }
}
