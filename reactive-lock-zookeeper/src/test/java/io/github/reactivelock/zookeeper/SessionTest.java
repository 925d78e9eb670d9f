package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Connections that break, servers that stop and come back, sessions that end. */
class SessionTest extends ProxiedFixture {

    @Test
    void aCutThatIsMendedInTimeCostsNothing() throws InterruptedException {
        LockClient client = promptClient(behindProxy(Duration.ofSeconds(40)));
        LockHandle held = ZooKeepers.get(ZooKeepers.patiently(client.acquire(key)));
        CompletableFuture<LockHandle> waiting = client().acquire(key).toFuture();
        ZooKeepers.until("it waits", () -> ZooKeepers.claims(zookeeper).size() == 2);

        proxy.cut();
        assertThat(ZooKeepers.error(held.renew())).isInstanceOf(LockUnavailableException.class);
        proxy.mend();

        ZooKeepers.get(ZooKeepers.patiently(held.renew()));
        assertThat(held.isHeld()).isTrue();
        assertThat(waiting).isNotDone();
        ZooKeepers.get(held.release());
        ZooKeepers.get(ZooKeepers.get(waiting).release());
    }

    @Test
    void aCutThatLastsLosesTheHoldBeforeAnotherGetsTheLock() {
        LockHandle held = ZooKeepers.get(
                ZooKeepers.patiently(promptClient(behindProxy(SESSION)).acquire(key)));
        AtomicBoolean both = new AtomicBoolean();
        CompletableFuture<LockHandle> next = client().acquire(key)
                .doOnNext(granted -> both.set(held.isHeld()))
                .toFuture();

        proxy.freeze();

        assertThat(ZooKeepers.get(held.lost()).reason()).isEqualTo(LossReason.UNREACHABLE);
        assertThat(held.isHeld()).isFalse();
        assertThat(ZooKeepers.get(next).fencingToken()).isGreaterThan(held.fencingToken());
        assertThat(both).as("held by two at once").isFalse();
        proxy.mend();
        ZooKeepers.get(ZooKeepers.get(next).release());
    }

    @Test
    void aSessionThatExpiresEndsItsHoldsAtOnceAndItsWaitersQueueAgain() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            LockClient client = client(ZooKeeperLockBackend.using(users, patient()));
            LockHandle other = ZooKeepers.get(client().acquire(key + "other"));
            LockHandle held = ZooKeepers.get(client.acquire(key));
            CompletableFuture<LockHandle> waiting =
                    client.acquire(key + "other").toFuture();
            ZooKeepers.until("it waits", () -> ZooKeepers.claims(zookeeper).size() == 3);

            ZooKeepers.expire(users, server.getConnectString());

