package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.state.LockEvent;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Watches in a session of the application, which goes on after those who observed locks in it have left. */
class LeftWatchesTest extends ProxiedFixture {

    private CuratorFramework users;
    private ZooKeeperLockBackend backend;
    private long before;

    @BeforeEach
    void useAClientWithANamespaceThatTriesForLong() {
        users = CuratorFrameworkFactory.builder()
                .connectString(proxied())
                .namespace("app")
                .sessionTimeoutMs(40_000)
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryNTimes(200, 200))
                .ensembleTracker(false)
                .build();
        users.start();
        backend = ZooKeeperLockBackend.using(users, patient());
        ZooKeepers.get(backend.inspect(key));
        before = ZooKeepers.watches();
    }

    @AfterEach
    void closeTheApplicationsClient() {
        ZooKeepers.get(backend.close().thenReturn(true));
        users.close();
    }

    private Queue<LockEvent> heard(Flux<LockEvent> events, CompletableFuture<Throwable> end) {
        Queue<LockEvent> heard = new ConcurrentLinkedQueue<>();
        Disposable unused = events.subscribe(heard::add, end::complete);
        return heard;
    }

    /** As the application's ZooKeeper handle knows them. */
    private int watchersBelow() throws Exception {
        Method manager = ZooKeeper.class.getDeclaredMethod("getWatchManager");
        manager.setAccessible(true);
        Object watches = manager.invoke(users.getZookeeperClient().getZooKeeper());
        Method below = watches.getClass().getDeclaredMethod("getPersistentRecursiveWatches");
        below.setAccessible(true);
        Map<?, ?> all = (Map<?, ?>) below.invoke(watches);
        synchronized (all) {
            return all.values().stream().mapToInt(one -> ((Set<?>) one).size()).sum();
        }
    }

    @Test
    void whoObservesALockThatIsObservedAlreadyAddsNoWatchThatWouldStay() throws Exception {
        Queue<LockEvent> staying = heard(backend.events(key), new CompletableFuture<>());
        ZooKeepers.until("it is observed", () -> !staying.isEmpty());

        for (int i = 0; i < 10; i++) {
            assertThat(ZooKeepers.get(backend.events(key).next())).isInstanceOf(LockEvent.Snapshot.class);
        }
        ZooKeepers.get(backend.inspect(key));

        assertThat(watchersBelow()).isOne();
    }

    @Test
    void whoLeavesWhileTheWatchCannotBeSentLeavesNone() throws Exception {
        ZooKeeperLockBackend hasty =
                ZooKeeperLockBackend.using(users, patient().withCommandTimeout(Duration.ofMillis(300)));
        proxy.cut();
        ZooKeepers.until("it is cut off", () -> !users.getZookeeperClient().isConnected());
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Queue<LockEvent> heard = heard(hasty.events(key).take(Duration.ofSeconds(2)), end);
        Thread.sleep(3_000); // long enough for its command, and not for Curator
        assertThat(heard).isEmpty();
        proxy.mend();

        ZooKeepers.get(backend.inspect(key));
        // What Curator sends again comes in its own time.
        Thread.sleep(1_500);
        ZooKeepers.until("no watch is left", () -> ZooKeepers.watches() == before);
        ZooKeepers.get(hasty.close().thenReturn(true));
    }

    @Test
    void aBackendThatIsClosedEndsItsObserversAndLeavesNone() throws Exception {
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Queue<LockEvent> heard = heard(backend.events(key), end);
        ZooKeepers.until("it is observed", () -> !heard.isEmpty());

        ZooKeepers.get(backend.close().thenReturn(true));

        assertThat(ZooKeepers.get(end)).isInstanceOf(ZooKeeperFailure.class).hasMessageContaining("closed");
        ZooKeepers.until("no watch is left", () -> ZooKeepers.watches() == before);
    }

    @Test
    void aClientThatIsClosedLeavesNone() throws Exception {
        LockClient client = LockClient.create(backend);
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Queue<LockEvent> heard = heard(client.events(key), end);
        ZooKeepers.until("it is observed", () -> !heard.isEmpty());

        ZooKeepers.get(client.close().thenReturn(true));

        ZooKeepers.until("no watch is left", () -> ZooKeepers.watches() == before);
    }

    @Test
    void whoObservesALockIsToldThatTheApplicationHasClosedItsClient() throws Exception {
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Queue<LockEvent> heard = heard(backend.events(key), end);
        ZooKeepers.until("it is observed", () -> !heard.isEmpty());

        users.close();

        assertThat(ZooKeepers.get(end)).hasMessageContaining("must be started and not closed");
        assertThat(ZooKeepers.error(backend.inspect(key))).hasMessageContaining("must be started and not closed");
    }

    @Test
    void whoHearsThatAllIsRemovedNeedNotWaitForTheNextRound() {
        Connection connection = new Connection(new ClientSource.Users(users), patient());
        Removals removals = new Removals(connection, new Nodes(connection, new KeyLayout("reactivelock")));

        String thread = ZooKeepers.get(removals.remove("/none")
                .then(removals.untilDone())
                .then(Mono.fromSupplier(() -> Thread.currentThread().getName())));

        // That of the answer, or of the question if it was answered at once; the next round would come from a timer.
        assertThat(thread).containsAnyOf("EventThread", "reactive-lock-zookeeper");
        ZooKeepers.get(connection.close().thenReturn(true));
    }
}
