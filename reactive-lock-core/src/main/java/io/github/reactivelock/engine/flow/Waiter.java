package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.hold.HoldOwner;
import io.github.reactivelock.engine.store.Opening;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.HeardRequest;
import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.engine.user.ThreadLocals;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * One flow that waits for one lock; {@link FlowState} has its states. The callbacks run on the work scheduler. After
 * a cancel a handle that comes later is given back, and a failure is dropped.
 */
public abstract class Waiter implements Mailbox.Event, HoldOwner.Flow {

    /** All locks of a client, as a flow sees them. */
    public interface Locks {
        Services services();

        /** The hold that an acquisition with this Context joins instead of waiting. */
        @Nullable
        Hold reentrant(ContextView context, String key, Share asked);

        /** Puts a flow where it waits, or fails it. */
        void enqueue(Waiter waiter);
    }

    /** Where a flow waits. */
    public interface Queue {
        void join(Waiter waiter);

        /** As an event of the queue: the waiter is that event itself. */
        void joined(Waiter waiter);

        void leave(Waiter waiter);

        /**
         * The time of one is up. It leaves in an event of the queue, unless its grant is before that event, and hears
         * what is known of the store.
         */
        void timedOut(Waiter waiter);
    }

    private static final Logger log = LoggerFactory.getLogger(Waiter.class);

    static final AtomicReferenceFieldUpdater<Waiter, FlowState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(Waiter.class, FlowState.class, "state");

    final Locks locks;
    public final String key;
    public final LockOptions options;
    public final boolean tries;
    volatile FlowState state = FlowState.NEW;
    private long since;
    private volatile @Nullable Queue queue;
    private volatile @Nullable Disposable timeout;
    /** Another had the lock while this flow waited, for this key or one before it; written and read inside events. */
    boolean metOthers;
    /** None where there is no listener, or the flow is not in queue yet. */
    public volatile @Nullable HeardRequest heard;

    /** Its neighbours in the queue; touched only by that, {@link WaitingFlows}. */
    @Nullable
    Waiter ahead;

    @Nullable
    Waiter behind;

    Waiter(Locks locks, String key, LockOptions options, Claim.Mode mode) {
        this.locks = locks;
        this.key = key;
        this.options = options;
        this.tries = mode == Claim.Mode.TRY;
    }

    public final Claim.Mode mode() {
        return tries ? Claim.Mode.TRY : Claim.Mode.QUEUE;
    }

    @Override
    public final void tellAndGrant(Handle handle) {
        HeardRequest request = heard;
        if (request != null) {
            request.tell();
        }
        granted(handle);
    }

    /** The lock is held; the handle is this waiter's to release. */
    public abstract void granted(Handle handle);

    /**
     * As {@link #granted}, where the flow is under a hold of this key already; called by the caller of
     * {@link #acquire}.
     */
    abstract void joined(Handle handle);

    /** The lock will not be held. */
    abstract void failed(RuntimeException failure);

    /**
     * What follows the grant is another wait and no code of a user, so that it needs no thread of the work scheduler.
     */
    public boolean wantsMore() {
        return false;
    }

    /** Somebody else holds the lock and this waiter did not want to wait. */
    void busy() {
        throw new IllegalStateException("a waiter that queues was told that the lock is busy");
    }

    public abstract ContextView context();

    /** With what the flow's thread carries, for a listener. Called where {@link #acquire} is. */
    Context heardContext() {
        return locks.services().userCallbacks.hasListener()
                ? ThreadLocals.keptIn(Context.of(context()))
                : Context.empty();
    }

    /** Called where {@link #acquire} is. */
    void tellNews(HeardRequest request) {
        request.tell();
    }

    /** Joins the hold that the flow is under already, if it is still held, or else waits for one. */
    final void acquire() {
        Hold outer = locks.reentrant(context(), key, options.share());
        Handle joined = null;
        try {
            joined = outer == null ? null : outer.join(options);
        } catch (IllegalArgumentException | IllegalStateException e) {
            fail(e);
            return;
        }
        if (joined == null) {
            HeardRequest request = HeardRequest.of(locks.services().userCallbacks, key, options, heardContext());
            if (request != null) {
                tellWaiting(request);
            }
            locks.enqueue(this);
        } else if (take()) {
            joined(joined);
        } else {
            joined.giveBack();
        }
    }

    /** A cancel on another thread may have found no request to tell of, or may find it now; one of both tells. */
    private void tellWaiting(HeardRequest request) {
        request.waiting();
        heard = request;
        if (!isWaiting()) {
            request.cancelled();
        }
        tellNews(request);
    }

    /** True once. */
    final boolean begin() {
        return move(FlowState.NEW, FlowState.WAITING);
    }

