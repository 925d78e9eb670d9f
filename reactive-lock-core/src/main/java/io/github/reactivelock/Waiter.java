package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.util.context.ContextView;

/**
 * One flow that waits for one lock. Its turn moves once, by compare-and-set, from WAITING to GRANTED (by its cohort) or
 * to OVER (by cancel, timeout or failure), so a grant never meets a flow that has left. The callbacks run on the work
 * scheduler.
 */
abstract class Waiter {

    /** All locks of a client, as a flow sees them. */
    interface Locks {
        Services services();

        /** The hold that an acquisition with this Context joins instead of waiting. */
        @Nullable
        Hold reentrant(ContextView context, String key);

        /** Puts a flow where it waits, or fails it. */
        void enqueue(Waiter waiter, long deadline);
    }

    /** Where a flow waits. */
    interface Line {
        void join(Waiter waiter);

        void leave(Waiter waiter);
    }

    private static final Logger log = LoggerFactory.getLogger(Waiter.class);
    private static final int WAITING = 0;
    private static final int GRANTED = 1;
    private static final int OVER = 2;
    private static final AtomicIntegerFieldUpdater<Waiter> TURN =
            AtomicIntegerFieldUpdater.newUpdater(Waiter.class, "turn");

    final Locks locks;
    final String key;
    final LockOptions options;
    final Claim.Mode mode;
    private volatile int turn;
    private long since;
    private volatile @Nullable Line line;
    private volatile @Nullable Disposable timeout;

    Waiter(Locks locks, String key, LockOptions options, Claim.Mode mode) {
        this.locks = locks;
        this.key = key;
        this.options = options;
        this.mode = mode;
    }

    /** The lock is held; the handle is this waiter's to release. */
    abstract void granted(Handle handle);

    /** As {@link #granted}, where the flow is under a hold of this key already; called by whoever called {@link #acquire}. */
    abstract void joined(Handle handle);

    /** The lock will not be held. */
    abstract void failed(RuntimeException failure);

    /** What follows the grant is another wait and no code of a user, so that it needs no thread of the work scheduler. */
    boolean wantsMore() {
        return false;
    }

    /** Somebody else holds the lock and this waiter did not want to wait. */
    void busy() {
        throw new IllegalStateException("a waiter that queues was told that the lock is busy");
    }

    abstract ContextView context();

    /** Joins the hold that the flow is under already, if it is still held, or else waits for one. */
    final void acquire(long deadline) {
        Hold outer = locks.reentrant(context(), key);
        Handle joined = null;
        try {
            joined = outer == null ? null : outer.join(options);
        } catch (IllegalArgumentException e) {
            locks.services().userCallbacks.run(() -> failed(e));
            return;
        }
        if (joined == null) {
            locks.enqueue(this, deadline);
        } else {
            joined(joined);
        }
    }

    /** Joins a line; the timeout is armed first, so that a grant always finds it to disarm. */
    final void start(Line line, long now, long deadline) {
        this.since = now;
        this.line = line;
        if (deadline != Timing.NEVER) {
            Disposable armed = locks.services().timing.after(deadline - now, this::timedOut);
            timeout = armed;
            if (!isWaiting()) { // cancelled meanwhile, when there was nothing to disarm yet
                armed.dispose();
            }
        }
        line.join(this);
    }

    final boolean isWaiting() {
        return turn == WAITING;
    }

    final long since() {
        return since;
    }

    /** Called by the cohort when it is this waiter's turn; false if it has left. */
    final boolean take() {
        return move(GRANTED);
    }

    /** Called by the cohort when there will be no turn. */
    final void fail(LockException failure) {
        if (move(OVER)) {
            locks.services().userCallbacks.run(() -> failed(failure));
        }
    }

    final void failBusy() {
        if (move(OVER)) {
            locks.services().userCallbacks.run(this::busy);
        }
    }

    /** Called by the subscriber; in vain if the turn has come already and a grant is under way. */
    final void cancelWait() {
        if (leave()) {
            log.trace("lock '{}': a flow stopped waiting", key);
        }
    }

    private boolean leave() {
        if (!move(OVER)) {
            return false;
        }
        Line joined = line;
        if (joined != null) {
            joined.leave(this);
        }
        return true;
    }

    private void timedOut() {
        if (leave()) {
            locks.services()
                    .userCallbacks
                    .run(() -> failed(
                            new LockTimeoutException(key, options.waitTimeout().orElse(Duration.ZERO))));
        }
    }

    private boolean move(int to) {
        if (!TURN.compareAndSet(this, WAITING, to)) {
            return false;
        }
        Disposable armed = timeout;
        if (armed != null) {
            armed.dispose();
        }
        return true;
    }
}
