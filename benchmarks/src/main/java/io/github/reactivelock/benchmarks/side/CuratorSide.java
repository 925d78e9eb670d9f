package io.github.reactivelock.benchmarks.side;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's lock; all flows share a client. */
final class CuratorSide extends BlockingSide {

    private final CuratorFramework client;

    CuratorSide(String uri) {
        this.client = CuratorFrameworkFactory.newClient(uri, new ExponentialBackoffRetry(1_000, 3));
        client.start();
    }

    @Override
    void locked(String key, Cycle cycle) throws Exception {
        InterProcessMutex lock = new InterProcessMutex(client, "/curator/" + key);
        lock.acquire();
        try {
            cycle.entered();
        } finally {
            lock.release();
        }
    }

    @Override
    public void close() {
        super.close();
        client.close();
    }
}
