package io.github.reactivelock.benchmarks.client;

import io.github.reactivelock.benchmarks.side.Cycle;
import io.github.reactivelock.benchmarks.side.Side;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The heap that held or awaited locks take: used bytes after garbage collection, with and without them. */
final class Holding {

    private static final int AT_ONCE = 1_000;
    private static final long PATIENCE_SECONDS = 120;
    private static final int PAST_A_RENEWAL_MILLIS = 12_000;

    private Holding() {}

    /** Holds the given number of different locks; returns the bytes for each, once each has been renewed. */
    static String keys(Side side, int count) throws InterruptedException {
        hold(side, "before", 1);
        long before = usedHeap();
        hold(side, "held", count);
        Thread.sleep(PAST_A_RENEWAL_MILLIS);
        return perOne(usedHeap() - before, count);
    }

    /** Holds one lock and lets the given number of flows wait for it; returns the bytes for each waiter. */
    static String waiters(Side side, int count) throws InterruptedException {
        hold(side, "awaited", 1);
        long before = usedHeap();
        Cycle unheard = new Latched(new CountDownLatch(1), new Semaphore(0));
        for (int i = 1; i <= count; i++) {
            side.hold("awaited", i, unheard);
        }
        Thread.sleep(PAST_A_RENEWAL_MILLIS);
        return perOne(usedHeap() - before, count);
    }

    /** Lets the given number of flows want one lock at once; returns how many are served a second. */
    static String served(Side side, int count) throws InterruptedException {
        CountDownLatch served = new CountDownLatch(2 * count); // each enters, and ends
        Latched cycle = new Latched(served, new Semaphore(0));
        long since = System.nanoTime();
        for (int i = 1; i <= count; i++) {
            side.cycle("served", i, cycle);
        }
        if (!served.await(PATIENCE_SECONDS, TimeUnit.SECONDS) || cycle.failure.get() != null) {
            throw new IllegalStateException("not all of " + count + " flows were served", cycle.failure.get());
        }
        return Double.toString(count / ((System.nanoTime() - since) / 1e9));
    }

    private static void hold(Side side, String name, int count) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(count);
        Semaphore room = new Semaphore(AT_ONCE);
        Latched cycle = new Latched(held, room);
        for (int i = 0; i < count; i++) {
            room.acquire();
            side.hold(count == 1 ? name : name + ":" + i, 0, cycle);
        }
        if (!held.await(PATIENCE_SECONDS, TimeUnit.SECONDS) || cycle.failure.get() != null) {
            throw new IllegalStateException(
                    held.getCount() + " of " + count + " locks could not be acquired", cycle.failure.get());
        }
    }

    private static String perOne(long bytes, int count) {
        return Long.toString(Math.round((double) bytes / count));
    }

    private static long usedHeap() throws InterruptedException {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(100);
            least = Math.min(least, memory.getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    /** One for all flows, so that it adds nothing to the heap of each. */
    private static final class Latched implements Cycle {

        private final CountDownLatch held;
        private final Semaphore room;
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        Latched(CountDownLatch held, Semaphore room) {
            this.held = held;
            this.room = room;
        }

        @Override
        public void entered() {
            room.release();
            held.countDown();
        }

        @Override
        public void ended(@Nullable Throwable error) {
            if (error != null) {
                failure.set(error);
            }
            entered();
        }
    }
}
