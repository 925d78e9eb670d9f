package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.user.Mailbox;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * How the flows of one key get their lock and learn of its release: on threads of the work scheduler, where they follow
 * one another on one thread as far as that is quicker than to wake another. It is the mailbox of its key, so that it
 * costs no object.
 */
abstract class Deliveries extends Mailbox {

    /** Nanoseconds; a few times as long as it takes to wake a thread, and too short for others to miss theirs. */
    private static final long LONGEST_DELIVERY = 100_000;

    /** Nanoseconds; longer than any delivery that goes on, so that the timer is hardly ever needed. */
    private static final long LONGEST_STANDSTILL = 10 * LONGEST_DELIVERY;

    /** Nanoseconds; a few times as long as a flow needs that only asks for the lock again. */
    private static final long SHORT = 50_000;

    private volatile @Nullable Delivery delivery;

    /**
     * Whether the last flow took little time after its release was delivered; a guess about the next, which may be
     * wrong.
     */
    private volatile boolean flowsGoOnShortly = true;

    Deliveries(String key) {
        super(key);
    }

    /** Those of the engine, which the key knows; a reference of its own would cost every hold eight bytes. */
    abstract Services services();

    @Override
    public final void goOnElsewhere(Runnable rest) {
        services().others.execute(rest);
    }

    /**
     * Gives a flow its lock, on the work scheduler. Where the flow before it gave the lock back before it let go of its
     * thread of that scheduler, this one follows on the same thread: there is nothing to wake.
     */
    final void deliver(Runnable grant) {
        Delivery current = delivery;
        if (current == null || !current.takes(grant)) {
            services().userCallbacks.schedule(new Delivery(grant));
        }
    }

    /**
     * Tells a flow that its release is done, so that it goes on with what comes after its lock. On the same thread too,
     * if what the last such flow did was short, because a thread that is woken for so little costs more than it helps,
     * and flows that soon want the lock again keep it in this process. Otherwise on a thread of its own.
     */
    final void conclude(Runnable end) {
        if (delivery == null && flowsGoOnShortly) { // as after most releases, which the store answers
            services().userCallbacks.schedule(end);
            return;
        }
        Runnable timed = () -> {
            long began = services().timing.now();
            try {
                end.run();
            } finally {
                flowsGoOnShortly = services().timing.now() - began < SHORT;
            }
        };
        Delivery current = delivery;
        if (!flowsGoOnShortly || current == null || !current.takes(timed)) {
            services().userCallbacks.schedule(timed);
        }
    }

    /**
     * What flows do one after the other on one thread. Added to and taken from by that thread alone, but for the timer:
     * a flow that has given its lock back may go on with other things on its thread, and then what is left gets threads
     * of its own. Others may look at {@code thread}, which is never theirs.
     */
    private final class Delivery implements Runnable {

        private final Runnable first;
        /**
         * None until a flow gives the lock back on this thread, which most do elsewhere. The timer takes from it too.
         */
        private @Nullable Queue<Runnable> left;

        private @Nullable Thread thread;
        private @Nullable Disposable rescue;
        private volatile boolean rescued;
        private long since;

        Delivery(Runnable first) {
            this.first = first;
        }

        /** False on any other thread, and when it is time for others who need this one. */
        boolean takes(Runnable task) {
            if (thread != Thread.currentThread() || services().timing.now() - since >= LONGEST_DELIVERY) {
                return false;
            }
            if (put(task)) {
                rescue = services().timing.after(LONGEST_STANDSTILL, this::rescue);
            }
            if (rescued || services().timing.isDisposed()) { // no rescue would come for what is added now
                leaveToOthers();
            }
            return true;
        }

        @Override
        public void run() {
            since = services().timing.now();
            thread = Thread.currentThread();
            delivery = this;
            boolean interrupted = false;
            try {
                for (Runnable task = first; task != null; task = next()) {
                    task.run();
                    interrupted |= Thread.interrupted(); // by the flow, for itself and not for the next one
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                thread = null;
                if (delivery == this) {
                    delivery = null;
                }
                if (rescue != null) {
                    rescue.dispose();
                }
                leaveToOthers(); // if a task threw
            }
        }

        private void rescue() {
            rescued = true;
            flowsGoOnShortly = false;
            leaveToOthers();
        }

        /** True the first time. */
        private synchronized boolean put(Runnable task) {
            boolean first = left == null;
            if (left == null) {
                left = new ArrayDeque<>();
            }
            left.add(task);
            return first;
        }

        private synchronized @Nullable Runnable next() {
            return left == null ? null : left.poll();
        }

        private void leaveToOthers() {
            for (Runnable task = next(); task != null; task = next()) {
                services().userCallbacks.schedule(new Delivery(task));
            }
        }
    }
}
