package io.github.reactivelock.testkit.history;

import java.time.Duration;

/**
 * A daemon thread that sleeps a little again and again, and records when that took much longer. Then its process, or
 * the machine, stood still, and a wait is not the fault of a lock.
 */
public final class StallWatch implements AutoCloseable {

    private static final Duration NAP = Duration.ofMillis(10);
    private static final Duration STALL = Duration.ofMillis(100);

    private final History history;
    private volatile boolean over;

    private StallWatch(History history) {
        this.history = history;
    }

    /**
     * Begins to watch this process.
     *
     * @param history where stalls are recorded
     * @return close it at the end
     */
    public static StallWatch start(History history) {
        StallWatch watch = new StallWatch(history);
        Thread thread = new Thread(watch::watch, "stall-watch");
        thread.setDaemon(true);
        thread.start();
        return watch;
    }

    @Override
    public void close() {
        over = true;
    }

    private void watch() {
        long before = System.nanoTime();
        while (!over) {
            try {
                Thread.sleep(NAP.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            long now = System.nanoTime();
            if (now - before > NAP.plus(STALL).toNanos()) {
                history.stalled(before, now);
            }
            before = now;
        }
    }
}
