package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;

/** A backend that is closed while ZooKeeper cannot be asked, over a client whose session goes on. */
class ClosedWhileCutOffTest extends ProxiedFixture {

    @Test
    void itsNodesAreRemovedWhenTheConnectionIsBack() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(proxied(), 1_000)) {
            LockClient client = promptClient(ZooKeeperLockBackend.using(users));
            LockHandle held = ZooKeepers.get(ZooKeepers.patiently(client.acquire(key)));

            proxy.cut();
            ZooKeepers.get(client.close().thenReturn(true));
            assertThat(held.isHeld()).isFalse();
            for (int i = 0; i < 2; i++) { // what was asked before has failed then
                assertThatThrownBy(() -> ZooKeepers.works(users)).hasRootCauseInstanceOf(KeeperException.class);
            }
            proxy.mend();

            ZooKeepers.until(
                    "its claim is gone", () -> ZooKeepers.claims(zookeeper).isEmpty());
            ZooKeepers.until(
                    "its notice node is gone",
                    () -> ZooKeepers.children(zookeeper, "/reactivelock").stream()
                            .noneMatch(name -> name.startsWith("!")));
        }
    }
}
