package io.github.reactivelock;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * All flows of a client that have to do with one key, whichever cohort they stand in. Their cohorts share this mailbox, so
 * that a lock can go from one to the next within one event.
 */
final class Line extends Mailbox {

    /** Nanoseconds; a few times as long as it takes to wake a thread, and too short for others to miss theirs. */
    private static final long LONGEST_DELIVERY = 100_000;

    /** Nanoseconds; longer than any delivery that goes on, so that the timer is hardly ever needed. */
    private static final long LONGEST_STANDSTILL = 10 * LONGEST_DELIVERY;

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
     * Grants that follow one another on one thread. Taken from and looked at by that thread alone, but for the timer: a
     * flow that has given its lock back may go on with other things on its thread, and then the next one gets a thread
     * of its own. Others may look at {@code thread}, which is never theirs.
     */
    private final class Delivery implements Runnable {

        private final AtomicReference<@Nullable Runnable> next;
        private @Nullable Thread thread;
        private @Nullable Disposable rescue;
        private long since;

        Delivery(Runnable first) {
            this.next = new AtomicReference<>(first);
        }

        /** False on any other thread, and when it is time for others who need this one. */
        boolean takes(Runnable grant) {
            boolean takes = thread == Thread.currentThread()
                    && engine.timing.now() - since < LONGEST_DELIVERY
                    && next.compareAndSet(null, grant);
            if (takes && rescue == null) {
                rescue = engine.timing.after(LONGEST_STANDSTILL, this::leaveToAnother);
            }
            return takes;
        }

        @Override
        public void run() {
            since = engine.timing.now();
            thread = Thread.currentThread();
            delivery = this;
            boolean interrupted = false;
            try {
                for (Runnable grant = next.getAndSet(null); grant != null; grant = next.getAndSet(null)) {
                    grant.run();
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
                leaveToAnother(); // if the one before it threw
            }
        }

        private void leaveToAnother() {
            Runnable left = next.getAndSet(null);
            if (left != null) {
                engine.reports.run(new Delivery(left));
            }
        }
    }
}
