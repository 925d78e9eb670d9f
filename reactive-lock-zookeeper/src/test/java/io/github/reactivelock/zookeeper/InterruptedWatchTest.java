package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.LockEvent;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** What is left of a watch that was interrupted. */
class InterruptedWatchTest extends ProxiedFixture {

    @Test
    void anInterruptionLeavesNoWatcherInTheClient() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(proxied(), 1_000)) {
            ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.using(users, patient()));
            Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
            Disposable watching = backend.events(key).subscribe(seen::add, error -> {});
            ZooKeepers.until("the watch is in force", () -> !seen.isEmpty());
            assertThat(ZooKeepers.watchedBelow(users)).hasSize(1);

            proxy.cut();
            for (int i = 0; i < 2; i++) { // the second one is behind what the interruption asked for
                assertThat(ZooKeepers.error(backend.inspect(key))).hasMessageContaining("ZooKeeper at 127.0.0.1");
            }
            proxy.mend();
            ZooKeepers.until("it is in force again", () -> seen.size() >= 2);
            watching.dispose();

            ZooKeepers.until(
                    "no watcher is left", () -> ZooKeepers.watchedBelow(users).isEmpty());
        }
    }
}