            assertThat(ZooKeepers.get(held.lost()).reason()).isEqualTo(LossReason.SESSION_LOST);
            ZooKeepers.until(
                    "it waits again", () -> ZooKeepers.claims(zookeeper).size() == 2);
            assertThat(waiting).isNotDone();
            ZooKeepers.get(other.release());
            assertThat(ZooKeepers.get(waiting).isHeld()).isTrue();
            ZooKeepers.get(ZooKeepers.get(waiting).release());
            ZooKeepers.get(ZooKeepers.get(client.acquire(key)).release());
            ZooKeepers.get(client.close());
        }
    }

    @Test
    void aHoldOfAGivenUpSessionIsNotRenewedThoughItsNodeExists() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(proxied())) {
            ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.using(users, patient()));
            Claim held = claim();
            ZooKeepers.get(backend.claim(held));

            giveUpTheSession(users);

            assertThat(ZooKeepers.get(backend.renew(List.of(held))).lost())
                    .containsEntry(held.id(), LossReason.SESSION_LOST);
            ZooKeepers.get(backend.release(held));
            assertThat(ZooKeepers.claims(zookeeper)).isEmpty();
        }
    }

    @Test
    void aNodeThatAnEarlierSessionLeftIsNotTakenForOurs() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(proxied())) {
            ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.using(users, patient()));
            Claim owner = claim();
            ZooKeepers.get(backend().claim(owner));
            Claim waiting = claim();
            ZooKeepers.get(backend.claim(waiting));
            String left = ZooKeepers.claims(zookeeper).get(1);

            giveUpTheSession(users);

            assertThat(ZooKeepers.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Queued.class);
            assertThat(ZooKeepers.claims(zookeeper)).hasSize(2).doesNotContain(left);
        }
    }

    private void assertThatAReleaseThatFailsIsMadeUpFor(ZooKeeperLockBackend backend, Claim claim)
            throws InterruptedException {
        assertThat(ZooKeepers.error(backend.release(claim))).hasMessageContaining("ZooKeeper at 127.0.0.1");
        proxy.mend();
        ZooKeepers.until("the node is gone", () -> ZooKeepers.claims(zookeeper).isEmpty());
    }

    @Test
    void aServerThatRestartsWithItsDataKeepsHoldsAndWaiters() throws Exception {
        LockHandle held = ZooKeepers.get(client().acquire(key));
        CompletableFuture<LockHandle> waiting = client().acquire(key).toFuture();
        ZooKeepers.until("it waits", () -> ZooKeepers.claims(zookeeper).size() == 2);

        server.restart();

        ZooKeepers.get(ZooKeepers.patiently(held.renew()));
        ZooKeepers.get(held.release());
        LockHandle next = ZooKeepers.get(waiting);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        ZooKeepers.get(next.release());
    }

    @Test
    void anAnswerThatWasLostLeavesNothingBehind() {
        LockClient client = promptClient(behindProxy(Duration.ofSeconds(20)));
        ZooKeepers.get(ZooKeepers.get(ZooKeepers.patiently(client.acquire(key + "before")))
                .release());

        proxy.dropReplies();
        assertThat(ZooKeepers.error(client.acquire(key))).isInstanceOf(LockUnavailableException.class);
        proxy.mend();

        ZooKeepers.get(ZooKeepers.get(client().acquire(key)).release());
    }

    @Test
    void aCreationWhoseAnswerWasLostIsFoundByItsId() throws Exception {
        ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.connect(proxied(), patient()));
        Claim claim = claim();
        CompletableFuture<ClaimResult> answer = claimWithoutAnswer(backend, claim);
        long czxid =
                ZooKeepers.stat(zookeeper, ZooKeepers.claims(zookeeper).get(0)).getCzxid();

        proxy.mend();

        assertThat(granted(ZooKeepers.get(answer)) >> 12).isEqualTo(czxid);
        assertThat(ZooKeepers.claims(zookeeper)).hasSize(1);
    }

    /** With a retry policy that repeats a command, as the Javadoc asks for. */
    @Test
    void aCreationWithALostAnswerIsFoundByItsIdOnAnyClient() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(proxied())) {
            ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.using(users, patient()));
            Claim claim = claim();
            CompletableFuture<ClaimResult> answer = claimOfAClientHandedInWithoutAnswer(backend, claim);

            proxy.mend();

            assertThat(ZooKeepers.get(answer)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(ZooKeepers.claims(zookeeper)).hasSize(1);
            assertThat(ZooKeepers.get(backend.release(claim))).isTrue();
        }
    }

    @Test
    void aGivenUpClaimWithALostAnswerIsRemovedOnReconnect() throws Exception {
        ZooKeeperLockBackend backend = opened(soonGivingUp());
        Claim claim = claim();
        CompletableFuture<ClaimResult> answer = claimWithoutAnswer(backend, claim);

        assertThat(ZooKeepers.error(backend.release(claim))).hasMessageContaining("ZooKeeper at 127.0.0.1");
        assertThat(ZooKeepers.claims(zookeeper)).hasSize(1);
        proxy.mend();

        ZooKeepers.until("it is gone", () -> ZooKeepers.claims(zookeeper).isEmpty());
        ZooKeepers.until("the question has ended", answer::isDone);
    }

    @Test
    void aReleaseThatCouldNotBeSentIsMadeUpFor() throws InterruptedException {
        ZooKeeperLockBackend backend = opened(soonGivingUp());
        Claim held = claim();
        ZooKeepers.get(backend.inspect(key).retry());
        ZooKeepers.get(backend.claim(held));

        proxy.cut();
        assertThatAReleaseThatFailsIsMadeUpFor(backend, held);
    }

    @Test
    void aRemovalThatGotNoAnswerIsTriedAgainAlthoughTheConnectionNeverBroke() throws InterruptedException {
        Claim ofAnother = claim();
        ZooKeepers.get(backend().claim(ofAnother));
        ZooKeeperLockBackend backend = opened(soonGivingUp());
        ZooKeepers.get(backend.inspect(key).retry());

        proxy.freeze();
        assertThatAReleaseThatFailsIsMadeUpFor(backend, ofAnother);
    }

    @Test
    void nodesOfAClaimThatCouldNotBeTidiedUpGoWithTheClaim() throws Exception {
        ZooKeeperLockBackend backend = opened(ZooKeeperLockBackend.connect(proxied(), patient()));
        Claim claim = claim();
        CompletableFuture<ClaimResult> answer = claimWithoutAnswer(backend, claim);
        String surplus = zookeeper
                .create()
                .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
                .forPath("/reactivelock/" + key + "/" + claim.id() + ":");
        String undeletable = zookeeper.create().forPath(surplus + "/child");
        proxy.mend();
        assertThat(ZooKeepers.error(Mono.fromFuture(answer))).hasMessageContaining(surplus);

        ZooKeepers.delete(zookeeper, undeletable);
        ZooKeepers.get(backend.release(claim));

        assertThat(ZooKeepers.claims(zookeeper)).isEmpty();
    }

    @Test
    void eventsBeginAnewWithASnapshotAfterAnInterruption() throws InterruptedException {
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = client(ZooKeeperLockBackend.connect(proxied(), patient()))
                .events(key)
                .subscribe(seen::add, error -> {});
        ZooKeepers.until("the watch is in force", () -> seen.size() == 1);

        proxy.cut();
        LockHandle held = ZooKeepers.get(client().acquire(key));
        proxy.mend();

        ZooKeepers.until(
                "a second snapshot",
                () -> seen.stream().filter(LockEvent.Snapshot.class::isInstance).count() >= 2);
        ZooKeepers.get(held.release());
        ZooKeepers.until("the release", () -> seen.contains(new LockEvent.Released(key, held.fencingToken())));
        watching.dispose();
    }

    @Test
    void theUsersClientKeepsNothingOfAClosedBackend() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            LockClient client = client(ZooKeeperLockBackend.using(users.usingNamespace("shop"), patient()));
            LockHandle held = ZooKeepers.get(client.acquire(key));
            assertThat(ZooKeepers.children(zookeeper, "/shop/reactivelock")).contains(key);

            ZooKeepers.get(client.close());

            assertThat(held.isHeld()).isFalse();
            assertThat(ZooKeepers.works(users)).isTrue();
            assertThat(ZooKeepers.children(zookeeper, "/shop/reactivelock/" + key))
                    .isEmpty();
            assertThat(ZooKeepers.children(zookeeper, "/shop/reactivelock")).noneMatch(name -> name.startsWith("!"));
        }
    }
}
