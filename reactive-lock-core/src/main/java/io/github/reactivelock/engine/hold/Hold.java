package io.github.reactivelock.engine.hold;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.user.HeardRequest;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * One flow's turn under a grant, shared by the handles of its reentrant acquisitions. The state moves once, by
 * compare-and-set, from HELD to RELEASING (by the last handle that leaves) or to LOST (by its owner). Safe for use from
 * any thread.
 */
public final class Hold implements Phase, PendingRelease.Outcome, Runnable {

    private static final int HELD = 0;
    private static final int RELEASING = 1;
    private static final int LOST = 2;
    private static final AtomicIntegerFieldUpdater<Hold> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "state");
    private static final AtomicIntegerFieldUpdater<Hold> HANDLES =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "handles");

    final HoldOwner owner;
    public final Grant grant;
    public final long fencingToken;
    public final LockOptions options;
    public final long since;
    volatile long leastHold; // after that, in nanoseconds; KeptTime writes it
    private volatile int state;

    @SuppressWarnings("UnusedVariable") // only ever used through HANDLES
    private volatile int handles = 1;

    final LossSignal lossSignal = new LossSignal();
    private volatile @Nullable LockLostException loss;
    /** Hears what came of the release, which it has begun. */
    private @Nullable Handle last;
    /** Whose it is, until {@link #run} has told it. */
    public HoldOwner.@Nullable Flow flow;

    /** Ends the hold at its longest; set and read inside the owner's events. */
    private @Nullable Disposable maxHoldTimer;
    /** Under which this hold is reentrant for {@code acquire}; set and read inside the owner's events. */
    @Nullable
    String contextOwner;
    /** Set inside the owner's events while it is held. */
    private HoldNews news;

    public Hold(HoldOwner owner, Grant grant, LockOptions options, @Nullable HeardRequest heard) {
        this.owner = owner;
        this.grant = grant;
        this.fencingToken = grant.currentToken();
        this.options = options;
        this.since = grant.services.timing.now();
        this.news = heard == null ? HoldNews.NONE : HoldNews.of(heard, fencingToken, this::remainingNanos);
    }

    public String key() {
        return grant.claim.key();
    }

    public boolean isHeld() {
        return state == HELD && !grant.isOver();
    }

    long remainingNanos() {
        return state == HELD ? Math.max(0, grant.remaining()) : 0;
    }

    /** The loss, if there was one; a deadline that has passed is one even if its timer has not run yet. */
    @Nullable
    public LockLostException loss() {
        if (state == HELD && grant.isOver()) {
            owner.post(() -> {
                if (grant.isOver()) {
                    lose(grant.expiry(fencingToken));
                }
            });
            return grant.expiry(fencingToken);
        }
        return loss;
    }

    public LockLostException lossFor(LossReason reason) {
        return new LockLostException(key(), fencingToken, reason, null);
    }

    private void lose(LockLostException lost) {
        if (owner.isIn(this)) {
            owner.lose(this, lost);
        }
    }

    /**
     * Adds a handle; null if the hold is over, by release or by loss. The handle ends no later than its own options
     * allow, and the hold goes on; what this hold cannot give is refused.
     */
    @Nullable
    public Handle join(LockOptions wanted) {
        if (loss() != null || !isHeld()) {
            return null;
        }
        JoinRules.check(key(), options, wanted);
        boolean isIn = HANDLES.getAndUpdate(this, now -> now == 0 ? 0 : now + 1) > 0;
        return isIn ? new Handle(this, wanted) : null;
    }

    /** Whether a flow may stand on one stack with all these acquisitions of its own. */
    public boolean isJoinedByMany() {
        return handles >= Unwinding.EVERY;
    }

    /**
     * Takes a handle off, which hears null or what went wrong; the last one gives the lock up, in an event that it is
     * itself.
     */
    void leave(Handle left) {
        if (HANDLES.decrementAndGet(this) > 0) {
            left.accept(null);
        } else if (STATE.compareAndSet(this, HELD, RELEASING)) {
            lossSignal.end(null);
            last = left;
            owner.post(left);
        } else {
            left.accept(loss);
        }
    }

    void renew(Consumer<@Nullable LockException> outcome) {
        owner.post(() -> {
            if (owner.isIn(this)) {
                grant.renewFor(outcome);
            } else {
                LockException known = loss();
                LockException gone = known != null ? known : lossFor(LossReason.RELEASED);
                grant.services.userCallbacks.run(() -> outcome.accept(gone));
            }
        });
    }

    // ---- as a phase of its cohort

    @Override
    public void tick(long now) {
        news.look(grant); // first, because the tick may end the hold
        grant.tick(now, options);
    }

    public void look() {
        news.look(grant);
    }

    @Override
    public void renewalFailed(String claimId, Throwable cause) {
        if (grant.claim.id().equals(claimId)) {
            news.renewalFailed(grant, cause);
        }
    }

    @Override
    public long quietUntil(long now) {
        return news.quietUntil(now, grant.quietUntil(now, options), grant);
    }

    @Override
    public void suspected(Signal.Suspect suspect) {
        if (grant.claim.id().equals(suspect.claimId())) {
            grant.suspect(suspect.reason());
        }
    }

    @Override
    public void reconnected() {
        if (options.isRenewed()) {
            grant.doubt();
        }
    }

    @Override
    public boolean suits(@Nullable LockOptions wanted) {
        return true;
    }

    // ---- what comes of the release

    /** To the store, or to the next flow of this process. */
    @Override
    public void released() {
        if (last == null || news != HoldNews.NONE || !last.isUnheard()) {
            owner.conclude(this);
        }
    }

    /** What the flow's thread has to do: first the flow gets the lock, and when that was released, it hears so. */
    @Override
    public void run() {
        HoldOwner.Flow next = flow;
        if (next == null) {
            news.released(grant.services.timing.since(since));
            tell(null);
        } else {
            flow = null;
            next.tellAndGrant(new Handle(this));
        }
    }

    @Override
    public void wasOver() {
        LockLostException gone = lossFor(LossReason.EXPIRED);
        tellLost(gone);
        grant.services.userCallbacks.run(() -> tell(gone));
    }

    @Override
    public void unanswered(Throwable failure) {
        String action = "released (it is tried again until its lease is over)";
        LockUnavailableException unanswered = new LockUnavailableException(key(), action, failure);
        grant.services.userCallbacks.warn(unanswered);
        grant.services.userCallbacks.run(() -> {
            news.releaseFailed(unanswered);
            tell(unanswered);
        });
    }

    public void wasLost() {
        grant.services.userCallbacks.run(() -> tell(loss));
    }

    private void tell(@Nullable LockException outcome) {
        if (last != null) {
            last.accept(outcome);
        }
    }

    public void tellLost(LockLostException lost) {
        grant.services.userCallbacks.warn(lost);
        news.changed(new HoldState.Lost(lost));
    }

    /** Ends the hold even within its lease. */
    public void end(LossReason reason) {
        owner.post(() -> lose(lossFor(reason)));
    }

    /** Unless the timer is disposed. */
    Disposable endAfter(long nanos, LossReason reason) {
        return grant.services.timing.after(nanos, () -> end(reason));
    }

    /** Called inside the owner's events, as are the next two. */
    public void endAtItsLongest() {
        options.maxHold().ifPresent(longest -> maxHoldTimer = endAfter(longest.toNanos(), LossReason.HELD_TOO_LONG));
    }

    public void disarm() {
        if (maxHoldTimer != null) {
            maxHoldTimer.dispose();
        }
    }

    /** Cancels the work under it, outermost first and never in place; {@code cancelled} runs when that has returned. */
    public void lose(LockLostException lost, Runnable cancelled) {
        news.look(grant); // a risk that no tick noticed is reported before the loss
        loss = lost;
        if (STATE.compareAndSet(this, HELD, LOST)) {
            lossSignal.lose(lost, grant.services.userCallbacks, cancelled);
        } else {
            cancelled.run();
        }
    }

    /** From now on a loss ends the work, at once if there was one; a release does not. Idempotent. */
    void enter(LossSignal.Work work) {
        lossSignal.add(work);
        LockLostException lost = loss;
        if (state == LOST && lost != null) {
            LossSignal.tell(work, lost);
        }
    }

    /** The work has ended; the hold may outlive it by far and must not remember it. */
    void exit(LossSignal.Work work) {
        lossSignal.remove(work);
    }

    /** Adds a watcher of its states, or of how it ended. */
    void watch(HoldStates.Watcher watcher) {
        owner.post(() -> {
            LockLostException gone = loss();
            if (gone == null && state == HELD && owner.isIn(this)) {
                news = news.watched(watcher, grant);
                owner.stir();
            } else {
                HoldStates.ended(grant, gone).add(watcher);
            }
        });
    }

    public Mono<LockLostException> lost() {
        if (lossSignal.begin() && state != HELD) {
            lossSignal.end(state == LOST ? loss : null);
        }
        return lossSignal.asMono();
    }
}
