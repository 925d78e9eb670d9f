package io.github.reactivelock.spi.support;

import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * A scheduler whose tasks carry nothing of the thread that schedules them. Reactor's schedulers let hooks wrap each
 * task, and agents change the executors of the JDK, so that a task runs with what that thread carried: a trace, a user.
 * What a client does for itself would then be done in the name of the flow that happened to cause it, for as long as
 * the client lives.
 *
 * <p>It has a timer with one thread, which is made with the first task and ends when there was none for two seconds.
 * Scheduling and disposing take no lock. A task that is disposed of while it runs is not interrupted.
 */
public final class OwnScheduler implements Scheduler {

    private static final Logger log = LoggerFactory.getLogger(OwnScheduler.class);
    private static final long IDLE = Duration.ofSeconds(2).toNanos();

    private final ThreadFactory threads;
    private final Executor place;
    /** The place takes nothing along by itself, so what is due at once goes there at once. */
    private final boolean isDirect;

    private final ConcurrentSkipListSet<Timed> timed = new ConcurrentSkipListSet<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final AtomicReference<@Nullable Thread> timer = new AtomicReference<>();
    private volatile boolean disposed;

    private OwnScheduler(ThreadFactory threads, Executor place, boolean isDirect) {
        this.threads = threads;
        this.place = place;
        this.isDirect = isDirect;
    }

    /**
     * A scheduler that runs its tasks on the timer's thread, one after the other.
     *
     * @param threads makes the thread
     * @return to be disposed of by the caller
     */
    public static OwnScheduler on(ThreadFactory threads) {
        return new OwnScheduler(threads, Runnable::run, false);
    }

    /**
     * A scheduler that runs its tasks in an executor of the JDK, which it calls on the timer's thread alone: that one
     * carries nothing.
     *
     * @param threads makes the timer's thread
     * @param executor where tasks run; what it refuses runs on the timer's thread
     * @return to be disposed of by the caller; the executor is not
     */
    public static OwnScheduler feeding(ThreadFactory threads, Executor executor) {
        return new OwnScheduler(threads, executor, false);
    }

    /**
     * A scheduler that runs its tasks in an executor of ours.
     *
     * @param threads makes the timer's thread, which is there for delays only
     * @param executor where tasks run; takes nothing along of the thread that calls it
     * @return to be disposed of by the caller; the executor is not
     */
    public static OwnScheduler over(ThreadFactory threads, Executor executor) {
        return new OwnScheduler(threads, executor, true);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return put(task, null);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return delay <= 0 ? put(task, null) : put(task, unit.toNanos(delay), 0, null);
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
        return put(task, unit.toNanos(initialDelay), Math.max(1, unit.toNanos(period)), null);
    }

    @Override
    public Worker createWorker() {
        return new OwnWorker();
    }

    /** What was scheduled and has not begun is not done any more. */
    @Override
    public void dispose() {
        disposeAfter(-1);
    }

    /**
     * Ends it as {@link #dispose}, when what is due soon is done.
     *
     * @param nanos how soon, in nanoseconds; that is done now, on the calling thread
     */
    public void disposeAfter(long nanos) {
        long until = System.nanoTime() + nanos;
        disposed = true;
        LockSupport.unpark(timer.get());
        for (Timed task : timed) {
            if (timed.remove(task) && nanos >= 0 && task.due - until <= 0) {
                task.run();
            }
        }
    }

    @Override
    public boolean isDisposed() {
        return disposed;
    }

    private Disposable put(Runnable body, Disposable.@Nullable Composite owner) {
        if (!isDirect) {
            return put(body, 0, 0, owner);
        }
        Task task = new Task(body, owner);
        keep(task, owner);
        place.execute(task);
        return task;
    }

    private Disposable put(Runnable body, long delay, long period, Disposable.@Nullable Composite owner) {
        long due = System.nanoTime() + Math.max(0, Math.min(delay, Long.MAX_VALUE / 2));
        Timed task = period == 0 ? new Timed(body, due, owner) : new Periodic(body, due, period, owner);
        keep(task, owner);
        timed.add(task);
        if (disposed) {
            task.dispose();
            throw Exceptions.failWithRejected("a scheduler of the lock library is disposed");
        }
        wakeFor(task);
        return task;
    }

    private void keep(Task task, Disposable.@Nullable Composite owner) {
        if (disposed || (owner != null && !owner.add(task))) {
            throw Exceptions.failWithRejected("a scheduler of the lock library is disposed");
        }
    }

