package io.github.reactivelock;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * One flow's turn under a grant, shared by the handles of its reentrant acquisitions. The state moves once, by
 * compare-and-set, from HELD to RELEASING (by the last handle that leaves) or to LOST (by the cohort). Safe for use from
 * any thread.
 */
final class Hold {

    private static final int HELD = 0;
    private static final int RELEASING = 1;
    private static final int LOST = 2;
    private static final AtomicIntegerFieldUpdater<Hold> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "state");
    private static final AtomicIntegerFieldUpdater<Hold> HANDLES =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "handles");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Hold, Sinks.One> LOST_SINK =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, Sinks.One.class, "lostSink");

    final Cohort cohort;
    final Grant grant;
    final long fencingToken;
    final LockOptions options;
    final long since;
    private volatile int state;
    private volatile int handles = 1;
    private volatile @Nullable LockLostException loss;
    private volatile Sinks.@Nullable One<LockLostException> lostSink;
    /** Ends the hold at its longest; set and read inside the cohort's drain. */
    @Nullable
    Disposable maxHoldTimer;
    /** Under which this hold is reentrant for {@code acquire}; set and read inside the cohort's drain. */
    @Nullable
    String contextOwner;

    Hold(Cohort cohort, Grant grant, LockOptions options) {
        this.cohort = cohort;
        this.grant = grant;
        this.fencingToken = grant.currentToken();
        this.options = options;
        this.since = cohort.engine.timing.now();
    }

    boolean isHeld() {
        return state == HELD && !grant.isOver();
    }

    long remainingNanos() {
        return state == HELD ? Math.max(0, grant.remaining()) : 0;
    }

    /** The loss, if there was one; a deadline that has passed is one even if its timer has not run yet. */
    @Nullable
    LockLostException loss() {
        if (state == HELD && grant.isOver()) {
            cohort.expire(this);
            return grant.expiry(fencingToken);
        }
        return loss;
    }

    /** Adds a handle; false if the hold is over. */
    boolean reenter() {
        if (!isHeld()) {
            return false;
        }
        int now = handles;
        while (now > 0) {
            if (HANDLES.compareAndSet(this, now, now + 1)) {
                return true;
            }
            now = handles;
        }
        return false;
    }

    /** Takes a handle off; the last one gives the lock up. {@code outcome} gets null or what went wrong. */
    void leave(Consumer<@Nullable LockException> outcome) {
        if (HANDLES.decrementAndGet(this) > 0) {
            outcome.accept(null);
        } else if (STATE.compareAndSet(this, HELD, RELEASING)) {
            complete(null);
            cohort.release(this, outcome);
        } else {
            outcome.accept(loss);
        }
    }

    /** Called inside the cohort's events, as are the next two. */
    void endBy(Disposable timer) {
        maxHoldTimer = timer;
    }

    void disarm() {
        if (maxHoldTimer != null) {
            maxHoldTimer.dispose();
        }
    }

    void lose(LockLostException lost) {
        loss = lost;
        if (STATE.compareAndSet(this, HELD, LOST)) {
            complete(lost);
        }
    }

    @Nullable
    LockLostException recordedLoss() {
        return loss;
    }

    /** Tells of a loss, now or later, until disposed; not of a release. */
    Disposable onLoss(Consumer<LockLostException> listener) {
        return lost().subscribe(listener);
    }

    Mono<LockLostException> lost() {
        Sinks.One<LockLostException> sink = lostSink;
        if (sink == null) {
            LOST_SINK.compareAndSet(this, null, Sinks.one());
            sink = lostSink;
            if (state != HELD) {
                complete(state == LOST ? loss : null);
            }
        }
        return sink == null ? Mono.empty() : sink.asMono();
    }

    private void complete(@Nullable LockLostException lost) {
        Sinks.One<LockLostException> sink = lostSink;
        if (sink != null) {
            Sinks.EmitResult unused = lost == null ? sink.tryEmitEmpty() : sink.tryEmitValue(lost);
        }
    }
}
