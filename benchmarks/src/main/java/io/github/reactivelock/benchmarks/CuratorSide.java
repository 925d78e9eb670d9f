package io.github.reactivelock.benchmarks;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's lock, which blocks: every flow has a thread, and all share a client. */
final class CuratorSide implements Side {

    private final CuratorFramework client;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    CuratorSide(String uri) {
        this.client = CuratorFrameworkFactory.newClient(uri, new ExponentialBackoffRetry(1_000, 3));
        client.start();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        threads.execute(() -> {
            Throwable failure = null;
            try {
                InterProcessMutex lock = new InterProcessMutex(client, "/curator/" + key);
                lock.acquire();
                try {
                    cycle.entered();
                } finally {
                    lock.release();
                }
            } catch (Exception e) {
                failure = e;
            }
            cycle.ended(failure);
        });
    }

    @Override
    public void close() {
        threads.shutdownNow();
        client.close();
    }
}
