package io.github.reactivelock.spi.support;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.LongSupplier;

/**
 * A monotonic clock that also counts the time for which the machine was suspended. Linux stops its monotonic clock
 * then, while leases at the store run on; the wall clock shows it by a jump. So time goes by as fast as the faster of
 * the two: a wall clock that is set ahead ends holds early, and one that is set back hides a suspension of the same
 * moment and nothing else. Safe for use from any thread.
 */
public final class SuspendClock {

    /**
     * Nanoseconds. A sample shows the wall clock at most as far ahead as it is, so what goes beyond the highest so far
     * is time that the machine slept, or that this clock counted too little of before: once, and no more than
     * {@link #SET_BACK}.
     */
    private static final long SLEPT = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * More than a sample shows too little: a clock that goes in steps, of up to 16 ms on Windows, is read just before
     * the next.
     */
    private static final long SET_BACK = TimeUnit.MILLISECONDS.toNanos(20);
    /** A sample that took longer says nothing: the thread may have stood still between the two clocks. */
    private static final long LONGEST_SAMPLE = TimeUnit.MILLISECONDS.toNanos(1);

    /** How far the wall clock is ahead of the monotonic one, and what was added to that for suspensions so far. */
    private record Drift(long nanos, long suspended) {}

    private static final AtomicReferenceFieldUpdater<SuspendClock, Drift> DRIFT =
            AtomicReferenceFieldUpdater.newUpdater(SuspendClock.class, Drift.class, "drift");

    private final LongSupplier monotonic;
    private final LongSupplier wallMillis;
    private volatile Drift drift;

    /** By the clocks of this machine. */
    public SuspendClock() {
        this(System::nanoTime, System::currentTimeMillis);
    }

    /**
     * By clocks of the caller's.
     *
     * @param monotonic nanoseconds
     * @param wallMillis milliseconds of the wall clock
     */
    public SuspendClock(LongSupplier monotonic, LongSupplier wallMillis) {
        this.monotonic = monotonic;
        this.wallMillis = wallMillis;
        this.drift = new Drift(wallNanos() - monotonic.getAsLong(), 0);
    }

    /**
     * Tells the time without looking at the wall clock, as cheaply as the monotonic clock.
     *
     * @return nanoseconds, to be compared by difference
     */
    public long now() {
        return monotonic.getAsLong() + drift.suspended;
    }

    /**
     * Compares the clocks, and then tells the time. Called where a lock is relied upon, and by every tick.
     *
     * @return as {@link #now}
     */
    public long lookAndTell() {
        long before = monotonic.getAsLong();
        long wall = wallNanos();
        long after = monotonic.getAsLong();
        Drift known = drift;
        long jump = wall - after - known.nanos;
        if (after - before <= LONGEST_SAMPLE && (jump >= SLEPT || jump <= -SET_BACK)) {
            Drift noticed = new Drift(wall - after, known.suspended + Math.max(0, jump));
            if (DRIFT.compareAndSet(this, known, noticed)) {
                return after + noticed.suspended;
            }
        }
        return after + drift.suspended;
    }

    private long wallNanos() {
        return TimeUnit.MILLISECONDS.toNanos(wallMillis.getAsLong());
    }
}
