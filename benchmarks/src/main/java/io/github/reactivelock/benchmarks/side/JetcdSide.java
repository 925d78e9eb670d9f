package io.github.reactivelock.benchmarks.side;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Etcd's own lock, through jetcd. Every flow has its own lease, because flows that share one do not exclude one
 * another. It is granted before the first acquisition and is so long that nothing has to keep it alive.
 */
final class JetcdSide implements Side {

    private static final long LEASE_SECONDS = 3_600;

    private final Client client;
    private final Lock lock;
    private final Map<Long, CompletableFuture<Long>> leases = new ConcurrentHashMap<>();

    JetcdSide(String uri) {
        this.client = Client.builder().endpoints(uri).build();
        this.lock = client.getLockClient();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        ByteSequence name = ByteSequence.from("jetcd:" + key, StandardCharsets.UTF_8);
        var unused = lease(flow)
                .thenCompose(lease -> lock.lock(name, lease))
                .thenCompose(held -> {
                    cycle.entered();
                    return lock.unlock(held.getKey());
                })
                .whenComplete((nothing, failure) -> cycle.ended(failure));
    }

    private CompletableFuture<Long> lease(long flow) {
        return leases.computeIfAbsent(
                flow, f -> client.getLeaseClient().grant(LEASE_SECONDS).thenApply(granted -> granted.getID()));
    }

    @Override
    public void close() {
        client.close();
    }
}
