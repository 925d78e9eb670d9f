package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.Share;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.Version;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** One session that waits for permits of a lock and observes it. A server before 3.9 knows one kind of watch for each node and session. */
class WatchModesTest extends Fixture {

    private Queue<LockEvent> heard = new ConcurrentLinkedQueue<>();

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

    @Test
    void whoWaitsForPermitsHearsOfThemThoughItsClientBeganToObserveTheLock() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        ZooKeeperLockBackend others = backend();
        Claim all = claim(Share.permits(4, 4));
        ZooKeepers.get(others.claim(all));
        Claim waiting = claim(Share.permits(1, 4));
        ZooKeepers.get(backend.claim(waiting));
        ZooKeepers.get(backend.inspect(key));
        Disposable observing = observed(backend);

        ZooKeepers.get(others.release(all));

        ZooKeepers.until("it has its permit", () -> isGranted(signals, waiting));
        ZooKeepers.until("the release is told", () -> hasHeard(LockEvent.Released.class));
        observing.dispose();
        ZooKeepers.get(backend.release(waiting));
    }

    @Test
    void whoObservesALockHearsOfItThoughItsClientBeganToWaitForPermits() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        ZooKeeperLockBackend others = backend();
        Claim all = claim(Share.permits(4, 4));
        ZooKeepers.get(others.claim(all));
        Disposable observing = observed(backend);
        Claim waiting = claim(Share.permits(1, 4));
        ZooKeepers.get(backend.claim(waiting));
        ZooKeepers.get(backend.inspect(key));

        ZooKeepers.get(others.release(all));
        ZooKeepers.until("it has its permit", () -> isGranted(signals, waiting));
        ZooKeepers.until("the release is told", () -> hasHeard(LockEvent.Released.class));
        heard.clear();
        ZooKeepers.get(backend.release(waiting));
        ZooKeepers.until("its end is told", () -> hasHeard(LockEvent.Released.class));
        observing.dispose();
    }

    @Test
    void whoWaitsForPermitsHearsOfThemThoughItsClientObservesTheLockNoMore() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        ZooKeeperLockBackend others = backend();
        Claim all = claim(Share.permits(4, 4));
        ZooKeepers.get(others.claim(all));
        Disposable observing = observed(backend);
        Claim waiting = claim(Share.permits(1, 4));
        ZooKeepers.get(backend.claim(waiting));
        ZooKeepers.get(backend.inspect(key));
        observing.dispose();
        ZooKeepers.get(backend.inspect(key));

        ZooKeepers.get(others.release(all));

        ZooKeepers.until("it has its permit", () -> isGranted(signals, waiting));
        ZooKeepers.get(backend.release(waiting));
        assertThat(heard).isNotEmpty();
    }

    @Test
    void whoHasObservedLocksLeavesNothingAtTheServer() throws Exception {
        ZooKeeperLockBackend backend = backend();
        ZooKeepers.get(backend.inspect(key));
        long before = ZooKeepers.watches();
        for (int i = 0; i < 20; i++) {
            key = "k" + i;
            Disposable first = observed(backend);
            Disposable second = observed(backend);
            first.dispose();
            second.dispose();
        }

        ZooKeepers.until("all watches are gone", () -> ZooKeepers.watches() == before);
    }

    @Test
    void whoBeginsToObserveWhileTheLastOneLeavesHearsAll() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Disposable leaving = observed(backend);
        for (int i = 0; i < 100; i++) {
            Schedulers.parallel().schedule(leaving::dispose);
            leaving = observed(backend);
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
