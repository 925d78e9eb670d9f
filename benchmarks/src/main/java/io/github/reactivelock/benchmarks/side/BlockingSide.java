package io.github.reactivelock.benchmarks.side;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;

/** A library whose locks block: every flow has a thread. */
abstract class BlockingSide implements Side {

    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Takes the lock, enters and gives it back, on a thread that may block. */
    abstract void locked(String key, Cycle cycle) throws Exception;

    static void locked(Lock lock, Cycle cycle) {
        lock.lock();
        try {
            cycle.entered();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public final void cycle(String key, long flow, Cycle cycle) {
        threads.execute(() -> {
            Throwable failure = null;
            try {
                locked(key, cycle);
            } catch (Exception e) {
                failure = e;
            }
            cycle.ended(failure);
        });
    }

    /** Ends the threads first. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
