package io.github.reactivelock.testservers;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits on a test's own thread until something is so. The methods block. */
public final class Pause {

    /** Far more than working code takes, even on a busy machine. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static final long SHORTEST = Duration.ofMillis(2).toNanos();
    private static final long LONGEST = Duration.ofMillis(100).toNanos();
    /** A look may open a connection, for which a server starts a process. */
    private static final int LOOKS = 4;

    private Pause() {}

    static void of(Duration time) {
        try {
            Thread.sleep(time.toMillis(), time.toNanosPart() % 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Looks until something is so, for a minute at most.
     *
     * @param what is so, for the error
     * @param isSo looks
     * @throws AssertionError if it is not so in time
     */
    public static void until(String what, BooleanSupplier isSo) {
        until(what, LIMIT, isSo);
    }

    /**
     * Looks until something is so. A pause between two looks is as long as four of them, 100 ms at most, so that a
     * test which waits leaves the processor to what it waits for.
     *
     * @param what is so, for the error
     * @param limit how long it may take
     * @param isSo looks
     * @throws AssertionError if it is not so in time
     */
    public static void until(String what, Duration limit, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + limit.toNanos();
        for (long begun = System.nanoTime(); !isSo.getAsBoolean(); begun = System.nanoTime()) {
            long now = System.nanoTime();
            if (now - deadline > 0) {
                throw new AssertionError("not so within " + limit + ": " + what);
            }
            of(Duration.ofNanos(Math.max(SHORTEST, Math.min(LONGEST, LOOKS * (now - begun)))));
        }
    }
}
