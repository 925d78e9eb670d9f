package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** The protocol's rules, each tried on a real ZooKeeper. */
class ClaimProtocolTest extends Fixture {

    @Test
    void theTokenIsTheCzxidOfTheClaimsNode() {
        Claim claim = claim();

        long token = granted(ZooKeepers.get(backend().claim(claim)));

        String path = ZooKeepers.claims(zookeeper).get(0);
        Stat kept = ZooKeepers.stat(zookeeper, path);
        assertThat(path).startsWith("/reactivelock/" + key + "/" + claim.id() + ":");
        assertThat(token).isEqualTo(kept.getCzxid() << LockBackend.PASS_BITS);
        assertThat(kept.getEphemeralOwner()).isNotZero();
    }

    @Test
    void emptyLocksAreRemovedByTheServer() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Claim claim = claim();
        ZooKeepers.get(backend.claim(claim));
        assertThat(ZooKeepers.stat(zookeeper, "/reactivelock/" + key)).isNotNull();

        ZooKeepers.get(backend.release(claim));

        ZooKeepers.until("the lock is gone", () -> ZooKeepers.stat(zookeeper, "/reactivelock/" + key) == null);
    }

    @Test
    void aClaimAskedForTwiceIsOneNodeWithOneToken() {
        ZooKeeperLockBackend backend = backend();
        Claim claim = claim();

        long token = granted(ZooKeepers.get(backend.claim(claim)));

        assertThat(granted(ZooKeepers.get(backend.claim(claim)))).isEqualTo(token);
        assertThat(ZooKeepers.claims(zookeeper)).hasSize(1);
    }

    @Test
    void aClaimAskedForTwiceAtOnceIsOneNode() {
        ZooKeeperLockBackend backend = backend();
        Claim claim = claim();

        List<Long> tokens = Flux.merge(backend.claim(claim), backend.claim(claim), backend.claim(claim))
                .map(Fixture::granted)
                .collectList()
                .block(ZooKeepers.LIMIT);

        assertThat(Set.copyOf(tokens)).hasSize(1);
        assertThat(ZooKeepers.claims(zookeeper)).hasSize(1);
    }

    @Test
    void aBusyTryWritesNothing() {
        ZooKeepers.get(backend().claim(claim()));
        Claim busy = claim(key, Claim.Mode.TRY, LEASE, Claim.Keeping.ONCE);
        ZooKeeperLockBackend trying = backend();
        int before = ZooKeepers.stat(zookeeper, "/reactivelock/" + key).getCversion();

        assertThat(ZooKeepers.get(trying.claim(busy))).isEqualTo(new ClaimResult.Busy());

        assertThat(ZooKeepers.stat(zookeeper, "/reactivelock/" + key).getCversion())
                .isEqualTo(before);
        assertThat(ZooKeepers.claims(zookeeper)).hasSize(1);
    }

    @Test
    void aReleaseAmongAThousandWaitersIsOneEvent() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        // No lease is over before all are in the queue, however long that takes.
        List<Claim> line = IntStream.rangeClosed(0, 1_000)
                .mapToObj(i -> claim(key, Claim.Mode.QUEUE, Duration.ofMinutes(10), Claim.Keeping.RENEWED))
                .toList();
        ClaimResult unused = Flux.fromIterable(line).concatMap(backend::claim).blockLast(Duration.ofMinutes(5));
        // A waiter is answered before its watch is in force; the next command of the session is behind all of them.
        ZooKeepers.get(backend.inspect(key));
        long before = ZooKeepers.deletionsTold();

        for (int i = 0; i < 20; i++) {
            assertThat(ZooKeepers.get(backend.release(line.get(i)))).isTrue();
            String next = line.get(i + 1).id();
            ZooKeepers.until("the next is granted", () -> isGranted(signals, next));
        }

        assertThat(ZooKeepers.deletionsTold() - before).isEqualTo(20);
        assertThat(signals.stream().filter(Signal.Grant.class::isInstance)).hasSize(20);
        assertThat(ZooKeepers.get(backend.inspect(key)))
                .isInstanceOfSatisfying(
                        LockInfo.Held.class, held -> assertThat(held.waiters()).isEqualTo(980));
    }

    private static boolean isGranted(Queue<Signal> signals, String id) {
        return signals.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Grant grant && grant.claimId().equals(id));
    }

    @Test
    void aWaiterInTheMiddleThatLeavesHandsItsPredecessorOn() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim owner = claim();
        Claim leaving = claim();
        Claim last = claim();
        for (Claim claim : List.of(owner, leaving, last)) {
            ZooKeepers.get(backend.claim(claim));
        }

        assertThat(ZooKeepers.get(backend.release(leaving))).isFalse();
        assertThat(ZooKeepers.get(backend.release(owner))).isTrue();

        ZooKeepers.until("the last is granted", () -> isGranted(signals, last.id()));
    }

    @Test
    void aWaiterThatLeavesTakesItsWatchBack() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.using(users, patient()));
            ZooKeepers.get(backend().claim(claim()));
            for (int i = 0; i < 50; i++) {
                Claim leaving = claim();
                ZooKeepers.get(backend.claim(leaving));
                ZooKeepers.get(backend.release(leaving));
            }

            ZooKeepers.until("no watch is left", () -> ZooKeepers.watched(users).isEmpty());
        }
    }

    @Test
    void aReleaseThatIsRepeatedNeverTouchesTheSuccessor() {
        ZooKeeperLockBackend backend = backend();
        Claim first = claim();
        Claim next = claim();
        ZooKeepers.get(backend.claim(first));
        ZooKeepers.get(backend.claim(next));

        assertThat(ZooKeepers.get(backend.release(first))).isTrue();
        assertThat(ZooKeepers.get(backend.release(first))).isFalse();

        assertThat(ZooKeepers.get(backend.claim(next))).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aHoldThatIsNotRenewedEndsByItself() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Duration brief = Duration.ofSeconds(6);
        Claim renewed = claim(key + "renewed", Claim.Mode.QUEUE, brief, Claim.Keeping.RENEWED);
        Claim once = claim(key + "once", Claim.Mode.QUEUE, brief, Claim.Keeping.ONCE);
        ZooKeepers.get(backend.claim(once));
        ZooKeepers.get(backend.claim(renewed));

        ZooKeepers.until("the other one has run out", () -> {
            assertThat(ZooKeepers.get(backend.renew(List.of(renewed))).renewed())
                    .containsExactly(renewed.id());
            return ZooKeepers.claims(zookeeper).size() == 1;
        });

        assertThat(ZooKeepers.get(backend.renew(List.of(once))).lost()).containsEntry(once.id(), LossReason.EXPIRED);
    }

    @Test
    void noHoldIsReliedUponForLongerThanHalfTheSessionTimeout() throws Exception {
        ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.connect(
                server.getConnectString(), patient().withSessionTimeout(SESSION)));
        Queue<Signal> signals = listen(backend);
        Claim owner = claim();
        Claim waiting = claim();

        assertThat(ZooKeepers.get(backend.claim(owner)))
                .isInstanceOfSatisfying(
                        ClaimResult.Granted.class,
                        granted -> assertThat(granted.lease()).isEqualTo(SESSION.dividedBy(2)));
        ZooKeepers.get(backend.claim(waiting));
        ZooKeepers.get(backend.release(owner));

        ZooKeepers.until("the next is granted", () -> isGranted(signals, waiting.id()));
        assertThat(signals)
                .anySatisfy(signal -> assertThat(signal)
                        .isInstanceOfSatisfying(
                                Signal.Grant.class,
                                grant -> assertThat(grant.longest()).isEqualTo(SESSION.dividedBy(2))));
    }

    @Test
    void anOperatorWhoDeletesTheNodeEndsTheHoldAtItsNextRenewal() {
        ZooKeeperLockBackend backend = backend();
        Claim held = claim();
        Claim kept = claim(key + "kept", Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
        ZooKeepers.get(backend.claim(held));
        String path = ZooKeepers.claims(zookeeper).get(0);
        ZooKeepers.get(backend.claim(kept));

        ZooKeepers.delete(zookeeper, path);

        assertThat(ZooKeepers.get(backend.renew(List.of(held, kept))))
                .isEqualTo(new RenewalResult(Set.of(kept.id()), Map.of(held.id(), LossReason.EXPIRED)));
    }

    @Test
    void nobodyMissesTheFirstConnectionWhoeverIsQuicker() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            Queue<ConnectionState> states = new ConcurrentLinkedQueue<>();
            CuratorFramework fresh = new ClientSource.Own(server.getConnectString(), patient())
                    .open((client, state) -> states.add(state));
            try {
                ZooKeepers.until("it was heard", () -> states.contains(ConnectionState.CONNECTED));
            } finally {
                fresh.close();
            }
        }
    }

    @Test
    void aForcedReleaseIsPushedToTheOwner() throws InterruptedException {
        aForcedReleaseIsPushed(backend());
    }

    @Test
    void aForcedReleaseIsPushedOverAnAlreadyConnectedClient() throws InterruptedException {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            assertThat(ZooKeepers.works(users)).isTrue();
            ZooKeeperLockBackend backend = ZooKeeperLockBackend.using(users, patient());
            aForcedReleaseIsPushed(backend);
            backend.close().block(ZooKeepers.LIMIT);
        }
    }

    private void aForcedReleaseIsPushed(ZooKeeperLockBackend backend) throws InterruptedException {
        Queue<Signal> signals = listen(backend);
        ZooKeepers.until(
                "it has its notice node",
                () -> ZooKeepers.children(zookeeper, "/reactivelock").stream().anyMatch(name -> name.startsWith("!")));
        for (int i = 0; i < 3; i++) {
            Claim held = claim();
            long token = ((ClaimResult.Granted) ZooKeepers.get(backend.claim(held))).fencingToken();

            assertThat(ZooKeepers.get(backend().forceRelease(key, token))).isTrue();

            Signal suspicion = new Signal.Suspect(held.id(), LossReason.FORCED);
            ZooKeepers.until("the owner is told", () -> signals.contains(suspicion));
            assertThat(ZooKeepers.get(backend.renew(List.of(held))).lost()).containsKey(held.id());
        }
    }

    @Test
    void whatIsNotOursBelowALockIsLeftAlone() throws Exception {
        ZooKeeperLockBackend backend = backend();
        Claim claim = claim();
        ZooKeepers.get(backend.claim(claim));
        String stranger = zookeeper
                .create()
                .withMode(CreateMode.EPHEMERAL)
                .forPath("/reactivelock/" + key + "/notes", KeyLayout.bytes("of an operator"));

        assertThat(ZooKeepers.get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(ZooKeepers.get(backend.inspect(key)))
                .isInstanceOfSatisfying(
                        LockInfo.Held.class, held -> assertThat(held.waiters()).isZero());

        assertThat(ZooKeepers.get(backend.release(claim))).isTrue();
        assertThat(ZooKeepers.get(backend.inspect(key))).isEqualTo(new LockInfo.Free(key));
        ZooKeepers.delete(zookeeper, stranger);
    }
}
