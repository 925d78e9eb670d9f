package io.github.reactivelock.engine.hold;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.HeardRequest;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
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
    private static final AtomicLongFieldUpdater<Hold> LEAST =
            AtomicLongFieldUpdater.newUpdater(Hold.class, "leastHold");

    final HoldOwner owner;
    public final Grant grant;
    public final long fencingToken;
    public final LockOptions options;
    public final long since;
    /** Nanoseconds after that; the strictest of the flows that went on under it. */
    private volatile long leastHold;

    private volatile int state;

    @SuppressWarnings("UnusedVariable") // only ever used through HANDLES
    private volatile int handles = 1;

    final LossSignal lossSignal = new LossSignal();
    private volatile @Nullable LockLostException loss;
    /** Hears what came of the release, which it has begun. */
    private @Nullable Handle last;
    /** Whose turn it is, until it has its handle. */
    private HoldOwner.@Nullable Flow flow;

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
        checkJoin(wanted);
        boolean isIn = HANDLES.getAndUpdate(this, now -> now == 0 ? 0 : now + 1) > 0;
        return isIn ? new Handle(this, wanted) : null;
    }

    /** Refuses what the hold cannot give: it would wait for itself, or end before it may. */
    private void checkJoin(LockOptions wanted) {
        Share has = options.share();
        Share asked = wanted.share();
        if (!has.covers(asked)) {
            throw new IllegalStateException("lock '" + key() + "' is held as " + has.text()
                    + " by this flow already; asked for as " + asked.text()
                    + " it would wait for itself: ask for " + asked.text() + " first, or release before asking");
        }
        if (wanted.isRenewed() && !options.isRenewed()) {
            throw new IllegalArgumentException("lock '" + key()
                    + "' is held withoutRenewal() by this flow already, so a renewed acquisition cannot join that hold;"
                    + " ask for this one withoutRenewal() too, or renew the outer one");
        }
        Duration delay = ClaimOptions.delay(options);
        Duration wantedDelay = ClaimOptions.delay(wanted);
        if (wantedDelay.compareTo(delay) > 0) {
            throw new IllegalArgumentException("lock '" + key() + "' is held by this flow already, with a lockDelay of "
                    + delay + ", so an acquisition with one of " + wantedDelay
                    + " cannot join that hold; ask for as much outside");
        }
    }

    /** The first handle, which is itself the task that gives the flow its lock. */
    public Handle handleOf(HoldOwner.Flow next) {
        flow = next;
        return new Handle(this);
    }

    void grantWith(Handle first) {
        HoldOwner.Flow next = flow;
        flow = null;
        if (next != null) {
            next.tellAndGrant(first);
        }
    }

    /** Whether a flow may stand on one stack with all these acquisitions of its own. */
    public boolean isJoinedByMany() {
        return handles >= Unwinding.EVERY;
    }

    /**
     * Takes a handle off, which gets null or what went wrong; the last one gives the lock up, in an event that it is
     * itself.
     */
    void giveBack(Handle handle) {
        if (HANDLES.decrementAndGet(this) > 0) {
            handle.accept(null);
        } else if (STATE.compareAndSet(this, HELD, RELEASING)) {
            lossSignal.complete(null);
            last = handle;
            owner.post(handle);
        } else {
            handle.accept(loss);
        }
    }

    void renew(Consumer<@Nullable LockException> outcome) {
        owner.post(() -> {
            if (owner.isIn(this)) {
                grant.renewFor(outcome);
            } else {
                LockException known = loss();
                LockException gone = known != null ? known : lossFor(LossReason.RELEASED);
                grant.services.userCallbacks.schedule(() -> outcome.accept(gone));
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
    public void recalled(String claimId) {
        if (grant.claim.id().equals(claimId)) {
            owner.recalled(grant);
        }
    }

    @Override
    public Grant grant() {
        return grant;
    }

    @Override
    public void recheck() {
        grant.mayBeRecalled();
    }

    @Override
    public void reconnected() {
        grant.mayBeRecalled();
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

    /** The flow goes on after its release: a task of the work scheduler. */
    @Override
    public void run() {
        news.released(grant.services.timing, since);
        tell(null);
    }

    @Override
    public void wasOver() {
        LockLostException gone = lossFor(LossReason.EXPIRED);
        tellLost(gone);
        grant.services.userCallbacks.schedule(() -> tell(gone));
    }

    @Override
    public void unanswered(Throwable failure) {
        String action = "released (it is tried again until its lease is over)";
        LockUnavailableException unanswered = new LockUnavailableException(key(), action, failure);
        grant.services.userCallbacks.warn(unanswered);
        grant.services.userCallbacks.schedule(() -> {
            news.releaseFailed(unanswered);
            tell(unanswered);
        });
    }

    public void wasLost() {
        grant.services.userCallbacks.schedule(() -> tell(loss));
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

    /** The hold is over even within its lease. */
    void lose(LossReason reason) {
        owner.post(() -> lose(lossFor(reason)));
    }

    /** Unless the timer is disposed. */
    Disposable loseAfter(long nanos, LossReason reason) {
        return grant.services.timing.after(nanos, () -> lose(reason));
    }

    /** Called inside the owner's events, as are the next two. */
    public void endAtItsLongest() {
        Duration longest = options.maxHold().orElse(null);
        if (longest != null) {
            maxHoldTimer = loseAfter(longest.toNanos(), LossReason.HELD_TOO_LONG);
        }
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
            lossSignal.complete(state == LOST ? loss : null);
        }
        return lossSignal.asMono();
    }

    // ---- until when the lock stays taken at the store although the hold is over

    /** A flow that asked with these options goes on under the hold, which no flow did that gave up before. */
    public void keepFor(LockOptions wanted) {
        long least = wanted.minHold().orElse(Duration.ZERO).toNanos();
        if (least > 0) {
            LEAST.accumulateAndGet(this, grant.services.timing.now() - since + least, Math::max);
        }
    }

    /**
     * The moment until which the lock stays taken after this hold ends now, by its release or by a loss: the rest of
     * its minimum ({@link LockOptions#withMinHold}), or after a loss its delay ({@link LockOptions#withLockDelay});
     * {@link Timing#NEVER} if the lock is free at once.
     */
    public long keptUntil(@Nullable LossReason loss) {
        long least = isEndedHere(loss) ? leastHold : 0;
        long delay = isGivenUp(loss) ? 0 : ClaimOptions.delay(options).toNanos();
        if (least == 0 && delay == 0) {
            return Timing.NEVER;
        }
        long now = grant.services.timing.now();
        long stays = Math.max(least - (now - since), delay);
        return stays > 0 ? now + stays : Timing.NEVER;
    }

    /** Its work is done, or has been cancelled in order. */
    private static boolean isGivenUp(@Nullable LossReason loss) {
        return loss == null || loss == LossReason.CLIENT_CLOSED;
    }

    /** Rather than by the store, for which the lock has another owner then, or is about to have one. */
    private static boolean isEndedHere(@Nullable LossReason loss) {
        return isGivenUp(loss) || loss == LossReason.HELD_TOO_LONG;
    }
}
