package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** How an owner is called back, and that nothing is different without that. */
class RecallTest extends Fixture {

    private ZooKeeperLockBackend keeping;
    private ZooKeeperLockBackend other;
    private Queue<Signal> signals;

    @BeforeEach
    void listen() throws InterruptedException {
        keeping = backend();
        other = backend();
        signals = listen(keeping);
    }

    private static Claim recallable(String key) {
        String id = UUID.randomUUID().toString();
        return new Claim(key, id, "a keeper", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.WHOLE, true);
    }

    private Claim tries() {
        return claim(key, Claim.Mode.TRY, LEASE, Claim.Keeping.RENEWED);
    }

    private static void queue(ZooKeeperLockBackend backend, Claim claim) {
        assertThat(ZooKeepers.get(backend.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
    }

    private long recalls(Claim claim) {
        return signals.stream().filter(new Signal.Recall(claim.id())::equals).count();
    }

    /** How often something was put into the notice node of any client. */
    private int notices() throws Exception {
        int written = 0;
        for (String name : ZooKeepers.children(zookeeper, "/reactivelock")) {
            if (name.startsWith("!")) {
                written +=
                        zookeeper.checkExists().forPath("/reactivelock/" + name).getVersion();
            }
        }
        return written;
    }

    /** A notice takes the place of the one before. */
    @Test
    void ownersThatAreCalledBackTogetherAreAllTold() throws InterruptedException {
        List<Claim> held =
                IntStream.range(0, 30).mapToObj(i -> recallable(key + i)).toList();
        held.forEach(claim -> granted(ZooKeepers.get(keeping.claim(claim))));
        Claim alone = recallable(key);
        granted(ZooKeepers.get(keeping.claim(alone)));

        List<ClaimResult> answers = Flux.fromIterable(held)
                .flatMap(
                        claim -> other.claim(claim(claim.key(), Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED)),
                        held.size())
                .collectList()
                .block(ZooKeepers.LIMIT);

        assertThat(answers).hasSize(30).hasOnlyElementsOfType(ClaimResult.Queued.class);
        ZooKeepers.until("all are told", () -> held.stream().allMatch(claim -> recalls(claim) > 0));
        assertThat(recalls(alone)).isZero();
    }

    @Test
    void onlyTheClaimJustBehindTheOwnerCallsItBack() throws Exception {
        Claim owner = recallable(key);
        granted(ZooKeepers.get(keeping.claim(owner)));
        Claim first = recallable(key);
        Claim second = claim();
        queue(other, first);
        ZooKeepers.until("it is told", () -> recalls(owner) == 1);
        queue(other, second);
        ZooKeepers.until("its first question is told", () -> recalls(owner) == 1);

        queue(other, second);
        queue(other, first);

        ZooKeepers.until("each of its questions is told", () -> recalls(owner) == 2);
        assertThat(notices()).isEqualTo(2);
        assertThat(ZooKeepers.get(other.release(first))).isFalse();
        queue(other, second);
        ZooKeepers.until("the next one asks", () -> recalls(owner) == 3);
    }

    @Test
    void aTryBehindARecallableOwnerWaitsAndGetsTheLock() throws InterruptedException {
        Queue<Signal> theirs = listen(other);
        Claim owner = recallable(key);
        granted(ZooKeepers.get(keeping.claim(owner)));
        Claim tries = tries();
        queue(other, tries);
        ZooKeepers.until("it calls back", () -> recalls(owner) == 1);
        queue(other, tries);
        assertThat(ZooKeepers.get(keeping.claim(tries()))).isEqualTo(new ClaimResult.Busy());

        ZooKeepers.until("it calls back again", () -> recalls(owner) == 2);
        assertThat(ZooKeepers.get(keeping.release(owner))).isTrue();

        ZooKeepers.until("it has the lock", () -> isGranted(theirs, tries));
        assertThat(ZooKeepers.get(keeping.claim(tries()))).isEqualTo(new ClaimResult.Busy());
    }

    @Test
    void oneWhoOnlyWaitsForTheReleaseCallsTheOwnerBackWithoutAClaim() throws Exception {
        Claim owner = recallable(key);
        granted(ZooKeepers.get(keeping.claim(owner)));

        ZooKeepers.get(other.recall(key).thenReturn(true));
        ZooKeepers.get(other.recall("free").thenReturn(true));

        ZooKeepers.until("it is told", () -> recalls(owner) == 1);
        assertThat(ZooKeepers.children(zookeeper, "/reactivelock/" + key)).hasSize(1);
    }

    @Test
    void withoutRetentionNoNodeHasAMarkAndNothingIsPutIntoANotice() throws Exception {
        granted(ZooKeepers.get(keeping.claim(claim())));
        Claim waits = claim();
        queue(other, waits);
        queue(other, waits);
        assertThat(ZooKeepers.get(other.claim(tries()))).isEqualTo(new ClaimResult.Busy());
        ZooKeepers.get(other.recall(key).thenReturn(true));

        assertThat(((LockInfo.Held) ZooKeepers.get(other.inspect(key))).recallable())
                .isFalse();
        assertThat(notices()).isZero();
        assertThat(ZooKeepers.children(zookeeper, "/reactivelock/" + key))
                .hasSize(2)
                .allMatch(name -> name.matches("[-0-9a-f]{36}:[0-9]{10}"));
    }
}
