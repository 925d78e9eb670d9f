package io.github.reactivelock;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Virtual time with a clock that can run ahead of the timers, as it does after a pause of the process, and that
 * overflows soon after the start. Counts the one-shot timers that are armed.
 */
public final class TestTime implements Scheduler {

    private static final long START = Long.MAX_VALUE - Duration.ofSeconds(1).toNanos();

    private final VirtualTimeScheduler virtual = VirtualTimeScheduler.create();
    private final Set<Object> armed = ConcurrentHashMap.newKeySet();
    private final AtomicLong paused = new AtomicLong();
    private boolean stopped;
    private long stoppedUntil;

    private final AtomicLong wallAhead = new AtomicLong();

    /** Runs between two readings of the monotonic clock. */
    public Runnable whileReadingWall = () -> {};

    /** Runs while a timer is being armed. */
    public Runnable whileArming = () -> {};

    public long nanos() {
        return stopped ? stoppedUntil : START + virtual.now(TimeUnit.NANOSECONDS) + paused.get();
    }

    /** Time goes by and timers run. */
    public void advance(Duration time) {
        virtual.advanceTimeBy(time);
    }

    /** Time goes by, and all timers that were due meanwhile run at its end. */
    public void stop(Duration time) {
        stoppedUntil = nanos() + time.toNanos();
        stopped = true;
        virtual.advanceTimeBy(time);
        stopped = false;
    }

    /** Time goes by but no timer runs. */
    public void pause(Duration time) {
        paused.addAndGet(time.toNanos());
    }

    /** Shows the time of day. */
    public long wallMillis() {
        whileReadingWall.run();
        return (virtual.now(TimeUnit.NANOSECONDS) + paused.get() + wallAhead.get()) / 1_000_000;
    }

    /** Only the wall clock shows that time went by, as while a machine is suspended, or when it is set. */
    public void jumpWall(Duration time) {
        wallAhead.addAndGet(time.toNanos());
    }

    public int armedTimers() {
        return armed.size();
    }

    @Override
    public Disposable schedule(Runnable task) {
        return virtual.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        whileArming.run();
        Object timer = new Object();
        armed.add(timer);
        Disposable scheduled = virtual.schedule(
                () -> {
                    armed.remove(timer);
                    task.run();
                },
                delay,
                unit);
        return () -> {
            armed.remove(timer);
            scheduled.dispose();
        };
    }

    @Override
    public Worker createWorker() {
        return virtual.createWorker();
    }
}
