package io.github.reactivelock.benchmarks.side;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's semaphore; all flows share a client. */
final class CuratorSemaphoreSide extends BlockingSide {

    private final CuratorFramework client;

    CuratorSemaphoreSide(String uri) {
        this.client = CuratorFrameworkFactory.newClient(uri, new ExponentialBackoffRetry(1_000, 3));
        client.start();
    }

    @Override
    void locked(String key, Cycle cycle) throws Exception {
        InterProcessSemaphoreV2 semaphore =
                new InterProcessSemaphoreV2(client, "/permits/" + key, OurSharesSide.PERMITS);
        Lease lease = semaphore.acquire();
        try {
            cycle.entered();
        } finally {
            semaphore.returnLease(lease);
        }
    }

    @Override
    public void close() {
        super.close();
        client.close();
    }
}
