package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Agenda.Event;
import io.github.reactivelock.simulation.World.Channel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * A process: a clock that runs at a speed of its own, threads that are now and then late, and pauses, in which nothing
 * of it runs. A suspended machine is paused, and its monotonic clock stands still.
 */
final class Machine {

    private static final long MILLI = 1_000_000;
    private static final long LATE = 20 * 1_000;
    private static final long VERY_LATE = 8 * MILLI;
    private static final double VERY_LATE_SHARE = 0.003;
    private static final long WAKING = MILLI;

    final String name;
    private final World world;
    private final double speed;
    private final long offset;
    private final double standstills;
    private final long longest;
    /** Until then timers are late. */
    private long stalledUntil;

    private long stoodStillAt;
    /** Threads that stand still now inside a call out of the library. */
    private int stalled;

    private int blocked;
    private long resumesAt;
    /** From when to when the monotonic clock stands still, and for how long it did so before; of the world's time. */
    private long suspendedAt;

    private long suspendedUntil;
    private long suspendedBefore;

    /**
     * @param speed of the clock, about one
     * @param standstills share of the calls out of the library at which a thread stands still
     * @param longest nanoseconds of that
     */
    Machine(World world, String name, double speed, double standstills, long longest) {
        this.standstills = standstills;
        this.longest = longest;
        this.world = world;
        this.name = name;
        this.speed = speed;
        this.offset = world.random().nextLong();
    }

    long nanoTime() {
        long now = world.now();
        long still = Math.max(0, Math.min(now, suspendedUntil) - suspendedAt);
        return offset + (long) ((now - suspendedBefore - still) * speed);
    }

    /** When so much of its time will have passed. */
    long worldTimeIn(Duration time) {
        return world.now() + (long) (time.toNanos() / speed);
    }

    long wallMillis() {
        return TimeUnit.NANOSECONDS.toMillis((long) (world.now() * speed));
    }

    /** Nothing of it runs for so long. */
    void pause(long nanos) {
        resumesAt = Math.max(resumesAt, world.now() + nanos);
    }

    /** As a pause, and afterwards the monotonic clock shows nothing of it. */
    void suspend(long nanos) {
        long now = world.now();
        if (now >= suspendedUntil) {
            suspendedBefore += suspendedUntil - suspendedAt;
            suspendedAt = now;
            suspendedUntil = now + nanos;
            pause(nanos);
        }
    }

    /** For so long its timers are late, each by another time, and nothing else is. */
    void stall(long nanos) {
        stalledUntil = Math.max(stalledUntil, world.now() + nanos);
    }

    /** The thread that calls, which may be inside an event of the engine; others go on. */
    void mayStandStill() {
        if (standstills > 0 && world.chance(standstills)) {
            stalled++;
            block(world.shortTime(longest));
            stalled--;
            stoodStillAt = world.now();
        }
    }

    /** The thread that calls stands still for so long. */
    void block(long nanos) {
        blocked++;
        world.block(nanos, () -> resumesAt);
        blocked--;
    }

    /** A thread of it stands still. */
    boolean isBlocked() {
        return blocked > 0;
    }

    /** Nothing of it can look at a clock. */
    boolean isSuspended() {
        return world.now() < suspendedUntil;
    }

    boolean isPaused() {
        return world.now() < resumesAt;
    }

    /** When it ran last after it had been paused, or zero. */
    long resumedAt() {
        return resumesAt;
    }

    /** Until when something of it was late or stood still, which is now while a thread does; or zero. */
    long hinderedUntil() {
        return stalled > 0 ? world.now() : Math.max(resumesAt, Math.max(stalledUntil, stoodStillAt));
    }

