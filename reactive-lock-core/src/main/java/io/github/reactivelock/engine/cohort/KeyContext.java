package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.engine.flow.WaitingFlows;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.user.HeardRequest;
import io.github.reactivelock.engine.user.Mailbox;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * All flows of a client that have to do with one key, in any cohort. The cohorts share this mailbox, so that a lock can
 * go from one to the next within one event.
 */
public final class KeyContext extends Mailbox implements WaitingFlows.Key {

    /** Nanoseconds; a few times as long as it takes to wake a thread, and too short for others to miss theirs. */
    private static final long LONGEST_DELIVERY = 100_000;

    /** Nanoseconds; longer than any delivery that goes on, so that the timer is hardly ever needed. */
    private static final long LONGEST_STANDSTILL = 10 * LONGEST_DELIVERY;

    /** Nanoseconds; a few times as long as a flow needs that only asks for the lock again. */
    private static final long SHORT = 50_000;

    private static final AtomicReferenceFieldUpdater<KeyContext, Cohort> COHORT =
            AtomicReferenceFieldUpdater.newUpdater(KeyContext.class, Cohort.class, "cohort");

    private static final AtomicReferenceFieldUpdater<KeyContext, Cohort> SHARING =
            AtomicReferenceFieldUpdater.newUpdater(KeyContext.class, Cohort.class, "sharing");

    private static final AtomicReferenceFieldUpdater<KeyContext, Waiter.Line> PERMITS =
            AtomicReferenceFieldUpdater.newUpdater(KeyContext.class, Waiter.Line.class, "permits");

    private final Engine engine;
    final Services services;

    /** Flows that keep this line in the engine's table; guarded by the table. */
    int members;

    private volatile @Nullable Cohort cohort;
    /** Most keys never have one. */
    private volatile @Nullable Cohort sharing;

    private volatile Waiter.@Nullable Line permits;

    /**
     * None until an {@link OrderedCohort} gets the lock in its turn, which most never see; touched only inside events.
     */
    @Nullable
    ClaimBatcher batcher;

    private volatile @Nullable Delivery delivery;

    /**
     * Whether the last flow took little time after its release was delivered; a guess about the next, which may be
     * wrong.
     */
    private volatile boolean flowsGoOnShortly = true;

    public KeyContext(Engine engine, String key) {
        super(key);
        this.engine = engine;
        this.services = engine.services;
    }

    @Override
    public void goOnElsewhere(Runnable rest) {
        services.others.execute(rest);
    }

    /** Called by the table only. */
    KeyContext joined() {
        members++;
        return this;
    }

    /** Where flows with {@link Fairness#COHORT} stand together. */
    Cohort together() {
        Cohort made = cohort;
        if (made == null) {
            boolean unused = COHORT.compareAndSet(this, null, new Cohort(engine, this, new WaitingFlows(this)));
            return together();
        }
        return made;
    }

    /** Where flows that share the lock stand together. */
    Cohort sharing(Supplier<Cohort> fresh) {
        Cohort made = sharing;
        if (made == null) {
            boolean unused = SHARING.compareAndSet(this, null, fresh.get());
            return sharing(fresh);
        }
        return made;
    }

    /** Where flows that want permits of a semaphore stand together. */
    Waiter.Line permits(Supplier<Waiter.Line> fresh) {
        Waiter.Line made = permits;
        if (made == null) {
            boolean unused = PERMITS.compareAndSet(this, null, fresh.get());
            return permits(fresh);
        }
        return made;
    }

    /** From now on they stand in another; inside an event. */
    void share(Cohort other) {
        sharing = other;
    }

    void stay() {
        engine.stay(this);
    }

    @Override
    public void depart() {
        engine.depart(this);
    }

    // ---- grants and releases, which follow one another on one thread

    /**
     * What follows the grant may be another wait and no code of a user, which needs no thread of the work scheduler.
     */
    public void deliver(Waiter next, Hold hold) {
        HeardRequest heard = next.heard;
        if (heard != null) {
            heard.acquired(hold.fencingToken, Duration.ofNanos(hold.since - next.since()));
        }
        if (next.wantsMore()) {
            if (heard != null) {
                heard.tellLater();
            }
            next.granted(new Handle(hold));
        } else {
            hold.flow = next;
            deliver(hold);
        }
    }

    /**
     * Gives a flow its lock, on the work scheduler. Where the flow before it gave the lock back before it let go of its
     * thread of that scheduler, this one follows on the same thread: there is nothing to wake.
     */
    public void deliver(Runnable grant) {
        Delivery current = delivery;
        if (current == null || !current.takes(grant)) {
            services.userCallbacks.run(new Delivery(grant));
        }
    }

    /**
     * Tells a flow that its release is done, so that it goes on with what comes after its lock. On the same thread too,
     * if what the last such flow did was short, because a thread that is woken for so little costs more than it helps,
     * and flows that soon want the lock again keep it in this process. Otherwise on a thread of its own.
     */
    void conclude(Runnable end) {
        if (delivery == null && flowsGoOnShortly) { // as after most releases, which the store answers
            services.userCallbacks.run(end);
            return;
        }
        Runnable timed = () -> {
            long began = services.timing.now();
            try {
                end.run();
            } finally {
                flowsGoOnShortly = services.timing.now() - began < SHORT;
            }
        };
        Delivery current = delivery;
        if (!flowsGoOnShortly || current == null || !current.takes(timed)) {
            services.userCallbacks.run(timed);
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
            if (thread != Thread.currentThread() || services.timing.now() - since >= LONGEST_DELIVERY) {
                return false;
            }
            if (put(task)) {
                rescue = services.timing.after(LONGEST_STANDSTILL, this::rescue);
            }
            if (rescued || services.timing.isDisposed()) { // no rescue would come for what is added now
                leaveToOthers();
            }
            return true;
        }

        @Override
        public void run() {
            since = services.timing.now();
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
                services.userCallbacks.run(new Delivery(task));
            }
        }
    }
}
