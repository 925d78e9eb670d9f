package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.Share;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Version;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/**
 * One session that waits for permits of a lock and observes it. A server before 3.9 knows one kind of watch for each
 * node and session.
 */
class WatchModesTest extends Fixture {

    private Queue<LockEvent> heard = new ConcurrentLinkedQueue<>();
    private ZooKeeperLockBackend backend;
    private ZooKeeperLockBackend others;
    private Queue<Signal> signals;
    private Claim all;
    private Claim waiting;

    private Disposable observed() throws InterruptedException {
        return observed(backend);
    }

    private Disposable observed(ZooKeeperLockBackend backend) throws InterruptedException {
        Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
        heard = events;
        Disposable observing = backend.events(key).subscribe(events::add);
        ZooKeepers.until("it is observed", () -> !heard.isEmpty());
        return observing;
    }

    @Test
    void theServerIsOfTheLineThatTheBuildNames() {
        assertThat(Version.getVersion())
                .isEqualTo(System.getProperty("reactivelock.line.zookeeper", Version.getVersion()));
    }

    private boolean hasHeard(Class<? extends LockEvent> event) {
        return heard.stream().anyMatch(event::isInstance);
    }

    /** Another client has all permits, and this session waits for one of them, or observes the lock, or both. */
    @BeforeEach
    void openAndTakeAllPermits() throws InterruptedException {
        backend = backend();
        signals = listen(backend);
        others = backend();
        all = claim(Share.permits(4, 4));
        waiting = claim(Share.permits(1, 4));
        ZooKeepers.get(others.claim(all));
    }

    private void waitForAPermit() {
        assertThat(ZooKeepers.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Queued.class);
        ZooKeepers.get(backend.inspect(key));
    }

    private void releaseAllAndHearOfIt() throws InterruptedException {
        ZooKeepers.get(others.release(all));
        ZooKeepers.until("it has its permit", () -> isGranted(signals, waiting));
    }

    @Test
    void aWaitForPermitsGetsThemThoughItsClientBeginsToObserve() throws InterruptedException {
        waitForAPermit();
        Disposable observing = observed();

        releaseAllAndHearOfIt();

        ZooKeepers.until("the release is told", () -> hasHeard(LockEvent.Released.class));
        observing.dispose();
        ZooKeepers.get(backend.release(waiting));
    }

    @Test
    void anObserverGetsEventsThoughItsClientBeginsToWaitForPermits() throws InterruptedException {
        Disposable observing = observed();
        waitForAPermit();

        releaseAllAndHearOfIt();

        ZooKeepers.until("the release is told", () -> hasHeard(LockEvent.Released.class));
        heard.clear();
        ZooKeepers.get(backend.release(waiting));
        ZooKeepers.until("its end is told", () -> hasHeard(LockEvent.Released.class));
        observing.dispose();
    }

    @Test
    void aWaitForPermitsGetsThemThoughItsClientStopsObserving() throws InterruptedException {
        Disposable observing = observed();
        waitForAPermit();
        observing.dispose();
        ZooKeepers.get(backend.inspect(key));

        releaseAllAndHearOfIt();

        ZooKeepers.get(backend.release(waiting));
    }

    @Test
    void aWaitForPermitsGetsThemThoughItsSessionBeginsToObserve() throws InterruptedException {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            backend = ZooKeeperLockBackend.using(users, patient());
            ZooKeeperLockBackend second = ZooKeeperLockBackend.using(users, patient());
            signals = listen(backend);
            waitForAPermit();
            Disposable observing = observed(second);

            releaseAllAndHearOfIt();

            observing.dispose();
            ZooKeepers.get(backend.close().thenReturn(true));
            ZooKeepers.get(second.close().thenReturn(true));
        }
    }

    @Test
    void whoHasObservedLocksLeavesNothingAtTheServer() throws Exception {
        ZooKeepers.get(backend.inspect(key)); // behind the watch for notices
        long before = ZooKeepers.watches();
        for (int i = 0; i < 20; i++) {
            key = "k" + i;
            Disposable first = observed();
            Disposable second = observed();
            first.dispose();
            second.dispose();
        }

        ZooKeepers.until("all watches are gone", () -> ZooKeepers.watches() == before);
        ZooKeepers.get(others.release(all));
    }

    @Test
    void whoBeginsToObserveWhileTheLastOneLeavesHearsAll() throws InterruptedException {
        ZooKeepers.get(others.release(all));
        Disposable leaving = observed();
        for (int i = 0; i < 100; i++) {
            Schedulers.parallel().schedule(leaving::dispose);
            leaving = observed();
            Claim claim = claim();
            ZooKeepers.get(backend.claim(claim));
            ZooKeepers.get(backend.release(claim));
            ZooKeepers.until(
                    "the release is told",
                    () -> hasHeard(LockEvent.Released.class)
                            || heard.stream().skip(1).anyMatch(LockEvent.Snapshot.class::isInstance));
        }
        leaving.dispose();
    }
}