    /**
     * Joins a queue. Its time is armed afterwards, so that what it takes to ask, classes to load among it, is no part
     * of it.
     */
    public final void start(Queue queue, long now) {
        this.since = now;
        this.queue = queue;
        queue.join(this);
        Services services = locks.services();
        Opening opening = services.gate.opening;
        if (opening.wasAnswered) {
            armUntil(deadline());
        } else if (isWaiting() && services.timing.deadline(options) != Timing.NEVER) {
            arm(opening.whenAnswered(this::waitAnew));
        }
    }

    private void armUntil(long deadline) {
        if (deadline != Timing.NEVER && isWaiting()) {
            Timing timing = locks.services().timing;
            arm(timing.after(deadline - timing.now(), this::timedOut));
        }
    }

    private void arm(Disposable armed) {
        timeout = armed;
        if (!isWaiting()) { // granted or cancelled meanwhile, when there was nothing to disarm yet
            armed.dispose();
        }
    }

    /** The store has answered for the first time; what came before, opening and loading, does not count. */
    private void waitAnew() {
        armUntil(beginAnew());
    }

    /** When a wait that begins now is over. */
    long beginAnew() {
        return locks.services().timing.deadline(options);
    }

    /** When the wait is over of one that has just been asked for. */
    long deadline() {
        return beginAnew();
    }

    /** It was waited for other locks for so long that this one is not to be asked for. */
    public boolean isTooLate(long now) {
        return false;
    }

    /** Goes on waiting in another queue; inside the events of both. */
    public final void moveTo(Queue other) {
        queue = other;
    }

    public final @Nullable Queue queue() {
        return queue;
    }

    /** It has joined the queue, whose event it is. */
    @Override
    public final void handle() {
        Queue joined = queue;
        if (joined != null) {
            joined.joined(this);
        }
    }

    public final boolean isWaiting() {
        return state == FlowState.WAITING;
    }

    public final long since() {
        return since;
    }

    /** Called by the cohort when it is this waiter's turn; false if it has left. */
    public final boolean take() {
        return stopWaiting(FlowState.GRANTED);
    }

    /** Called by the cohort when there will be no turn. */
    public final void fail(RuntimeException failure) {
        if (stopWaiting(FlowState.OVER)) {
            tellOver(failure);
        }
    }

    public final void failBusy() {
        if (stopWaiting(FlowState.OVER)) {
            locks.services().userCallbacks.schedule(() -> {
                HeardRequest request = heard;
                if (request != null) {
                    request.busy();
                }
                busy();
            });
        }
    }

    private void timedOut() {
        Queue joined = queue;
        if (joined != null) {
            joined.timedOut(this);
        }
    }

    /** Called in an event of the queue; false if the turn came before. */
    public final boolean stopInTime() {
        boolean stopped = stopWaiting(FlowState.OVER);
        if (stopped) {
            log.trace("lock '{}': a flow has waited for long enough", key);
        }
        return stopped;
    }

    /**
     * Called in an event of the queue, after {@link #stopInTime}, with why nothing says that another has the lock, if
     * nothing does.
     */
    public final void tellTimedOut(@Nullable Throwable unanswered) {
        tellOver(timeout(unanswered));
    }

    /** Not asked for, {@link #isTooLate}. */
    public final void failTooLate() {
        long waited = options.waitTimeout().orElse(Duration.ZERO).toMillis();
        fail(timeout(new TimeoutException("it was not asked for: the store took all of the wait timeout of " + waited
                + " ms to grant the locks before it; look whether it is slow, or wait longer")));
    }

    /** Contention is what an answer of the store has shown, or a hold of this process. */
    private LockException timeout(@Nullable Throwable unanswered) {
        return unanswered == null || metOthers
                ? new LockTimeoutException(key, options.waitTimeout().orElse(Duration.ZERO))
                : new LockUnavailableException(key, "acquired", unanswered);
    }

    private void tellOver(RuntimeException failure) {
        locks.services().userCallbacks.schedule(() -> {
            HeardRequest request = heard;
            if (request != null) {
                request.failed(failure);
            }
            failed(failure);
        });
    }

    /** Does nothing if the turn has come already and a grant is under way. */
    final void cancelWait() {
        if (stopWaiting(FlowState.OVER)) {
            leaveQueue();
            tellCancelled();
        }
    }

    /** Called by who ended the wait because the flow gave up. */
    final void tellCancelled() {
        HeardRequest request = heard;
        if (request != null) {
            request.cancelled();
        }
    }

    /** Called by the thread that ended the wait without a grant. */
    final void leaveQueue() {
        disarm();
        Queue joined = queue;
        if (joined != null) {
            log.trace("lock '{}': a flow stopped waiting", key);
            joined.leave(this);
        }
    }

    private boolean stopWaiting(FlowState to) {
        boolean stopped = move(FlowState.WAITING, to);
        if (stopped) {
            disarm();
        }
        return stopped;
    }

    private void disarm() {
        Disposable armed = timeout;
        if (armed != null) {
            armed.dispose();
        }
    }

    final boolean move(FlowState from, FlowState to) {
        return STATE.compareAndSet(this, from, to);
    }
}
