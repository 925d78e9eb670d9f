package io.github.reactivelock;

import org.jspecify.annotations.Nullable;

/**
 * All flows of a client that have to do with one key, whichever cohort they stand in. Their cohorts share this mailbox, so
 * that a lock can go from one to the next within one event.
 */
final class Line extends Mailbox {

    private static final int IN_A_ROW = 100;

    final Engine engine;

    /** Flows that keep this line in the engine's table; guarded by the table, as is the next. */
    int members;

    /** Where flows with {@link Fairness#COHORT} stand together. */
    @Nullable
    Cohort cohort;

    private volatile @Nullable Delivery delivery;

    Line(Engine engine, String key) {
        super(key);
        this.engine = engine;
    }

    /**
     * Gives a flow its lock, on the work scheduler. Where the flow before it gave the lock back before it let go of its
     * thread of that scheduler, this one follows on the same thread: there is nothing to wake.
     */
    void deliver(Runnable grant) {
        Delivery current = delivery;
        if (current == null || !current.takes(grant)) {
            engine.reports.run(new Delivery(grant));
        }
    }

    /**
     * Grants that follow one another on one thread. Used by that thread alone; others may look at {@code thread}, which
     * is never theirs.
     */
    private final class Delivery implements Runnable {

        private @Nullable Runnable next;
        private @Nullable Thread thread;
        private int following = IN_A_ROW;

        Delivery(Runnable first) {
            this.next = first;
        }

        /** False on any other thread, and after so many that it is time for others who need the thread. */
        boolean takes(Runnable grant) {
            if (thread != Thread.currentThread() || next != null || following == 0) {
                return false;
            }
            following--;
            next = grant;
            return true;
        }

        @Override
        public void run() {
            thread = Thread.currentThread();
            delivery = this;
            try {
                for (Runnable grant = next; grant != null; grant = next) {
                    next = null;
                    grant.run();
                }
            } finally {
                thread = null;
                if (delivery == this) {
                    delivery = null;
                }
                if (next != null) { // the one before it threw
                    engine.reports.run(new Delivery(next));
                }
            }
        }
    }
}
