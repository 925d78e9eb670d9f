package io.github.reactivelock;

import java.util.ArrayDeque;
import java.util.Queue;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** A work scheduler on which nothing runs until the test says so, for what happens between a grant and its delivery. */
public final class HandScheduler implements Scheduler {

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    /** Tasks run at once where they arise. */
    public boolean isOpen = true;

    public void open() {
        isOpen = true;
        for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
            next.run();
        }
    }

    public void shut() {
        isOpen = false;
    }

    public void runOne() {
        tasks.remove().run();
    }

    public int waiting() {
        return tasks.size();
    }

    @Override
    public Disposable schedule(Runnable task) {
        if (isOpen) {
            task.run();
        } else {
            tasks.add(task);
        }
        return () -> tasks.remove(task);
    }

    @Override
    public Worker createWorker() {
        return new Worker() {
            @Override
            public Disposable schedule(Runnable task) {
                return HandScheduler.this.schedule(task);
            }

            @Override
            public void dispose() {}
        };
    }
}
