package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** What shares cost at the server, how they end, and what an operator sees of them. */
class ShareProtocolTest extends Fixture {

    /** Claims one after the other, and looks until all watches are in force. */
    @CanIgnoreReturnValue
    private List<Claim> line(ZooKeeperLockBackend backend, Share share, int many) {
        List<Claim> claims =
                IntStream.range(0, many).mapToObj(i -> claim(share)).toList();
        claims.forEach(claim -> ZooKeepers.get(backend.claim(claim)));
        ZooKeepers.get(backend.inspect(key));
        return claims;
    }

    private static void untilGranted(Queue<Signal> signals, List<Claim> claims) throws InterruptedException {
        ZooKeepers.until("all are in", () -> claims.stream().allMatch(claim -> isGranted(signals, claim)));
    }

    @Test
    void aWriterBehindReadersHearsOfTheLastOneOnly() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        List<Claim> readers = line(backend, Share.ONE, 10);
        List<Claim> writer = line(backend, Share.WHOLE, 1);
        long before = ZooKeepers.deletionsTold();

        readers.forEach(reader -> ZooKeepers.get(backend.release(reader)));

        untilGranted(signals, writer);
        assertThat(ZooKeepers.deletionsTold() - before).isEqualTo(1);
    }

    @Test
    void readersHearOfTheWriterBeforeThemAndNotOfOneAnother() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        List<Claim> writer = line(backend, Share.WHOLE, 1);
        List<Claim> readers = new ArrayList<>(line(backend, Share.ONE, 20));
        long before = ZooKeepers.deletionsTold();
        long lines = ZooKeepers.changesOfLinesTold();

        assertThat(ZooKeepers.get(backend.release(readers.remove(7)))).isFalse();
        assertThat(ZooKeepers.deletionsTold() - before).isZero();
        assertThat(ZooKeepers.get(backend.release(writer.get(0)))).isTrue();

        untilGranted(signals, readers);
        assertThat(ZooKeepers.deletionsTold() - before).isEqualTo(1);
        assertThat(ZooKeepers.changesOfLinesTold()).isEqualTo(lines);
    }

    @Test
    void allThatWaitForPermitsInAClientReadAChangeTogether() throws InterruptedException {
        GatedClient client = new GatedClient(server.getConnectString());
        ZooKeeperLockBackend backend = opened(new ZooKeeperLockBackend(client, patient()));
        Queue<Signal> signals = listen(backend);
        ZooKeeperLockBackend others = backend();
        Claim all = claim(Share.permits(20, 20));
        ZooKeepers.get(others.claim(all));
        List<Claim> waiting = line(backend, Share.permits(1, 20), 20);
        long before = ZooKeepers.changesOfLinesTold();
        int looks = client.asked("look");

        ZooKeepers.get(others.release(all));

        untilGranted(signals, waiting);
        assertThat(ZooKeepers.changesOfLinesTold() - before).isEqualTo(1);
        assertThat(client.asked("look") - looks).isBetween(1, 5);
    }

    @Test
    void aBusyTryForAShareWritesNothing() {
        ZooKeepers.get(backend().claim(claim()));
        ZooKeeperLockBackend trying = backend();
        Claim busy = claim(Share.ONE);
        int before = ZooKeepers.stat(zookeeper, "/reactivelock/" + key).getCversion();

        assertThat(ZooKeepers.get(trying.claim(
                        new Claim(key, busy.id(), "me", LEASE, Claim.Mode.TRY, Claim.Keeping.RENEWED, Share.ONE))))
                .isEqualTo(new ClaimResult.Busy());

        assertThat(ZooKeepers.stat(zookeeper, "/reactivelock/" + key).getCversion())
                .isEqualTo(before);
    }

    @Test
    void aForgottenWaitEndsAndOneThatAsksKeepsItsPlace() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        ZooKeepers.get(backend.claim(claim()));
        Claim asked = claim(Share.ONE, Duration.ofSeconds(6));
        ZooKeepers.get(backend.claim(asked));
        String place = ZooKeepers.claims(zookeeper).get(1);
        Claim silent = claim(Share.WHOLE, Duration.ofSeconds(8));
        ZooKeepers.get(backend.claim(silent));

        ZooKeepers.until("the silent one is gone", () -> {
            assertThat(ZooKeepers.get(backend.claim(asked))).isInstanceOf(ClaimResult.Queued.class);
            return ZooKeepers.claims(zookeeper).size() == 2;
        });

        assertThat(ZooKeepers.claims(zookeeper).get(1)).isEqualTo(place);
        assertThat(ZooKeepers.get(backend.claim(silent)))
                .as("it comes again, at the end")
                .isInstanceOf(ClaimResult.Queued.class);
    }

    @Test
    void theSharesOfASessionThatExpiresComeBackAndItsWaitersQueueAgain() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            LockClient client = client(ZooKeeperLockBackend.using(users, patient()));
            LockHandle held = ZooKeepers.get(client.permits(2, 2).acquire(key));
            CompletableFuture<LockHandle> next =
                    client().permits(1, 2).acquire(key).toFuture();
            LockHandle other = ZooKeepers.get(client().permits(2, 2).acquire(key + "other"));
            CompletableFuture<LockHandle> waiting =
                    client.permits(1, 2).acquire(key + "other").toFuture();
            ZooKeepers.until("two wait", () -> ZooKeepers.claims(zookeeper).size() == 4);

            ZooKeepers.expire(users, server.getConnectString());

            assertThat(ZooKeepers.get(held.lost()).reason()).isEqualTo(LossReason.SESSION_LOST);
            ZooKeepers.get(ZooKeepers.get(next).release());
            ZooKeepers.until(
                    "it waits again", () -> ZooKeepers.claims(zookeeper).size() == 2);
            assertThat(waiting).isNotDone();
            ZooKeepers.get(other.release());
            ZooKeepers.get(ZooKeepers.get(waiting).release());
            ZooKeepers.get(client.close());
        }
    }

    @Test
    void allSharesOfAClientThatAreTakenByForceAreTold() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        ZooKeepers.until(
                "it has its notice node",
                () -> ZooKeepers.children(zookeeper, "/reactivelock").stream().anyMatch(name -> name.startsWith("!")));
        List<Claim> held = line(backend, Share.permits(1, 5), 5);

        assertThat(ZooKeepers.get(client().forceRelease(key))).isTrue();

        ZooKeepers.until(
                "all are told",
                () -> held.stream()
                        .allMatch(claim -> signals.contains(new Signal.Suspect(claim.id(), LossReason.FORCED))));
    }

    @Test
    void aWaitingClaimIsNotTakenByForceForItsHolderHasAnotherToken() {
        ZooKeeperLockBackend backend = backend();
        long held = granted(ZooKeepers.get(backend.claim(claim())));
        Claim waiting = claim(Share.ONE);
        ClaimResult.Queued queued = (ClaimResult.Queued) ZooKeepers.get(backend.claim(waiting));
        long itsOwn = queued.newestToken() + 4096;

        assertThat(ZooKeepers.get(backend.forceRelease(key, itsOwn))).isFalse();
        assertThat(ZooKeepers.get(backend.forceRelease(key, held))).isTrue();
        assertThat(granted(ZooKeepers.get(ZooKeepers.patiently(backend.claim(waiting)))))
                .isEqualTo(itsOwn);
    }

    @Test
    void manyHoldersAreCountedAndTheNewestShown() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        List<Claim> readers = line(backend, Share.ONE, 120);
        line(backend, Share.WHOLE, 1);
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = backend.events(key).subscribe(seen::add, error -> {});
        ZooKeepers.until("the snapshot", () -> seen.size() == 1);

        LockInfo.Held info = ZooKeepers.get(backend.inspect(key)).held().orElseThrow();

        LockInfo.Shares shares = Objects.requireNonNull(info.shares());
        assertThat(info.waiters()).isEqualTo(1);
        assertThat(info.queue()).hasSize(1);
        assertThat(shares.holders()).isEqualTo(120);
        assertThat(shares.units()).isEqualTo(120);
        assertThat(shares.first()).hasSize(100);
        assertThat(shares.first().get(0).fencingToken())
                .isEqualTo(info.fencingToken())
                .isEqualTo(granted(ZooKeepers.get(backend.claim(readers.get(119)))));
        LockInfo told = ((LockEvent.Snapshot) Objects.requireNonNull(seen.peek())).info();
        assertThat(Objects.requireNonNull(told.held().orElseThrow().shares()).first())
                .hasSize(100);
        long oldest = granted(ZooKeepers.get(backend.claim(readers.get(0))));
        ZooKeepers.get(backend.release(readers.get(0)));
        ZooKeepers.until(
                "the oldest, which was not shown, is told to have left",
                () -> seen.contains(new LockEvent.Released(key, oldest, 1)));
        watching.dispose();
    }
}
