package io.github.reactivelock.engine.user;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A scheduler that a client was given. What it refuses is run by {@link WorkThreads}: a lock that is not delivered
 * would be kept, and where a refusal is noticed, on the timer or a driver's thread, no code of a user may run.
 *
 * <p>Where hooks take along what threads carry, agents do so with a given scheduler, too: its task would carry what the
 * flow did that released the lock, and a flow that carries nothing has nothing to replace it by. So the task is given
 * to that scheduler by a thread of {@link WorkThreads}, which carries nothing. Where Reactor propagates thread-locals
 * itself, it replaces them by nothing too, and no other thread is needed.
 */
final class WorkScheduler implements Scheduler {

    private static final Logger log = LoggerFactory.getLogger(WorkScheduler.class);

    /**
     * How deep tasks run inside one another on all threads together, before each thread is counted alone, and then on
     * one.
     */
    private static final int DEEPEST = 16;

    /** What a task is that ran in place. */
    private static final Disposable DONE = Disposables.disposed();

    private final Scheduler given;
    private final AtomicBoolean told = new AtomicBoolean();
    /** How many tasks run in place, inside one another or on several threads. */
    private final AtomicInteger inPlace = new AtomicInteger();

    private final Map<Thread, Deep> deep = new ConcurrentHashMap<>();

    private WorkScheduler(Scheduler given) {
        this.given = given;
    }

    static Scheduler of(Scheduler given) {
        return given == WorkThreads.SCHEDULER ? given : new WorkScheduler(given);
    }

    private boolean isImmediate() {
        return given == Schedulers.immediate();
    }

    @Override
    public Disposable schedule(Runnable task) {
        return schedule(task, null);
    }

    private Disposable schedule(Runnable task, @Nullable Worker way) {
        return ThreadLocals.areTakenAlongBlindly() ? handedOver(task, way) : offer(task, way);
    }

    private Disposable handedOver(Runnable task, @Nullable Worker way) {
        if (isImmediate()) {
            return WorkThreads.SCHEDULER.schedule(task);
        }
        Disposable.Swap later = Disposables.swap();
        WorkThreads.SCHEDULER.schedule(() -> {
            if (!later.isDisposed() && (way == null || !way.isDisposed())) {
                later.update(offer(task, way));
            }
        });
        return later;
    }

    private Disposable offer(Runnable task, @Nullable Worker way) {
        if (isImmediate()) {
            runInPlace(task);
            return DONE;
        }
        Task offered = new Task(task);
        try {
            return way == null ? given.schedule(offered) : way.schedule(offered);
        } catch (Throwable e) { // an Error too, as when no thread can be made: the work would never be cancelled
            if (offered.isRunHere()) { // and it is the task that threw
                throw e;
            }
            tell(e);
            return WorkThreads.SCHEDULER.schedule(offered);
        }
    }

    /**
     * The work of one lock may take another, whose grant is delivered inside it, and so on. From a certain depth on,
     * what a task schedules runs after that task and no longer inside it, or locks within locks would overflow the
     * stack. The depth is that of one thread: a task that blocks on what it has scheduled would wait for itself.
     */
    private void runInPlace(Runnable task) {
        boolean isShallow = inPlace.incrementAndGet() <= DEEPEST;
        try {
            if (isShallow) {
                task.run();
            } else {
                runDeep(task);
            }
        } finally {
            inPlace.decrementAndGet();
        }
    }

    private void runDeep(Runnable task) {
        Thread here = Thread.currentThread();
        Deep own = deep.get(here);
        if (own != null) {
            own.run(task);
            return;
        }
        Deep outermost = new Deep();
        deep.put(here, outermost);
        try {
            outermost.runAll(task);
        } finally {
            deep.remove(here);
        }
    }

    /** What runs in place on one thread; for that thread only. */
    private static final class Deep {
        private final Queue<Runnable> after = new ArrayDeque<>();
        private int inside;

        void run(Runnable task) {
            if (inside == DEEPEST) {
                after.add(task);
                return;
            }
            inside++;
            try {
                task.run();
            } finally {
                inside--;
            }
        }

        void runAll(Runnable first) {
            Throwable thrown = null;
            for (Runnable next = first; next != null; next = after.poll()) {
                try {
                    run(next);
                } catch (Throwable e) { // those behind it are of other flows
                    if (thrown == null) {
                        thrown = e;
                    } else {
                        thrown.addSuppressed(e);
                    }
                }
            }
            if (thrown != null) {
                throw Exceptions.propagate(thrown);
            }
        }
    }

    private void tell(Throwable refusal) {
        String why = given.isDisposed()
                ? "is disposed; close a lock client before its workScheduler"
                : "refuses tasks, because it is full, say, or can make no thread; give it more room or another one to the lock client";
        String message = "{} {}. Code that runs under locks runs on threads of the lock library instead";
        if (told.compareAndSet(false, true)) {
            log.warn(message, given, why, refusal);
        } else {
            log.debug(message, given, why, refusal);
        }
    }

    @Override
    public boolean isDisposed() {
        return given.isDisposed();
    }

    @Override
    public Worker createWorker() {
        if (isImmediate()) {
            return ThreadLocals.areTakenAlongBlindly() ? WorkThreads.SCHEDULER.createWorker() : given.createWorker();
        }
        Worker worker;
        try {
            worker = given.createWorker();
        } catch (Throwable e) {
            tell(e);
            return WorkThreads.SCHEDULER.createWorker();
        }
        return new RefusingWorker(worker);
    }

    /** A worker of the given scheduler. */
    private final class RefusingWorker implements Worker {
        private final Worker worker;
        private volatile boolean unwanted;

        RefusingWorker(Worker worker) {
            this.worker = worker;
        }

        @Override
        public Disposable schedule(Runnable task) {
            return unwanted ? worker.schedule(task) : WorkScheduler.this.schedule(task, worker);
        }

        @Override
        public void dispose() {
            unwanted = true;
            worker.dispose();
        }

        @Override
        public boolean isDisposed() {
            return unwanted;
        }
    }

    /** Is run once, because a scheduler that throws may keep it all the same. */
    private static final class Task implements Runnable {
        private static final AtomicReferenceFieldUpdater<Task, Thread> RUNNER =
                AtomicReferenceFieldUpdater.newUpdater(Task.class, Thread.class, "runner");

        private final Runnable task;
        private volatile @Nullable Thread runner;

        Task(Runnable task) {
            this.task = task;
        }

        boolean isRunHere() {
            return runner == Thread.currentThread();
        }

        @Override
        public void run() {
            if (RUNNER.compareAndSet(this, null, Thread.currentThread())) {
                task.run();
            }
        }
    }
}