    // ---- the timer

    /** A caller adds its task and then looks for the thread; the thread announces its end and then looks for tasks. */
    private void wakeFor(Timed added) {
        Thread running = timer.get();
        if (running != null) {
            if (timed.lower(added) == null) {
                LockSupport.unpark(running);
            }
            return;
        }
        Thread fresh = threads.newThread(this::keepTime);
        if (timer.compareAndSet(null, fresh)) {
            try {
                fresh.start();
            } catch (Throwable e) { // no memory for a thread
                timer.set(null);
                added.dispose();
                throw e;
            }
        }
    }

    private void keepTime() {
        long idleSince = System.nanoTime();
        while (!disposed) {
            Timed next = first();
            long now = System.nanoTime();
            if (next != null) {
                idleSince = now;
                if (next.due - now > 0) {
                    pause(Math.min(next.due - now, IDLE)); // nothing wakes it where the last task is disposed of
                } else if (timed.remove(next)) {
                    handOver(next);
                }
            } else if (now - idleSince < IDLE) {
                pause(IDLE - (now - idleSince));
            } else {
                timer.set(null);
                if (timed.isEmpty() || !timer.compareAndSet(null, Thread.currentThread())) {
                    return;
                }
            }
        }
    }

    private @Nullable Timed first() {
        Iterator<Timed> inOrder = timed.iterator();
        return inOrder.hasNext() ? inOrder.next() : null;
    }

    /** Known to {@link BlockHoundAllowances} by its name. */
    private void pause(long nanos) {
        Thread.interrupted(); // parking would return at once
        LockSupport.parkNanos(this, nanos);
    }

    private void handOver(Timed task) {
        try {
            place.execute(task);
        } catch (Throwable e) { // no memory for a thread: its caller would wait for ever
            log.warn("a task of the lock library runs on its timer because its threads refuse it", e);
            task.run();
        }
    }

    private static class Task implements Runnable, Disposable {

        private final Disposable.@Nullable Composite owner;
        /** None once it is over. */
        private volatile @Nullable Runnable body;

        Task(Runnable body, Disposable.@Nullable Composite owner) {
            this.body = body;
            this.owner = owner;
        }

        @Override
        public void run() {
            Runnable now = body;
            if (now != null) {
                try {
                    now.run();
                } finally {
                    ran();
                }
            }
        }

        void ran() {
            end();
        }

        final void end() {
            body = null;
            if (owner != null) {
                owner.remove(this);
            }
        }

        @Override
        public void dispose() {
            end();
        }

        @Override
        public final boolean isDisposed() {
            return body == null;
        }
    }

    private class Timed extends Task implements Comparable<Timed> {

        /** The lower number goes first of two tasks that are due at the same moment. */
        private final int number = numbers.getAndIncrement();
        /** Changed only while it is not waiting. */
        long due;

        Timed(Runnable body, long due, Disposable.@Nullable Composite owner) {
            super(body, owner);
            this.due = due;
        }

        @Override
        public final void run() {
            try {
                super.run();
            } catch (Throwable e) { // one failure must end neither what is periodic nor the thread
                log.error("a task of the lock library threw; please report this", e);
            }
        }

        @Override
        public final void dispose() {
            end();
            timed.remove(this);
        }

        @Override
        public final int compareTo(Timed other) {
            long later = due - other.due;
            return later == 0 ? number - other.number : Long.signum(later);
        }
    }

    private final class Periodic extends Timed {

        private final long period;

        Periodic(Runnable body, long due, long period, Disposable.@Nullable Composite owner) {
            super(body, due, owner);
            this.period = period;
        }

        @Override
        void ran() {
            if (!isDisposed()) {
                due += period;
                timed.add(this);
                if (isDisposed() || disposed) {
                    dispose();
                } else {
                    wakeFor(this);
                }
            }
        }
    }

    /** Its tasks end with it. */
    private final class OwnWorker implements Worker {

        private final Disposable.Composite tasks = Disposables.composite();

        @Override
        public Disposable schedule(Runnable task) {
            return put(task, tasks);
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return delay <= 0 ? put(task, tasks) : put(task, unit.toNanos(delay), 0, tasks);
        }

        @Override
        public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
            return put(task, unit.toNanos(initialDelay), Math.max(1, unit.toNanos(period)), tasks);
        }

        @Override
        public void dispose() {
            tasks.dispose();
        }

        @Override
        public boolean isDisposed() {
            return tasks.isDisposed();
        }
    }
}
