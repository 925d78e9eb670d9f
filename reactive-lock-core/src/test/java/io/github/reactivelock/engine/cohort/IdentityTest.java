package io.github.reactivelock.engine.cohort;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.state.LockInfo;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Two processes that go on from one snapshot have all objects alike that were made before it. */
class IdentityTest {

    private final Bench bench = new Bench();
    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    /** In the place of a snapshot: all that was made before the first claim. */
    private final LockClientBuilder snapshot = bench.over(store.connect());

    @Test
    void clientsThatGoOnFromOneSnapshotDoNotHoldOneLockTogether() {
        LockClient one = snapshot.build();
        LockClient other = snapshot.build();

        LockHandle held = Bench.held(Bench.subscribe(one.acquire("k")));
        TestSubscriber<LockHandle> waiting = Bench.subscribe(other.acquire("k"));
        assertThat(waiting.getReceivedOnNext()).isEmpty();
        Bench.subscribe(held.release());

        assertThat(Bench.held(waiting).fencingToken()).isGreaterThan(held.fencingToken());
    }

    @Test
    void theirOwnersHaveDifferentNames() {
        LockClient one = snapshot.build();
        LockClient other = snapshot.build();
        var unusedOne = Bench.held(Bench.subscribe(one.acquire("a")));
        var unusedOther = Bench.held(Bench.subscribe(other.acquire("b")));

        assertThat(ownerOf(one, "a")).isNotEqualTo(ownerOf(one, "b")).contains("/pid-");
    }

    private static String ownerOf(LockClient client, String key) {
        LockInfo seen = Bench.subscribe(client.inspect(key)).getReceivedOnNext().get(0);
        return ((LockInfo.Held) seen).owner();
    }

    @Test
    void aLateNameIsMadeOnceAndOnlyWhenItIsAskedFor() {
        AtomicInteger made = new AtomicInteger();
        LateId id = new LateId(() -> "made " + made.incrementAndGet());
        assertThat(id).hasToString("(not used yet)");
        assertThat(made).hasValue(0);

        assertThat(id.get()).isEqualTo("made 1").isEqualTo(id.get());
        assertThat(id).hasToString("made 1");
        assertThat(new LateId().get()).isNotEqualTo(new LateId().get()).hasSize(22);
    }
}
