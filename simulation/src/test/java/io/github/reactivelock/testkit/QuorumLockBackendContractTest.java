package io.github.reactivelock.testkit;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Five stores in memory, made to believe that they have been up for long enough to be counted. */
class QuorumLockBackendContractTest extends LockBackendContract {

    private static final Duration LONGEST_LEASE = Duration.ofHours(12);

    private final AtomicLong ahead = new AtomicLong();
    private final List<InMemoryLockBackend> stores = Stream.generate(
                    () -> InMemoryLockBackend.create(() -> System.nanoTime() + ahead.get()))
            .limit(5)
            .toList();

    QuorumLockBackendContractTest() {
        ahead.set(LONGEST_LEASE.toNanos());
    }

    @Override
    protected LockBackend newBackend() {
        QuorumNode[] nodes = stores.stream().map(InMemoryLockBackend::connect).toArray(QuorumNode[]::new);
        return QuorumLockBackend.of(nodes).withLongestLease(LONGEST_LEASE);
    }

    /**
     * A node's grant is a vote; the claim is served when it has asked again. Each node would count permits by itself.
     */
    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PERMITS, Feature.PUSHED_GRANTS, Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }

    /** A release is answered when a majority has carried it out; the others follow. */
    @Override
    protected void assertStoreIsClean() {
        Await.until("nothing is left", () -> stores.stream().allMatch(store -> store.size() == 0));
    }
}
