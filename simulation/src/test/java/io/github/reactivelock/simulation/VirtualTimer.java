package io.github.reactivelock.simulation;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Reactor's scheduler for virtual time, without one trait that no scheduler for real time has: a periodic task that is
 * disposed by one thread while another runs it throws at the latter.
 */
final class VirtualTimer implements Scheduler {

    private final VirtualTimeScheduler virtual = VirtualTimeScheduler.create();

    /** Time goes by and timers run. */
    void advance(Duration time) {
        virtual.advanceTimeBy(time);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return virtual.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return virtual.schedule(task, delay, unit);
    }

    @Override
    public Worker createWorker() {
        return new Periodic(virtual.createWorker());
    }

    private record Periodic(Worker worker) implements Worker {

        @Override
        public Disposable schedule(Runnable task) {
            return worker.schedule(task);
        }

        @Override
        public Disposable schedulePeriodically(Runnable task, long first, long period, TimeUnit unit) {
            return worker.schedule(() -> repeat(task, period, unit), first, unit);
        }

        private void repeat(Runnable task, long period, TimeUnit unit) {
            task.run();
            try {
                Disposable unused = schedulePeriodically(task, period, period, unit);
            } catch (RejectedExecutionException disposed) {
                // There is no next time.
            }
        }

        @Override
        public void dispose() {
            worker.dispose();
        }
    }
}
