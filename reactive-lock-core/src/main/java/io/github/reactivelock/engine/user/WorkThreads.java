package io.github.reactivelock.engine.user;

import io.github.reactivelock.spi.support.OwnScheduler;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/**
 * The threads on which user code runs unless a client has a scheduler of its own; one pool for the whole JVM. As many
 * as there are processors take the tasks in their order, the one that became idle last first. Where they keep their
 * threads, because their tasks block or compute, one thread more takes the oldest task after {@link #MOMENT}, and so
 * on; so a task delays no other. From {@link #MANY} threads on that takes {@link #LONG} each time, and no longer,
 * because those that block may wait for the very task. Waking a thread for each task at once would cost several times
 * what most tasks do. Lock-free, because event loops bring the tasks.
 *
 * <p>One thread at a time is called, and calls the next one, if there is need, before its own first task. A caller adds
 * its task and then looks for a thread; a thread marks itself as idle and then looks for tasks; so one of the two finds
 * the other. Without a client that is open no thread stays idle, so that an application that is taken away leaves none
 * behind.
 */
public final class WorkThreads implements Executor {

    /** Enough for flows that block now and then; a process with as many blocked ones has another problem. */
    private static final int MANY = 256;

    /** Nanoseconds that a task waits for a thread which is busy; a few times as long as it takes to wake one. */
    private static final long MOMENT = 100_000;

    /** The same where there are many threads, so that they become more only slowly. */
    private static final long LONG = 1_000_000_000;

    /** For all clients; has no thread before its first task, and is never disposed. */
    public static final WorkThreads SHARED = new WorkThreads(MANY, Duration.ofMinutes(1));

    public static final Scheduler SCHEDULER =
            OwnScheduler.over(task -> new OwnThread("reactive-lock-work-timer", task), SHARED);

    private static final Logger log = LoggerFactory.getLogger(WorkThreads.class);
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final int usual = Runtime.getRuntime().availableProcessors();
    private final int many;
    private final long longestIdle;
    /** Nanoseconds after which a thread that is idle ends. */
    private volatile long mayBeIdle;

    private final AtomicInteger clients = new AtomicInteger();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedDeque<Worker> idle = new ConcurrentLinkedDeque<>();
    private final AtomicInteger threads = new AtomicInteger();
    /** Threads that are neither idle nor called. */
    private final AtomicInteger busy = new AtomicInteger();
    /** A thread was called and has not taken a task yet. */
    private final AtomicBoolean calling = new AtomicBoolean();

    private final AtomicBoolean toldOfMany = new AtomicBoolean();

    WorkThreads(int many, Duration longestIdle) {
        this.many = many;
        this.longestIdle = longestIdle.toNanos();
        this.mayBeIdle = this.longestIdle;
    }

    /** A client is there. */
    public void clientOpened() {
        if (clients.getAndIncrement() == 0) {
            mayBeIdle = longestIdle;
        }
    }

    /** A client is closed; with the last of them idle threads end. */
    public void clientClosed() {
        if (clients.decrementAndGet() == 0) {
            mayBeIdle = 0;
            if (clients.get() > 0) { // another client has begun meanwhile, and may have set the field before
                mayBeIdle = longestIdle;
            }
            idle.forEach(LockSupport::unpark);
        }
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        call();
    }

    /** Calls a thread for tasks that were added, unless one is on its way: that one will see to it. */
    private void call() {
        if (calling.compareAndSet(false, true)) {
            Worker next = idle.pollFirst();
            if (next != null) {
                next.wake();
            } else {
                start();
            }
        }
    }

    private void start() {
        threads.incrementAndGet();
        try {
            new Worker().start();
        } catch (Throwable e) { // no memory for a thread
            threads.decrementAndGet();
            calling.set(false);
            log.error("no thread can be made for code that runs under a lock; it waits for one", e);
        }
    }

    private final class Worker extends OwnThread {

        private volatile boolean awake;

        Worker() {
            super("reactive-lock-work-" + NUMBERS.incrementAndGet(), null);
        }

        void wake() {
            awake = true;
            LockSupport.unpark(this);
        }

        @Override
        public void run() {
            do {
                Runnable task = firstTask();
                busy.incrementAndGet();
                while (task != null) {
                    interrupted(); // left over from the task before, or meant for it and late
                    handle(task);
                    task = tasks.poll();
                }
                busy.decrementAndGet();
            } while (isCalledAgain());
        }

        /**
         * The first task of a thread that was called. Busy threads take it sooner, unless their own tasks take long.
         */
        private @Nullable Runnable firstTask() {
            Runnable oldest = tasks.peek();
            while (oldest != null && busy.get() >= usual) {
                awaitOthers();
                Runnable now = tasks.peek();
                if (now == oldest) {
                    break;
                }
                oldest = now;
            }
            calling.set(false);
            Runnable first = tasks.poll();
            callIfNeeded();
            return first;
        }

        private void awaitOthers() {
            boolean areMany = busy.get() >= many;
            if (areMany && toldOfMany.compareAndSet(false, true)) {
                log.warn(
                        "{} threads are busy with code that runs under locks or with their handles; from now on more of it"
                                + " may wait for a second; block elsewhere, or give the lock clients a workScheduler",
                        many);
            }
            interrupted(); // parking would return at once
            LockSupport.parkNanos(WorkThreads.this, areMany ? LONG : MOMENT);
        }

        private void handle(Runnable task) {
            try {
                task.run();
            } catch (Throwable e) {
                log.error("code that runs under a lock threw", e);
            }
        }

        /** Waits; false if there was no task for so long that this thread may end. */
        private boolean isCalledAgain() {
            awake = false;
            idle.addFirst(this);
            callIfNeeded();
            long since = System.nanoTime();
            while (!awake) {
                long left = mayBeIdle - (System.nanoTime() - since);
                if (left <= 0 && idle.remove(this)) {
                    threads.decrementAndGet();
                    callIfNeeded();
                    return false;
                }
                interrupted(); // parking would return at once
                LockSupport.parkNanos(WorkThreads.this, Math.max(1, left));
            }
            return true;
        }

        private void callIfNeeded() {
            if (!tasks.isEmpty()) {
                call();
            }
        }
    }
}