    /** Something of this process happens in a while, in the order of the channel if there is one. */
    private Event after(long delay, boolean isTimer, @Nullable Channel order, Runnable task) {
        long at = world.now() + Math.max(0, delay);
        boolean[] mayStall = {isTimer};
        Event[] event = new Event[1];
        event[0] = world.at(order == null ? at : order.after(at), () -> {
            if (isPaused()) {
                long later = resumesAt + world.shortTime(WAKING);
                world.put(event[0], order == null ? later : order.after(later));
            } else if (mayStall[0] && world.now() < stalledUntil) {
                mayStall[0] = false;
                world.put(event[0], world.now() + world.anyTime(stalledUntil - world.now()));
            } else {
                task.run();
            }
        });
        return event[0];
    }

    /** As {@link #after}, for what is not called off. */
    void later(long delay, @Nullable Channel order, Runnable task) {
        Event unused = after(delay, false, order, task);
    }

    private long lateness() {
        return world.chance(VERY_LATE_SHARE) ? world.shortTime(VERY_LATE) : world.shortTime(LATE);
    }

    /** A thread pool, whose tasks begin a little late and now and then much later. */
    Scheduler scheduler() {
        return new Threads();
    }

    private final class Threads implements Scheduler {

        @Override
        public Disposable schedule(Runnable task) {
            return on(null, task, 0);
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return on(null, task, (long) (unit.toNanos(delay) / speed));
        }

        @Override
        public Disposable schedulePeriodically(Runnable task, long first, long period, TimeUnit unit) {
            return periodically(null, task, unit.toNanos(first), unit.toNanos(period));
        }

        @Override
        public Worker createWorker() {
            return new InOrder();
        }

        @Override
        public long now(TimeUnit unit) {
            return unit.convert(wallMillis(), TimeUnit.MILLISECONDS);
        }

        private Disposable on(@Nullable Channel order, Runnable task, long delay) {
            if (delay == 0) {
                mayStandStill();
            }
            Event event = after(delay + lateness(), delay > 0, order, task);
            return new Scheduled(world, event);
        }

        private Disposable periodically(@Nullable Channel order, Runnable task, long first, long period) {
            Repeated repeated = new Repeated(this, order, task, (long) (period / speed));
            repeated.next = on(order, repeated, (long) (first / speed));
            return repeated;
        }

        private final class InOrder implements Worker {
            private final Channel order = new Channel();
            private boolean disposed;
            private boolean running;

            @Override
            public Disposable schedule(Runnable task) {
                return on(order, guarded(task), 0);
            }

            @Override
            public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
                return on(null, guarded(task), (long) (unit.toNanos(delay) / speed));
            }

            @Override
            public Disposable schedulePeriodically(Runnable task, long first, long period, TimeUnit unit) {
                return periodically(null, guarded(task), unit.toNanos(first), unit.toNanos(period));
            }

            private Runnable guarded(Runnable task) {
                return () -> {
                    if (running) { // and blocked
                        later(WAKING, null, guarded(task));
                    } else if (!disposed) {
                        running = true;
                        task.run();
                        running = false;
                    }
                };
            }

            @Override
            public void dispose() {
                disposed = true;
            }

            @Override
            public boolean isDisposed() {
                return disposed;
            }
        }
    }

    private record Scheduled(World world, Event event) implements Disposable {
        @Override
        public void dispose() {
            world.callOff(event);
        }

        @Override
        public boolean isDisposed() {
            return event.isOff();
        }
    }

    /** What is due while the process is paused is done once. */
    private static final class Repeated implements Runnable, Disposable {
        private final Threads threads;
        private final @Nullable Channel order;
        private final Runnable task;
        private final long period;
        private Disposable next = () -> {};
        private boolean disposed;

        Repeated(Threads threads, @Nullable Channel order, Runnable task, long period) {
            this.threads = threads;
            this.order = order;
            this.task = task;
            this.period = period;
        }

        @Override
        public void run() {
            if (!disposed) {
                next = threads.on(order, this, period);
                task.run();
            }
        }

        @Override
        public void dispose() {
            disposed = true;
            next.dispose();
        }

        @Override
        public boolean isDisposed() {
            return disposed;
        }
    }
}
