package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LockEvent;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** BlockHound watches ZooKeeper's event threads in all tests of this module, and the threads of Reactor anyway. */
class NothingBlocksTest extends Fixture {

    @Test
    void whatBlocksAnEventThreadIsSeen() throws Exception {
        CompletableFuture<Throwable> seen = new CompletableFuture<>();

        byte[] unused = zookeeper
                .getData()
                .inBackground((client, event) -> {
                    try {
                        Thread.sleep(1);
                        seen.complete(new AssertionError("nobody saw it"));
                    } catch (Throwable e) {
                        seen.complete(e);
                    }
                })
                .forPath("/");

        assertThat(ZooKeepers.get(seen)).isInstanceOf(BlockingOperationError.class);
    }

    @Test
    void noUserCodeRunsOnAnEventThread() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            LockClient client = client(ZooKeeperLockBackend.using(users, patient()));
            Queue<String> threads = new ConcurrentLinkedQueue<>();
            Mono<Void> note =
                    Mono.fromRunnable(() -> threads.add(Thread.currentThread().getName()));
            Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
            Disposable watching = client.events(key).subscribe(event -> {
                threads.add(Thread.currentThread().getName());
                events.add(event);
            });

            for (int i = 0; i < 20; i++) {
                LockHandle held = ZooKeepers.get(client.acquire(key));
                CompletableFuture<Void> waiting = client().withLock(key, note).toFuture();
                ZooKeepers.get(held.renew().then(note));
                ZooKeepers.get(client.inspect(key).then(note));
                ZooKeepers.get(held.release().then(note));
                ZooKeepers.until("the other had its turn", waiting::isDone);
                ZooKeepers.get(client.withLock(key, client.forceRelease(key).then(note))
                        .onErrorComplete());
            }

            ZooKeepers.until("events came", () -> events.size() > 20);
            watching.dispose();
            assertThat(threads).hasSizeGreaterThan(100).noneMatch(name -> name.contains("EventThread"));
            ZooKeepers.get(client.close());
        }
    }
}
