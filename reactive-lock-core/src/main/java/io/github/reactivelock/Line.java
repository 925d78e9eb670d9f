package io.github.reactivelock;

import org.jspecify.annotations.Nullable;

/**
 * All flows of a client that have to do with one key, whichever cohort they stand in. Their cohorts share this mailbox, so
 * that a lock can go from one to the next within one event.
 */
final class Line extends Mailbox {

    /** Nanoseconds; a few times as long as it takes to wake a thread, and too short for others to miss theirs. */
    private static final long LONGEST_DELIVERY = 100_000;

    final Engine engine;

    /** Flows that keep this line in the engine's table; guarded by the table, as is the next. */
    int members;

    /** Where flows with {@link Fairness#COHORT} stand together. */
    @Nullable
    Cohort cohort;

    /** None until a flow of this line gets the lock in its turn, which most never see; touched only inside events. */
    private @Nullable Gathering gathering;

    private volatile @Nullable Delivery delivery;

    Line(Engine engine, String key) {
        super(key);
        this.engine = engine;
    }

    /** Called by the table only. */
    Line joined() {
        members++;
        return this;
    }

    // ---- claims in order, which go to the store together

    void ask(Attempt attempt) {
        if (gathering == null || !gathering.takes(attempt)) {
            attempt.begin();
        }
    }

    void gatherDuring(Grant grant) {
        if (gathering == null) {
            gathering = new Gathering(this);
        }
        gathering.open(grant);
    }

    boolean gathersDuring(Grant grant) {
        return gathering != null && gathering.isOpenFor(grant);
    }

    void endOf(Grant grant) {
        if (gathering != null) {
            gathering.shut(grant);
        }
    }

    // ---- grants, which reach their flows together

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
        private long since;

        Delivery(Runnable first) {
            this.next = first;
        }

        /** False on any other thread, and when it is time for others who need this one. */
        boolean takes(Runnable grant) {
            boolean takes =
                    thread == Thread.currentThread() && next == null && engine.timing.now() - since < LONGEST_DELIVERY;
            if (takes) {
                next = grant;
            }
            return takes;
        }

        @Override
        public void run() {
            since = engine.timing.now();
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
