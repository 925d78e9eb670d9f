package io.github.reactivelock.zookeeper;

import static io.github.reactivelock.zookeeper.ZooKeepers.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.UUID;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;

/** Prints what a lock that is taken once leaves behind, and shows that the server removes it. */
class OneTimeKeysTest {

    private static final int KEYS = 300;
    private static final String CHECKED_EVERY = "znode.container.checkIntervalMs";
    private static final String MOST_A_MINUTE = "znode.container.maxPerMinute";

    @Test
    void aLockTakenOnceLeavesOneNodeUntilTheServerCleansUp() throws Exception {
        System.setProperty(CHECKED_EVERY, "12000");
        System.setProperty(MOST_A_MINUTE, "1000000");
        try (TestingServer server = new TestingServer();
                CuratorFramework zookeeper = ZooKeepers.client(server.getConnectString())) {
            ZooKeeperLockBackend backend = ZooKeeperLockBackend.connect(
                    server.getConnectString(),
                    ZooKeeperBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(12)));
            for (int i = 0; i < KEYS; i++) {
                Claim claim = new Claim(
                        "order:" + i, UUID.randomUUID().toString(), "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);
                assertThat(get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
                assertThat(get(backend.release(claim))).isTrue();
            }
            int left = locks(zookeeper);
            System.out.println("ZooKeeper: " + KEYS + " locks taken once leave " + left
                    + " nodes, without data, until the server looks for empty containers");
            assertThat(left).isLessThanOrEqualTo(KEYS);

            ZooKeepers.until("the server has removed them", () -> locks(zookeeper) == 0);
            get(backend.close());
        } finally {
            System.clearProperty(CHECKED_EVERY);
            System.clearProperty(MOST_A_MINUTE);
        }
    }

    private static int locks(CuratorFramework zookeeper) {
        try {
            return zookeeper.checkExists().forPath("/reactivelock") == null
                    ? 0
                    : zookeeper.getChildren().forPath("/reactivelock").size();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
