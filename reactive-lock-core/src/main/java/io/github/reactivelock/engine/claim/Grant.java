package io.github.reactivelock.engine.claim;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.store.Renewals;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim that owns its lock at the store, and how long that may be relied upon: until the sending of the last
 * confirmed question, plus the lease, less a margin, by the local clock. A failed renewal is tried again at every
 * tick until then, never later. Touched only inside its key's events, but for {@link #isOver} and {@link #remaining}.
 */
public final class Grant implements Renewals.Due {

    /** Nanoseconds. By so much two clocks that go on differ at the most. */
    private static final long LEAST_PAUSE = Duration.ofMillis(100).toNanos();

    private static final HoldState SAFE = new HoldState.Safe();

    public final Claim claim;
    final long fencingToken;
    /** Changes when the lock goes on to flows that have a claim of their own. */
    volatile ClaimOwner owner;

    public final Services services;
    public final long lease; // as far as it is relied upon
    public final Duration delay;
    private final long since;

    private int passes;
    /** Others want the lock, or may; never taken back, {@code models/Retention.tla: RecallStays}. */
    private boolean contended;
    /** Heard for certain. */
    private boolean recalled;
    /**
     * Until when it may stay without a flow, in milliseconds from {@link #since}; 0 until that time begins, which it
     * does once, {@code models/Retention.tla: KeptOnce}.
     */
    private int keptMillis;

    /** The only record of the last confirmation too, as {@link #confirmedAt} counts back from it. */
    private volatile long deadline;

    /** A timer runs for the deadline. */
    private boolean isArmed;

    private volatile boolean renewing;
    private volatile boolean renewalLeft;
    private volatile @Nullable Throwable failure;
    /** When the renewal left for the store. Also written by who sends it, as is the next. */
    private volatile long renewalAskedAt;
    /**
     * By the clock of silence: when the first of those left that were not answered, or while none has, when it was
     * put to the gate.
     */
    private volatile long silentSince;
    /** The renewal is not the first since then. */
    private volatile boolean isAskedAgain;

    private @Nullable Doubt doubt;
    /** Callers of {@link LockHandle#renew()}, told null or what went wrong. */
    private List<Consumer<@Nullable LockException>> callers = List.of();

    /**
     * A signal spoke of a loss or may have been missed; an answer to a question sent since then settles it.
     *
     * @param suspicion why it may be lost, if a signal named a reason
     */
    private record Doubt(long since, @Nullable LossReason suspicion) {}

    public Grant(ClaimOwner owner, Attempt asked, long fencingToken, Duration lasting, long sentAt) {
        this.owner = owner;
        this.services = asked.services();
        this.claim = asked.claim;
        this.delay = asked.delay;
        this.fencingToken = fencingToken;
        this.lease = Math.max(1, lasting.minus(asked.delay).toNanos());
        services.timing.serve(this.lease);
        this.since = services.timing.now();
        this.deadline = sentAt + reliance();
        this.contended = asked.isContended();
    }

    @Override
    public Claim claim() {
        return claim;
    }

    // ---- validity

    /** By the clock, not by the timers that have run, {@code models/Grant.tla: Deadline}. */
    @Override
    public boolean isOver() {
        return remaining() <= 0;
    }

    /** Nanoseconds. How long the lock may be relied upon after a confirmed question has left. */
    private long reliance() {
        return lease - services.timing.margin(lease);
    }

    /** When the last confirmed question left. */
    private long confirmedAt() {
        return deadline - reliance();
    }

    private long patience() {
        return services.timing.patience(lease);
    }

    public long remaining() {
        return deadline - services.timing.nowForCertain();
    }

    /** What may soon end it, if something may: a renewal that failed, or half of the lease unconfirmed. */
    public HoldState state() {
        boolean isConfirmed = failure == null && services.timing.nowForCertain() - riskAt() < 0;
        return isConfirmed ? SAFE : new HoldState.AtRisk(Duration.ofNanos(Math.max(0, remaining())), failure);
    }

    /** When half of what it may be relied upon is over without a confirmation. */
    public long riskAt() {
        return deadline - reliance() / 2;
    }

    /** Enough of the lease is left to hand the lock to somebody, {@code models/Retention.tla: FreshToUse}. */
    public boolean isFresh() {
        return remaining() >= lease / 3;
    }

    /** Counts from when that question left, {@code models/Grant.tla: ConfirmedFromSending}. */
    void confirmed(long sentAt) {
        if (sentAt - confirmedAt() > 0) {
            deadline = sentAt + reliance();
            isArmed = false;
        }
    }

    /**
     * The answer to an old question. With a higher token the store had lost the claim and granted it anew: that is
     * not the hold we gave out, {@code models/Grant.tla: GrantedAnew}. After the deadline it revives nothing either.
     */
    public void grantedAgain(long token, long sentAt) {
        if (token > fencingToken) {
            owner.lost(this, new LockLostException(claim.key(), currentToken(), LossReason.EXPIRED, null));
        } else if (token == fencingToken && isOver()) {
            owner.lost(this, expiry(currentToken()));
        } else if (token == fencingToken) {
            confirmed(sentAt);
        }
    }

    /** The store queued the claim, so its grants up to a token are over, {@code models/Grant.tla: QueuedSince}. */
    public void queuedSince(long newestToken) {
        if (fencingToken <= newestToken) {
            owner.lost(this, new LockLostException(claim.key(), currentToken(), LossReason.EXPIRED, null));
        }
    }

    /** The token of the flow that holds the lock under this grant now. */
    public long currentToken() {
        return fencingToken | passes;
    }

    /**
     * Whether the lock may go to another flow of this process without asking the store; if so, counts the pass. Not
     * for ever, {@code models/Cohort.tla: Budget}.
     */
    public boolean pass(LockOptions next) {
        boolean may = passes < services.maxPasses
                && (services.timing.now() - since < services.maxPassing || isInTime(next))
                && isFresh()
                && next.isRenewed()
                && suits(next);
        if (may) {
            passes++;
        }
        return may;
    }

    /**
     * Whether it stays with this process, although the flow that asked with these options leaves and none follows. It
     * is given to another flow by {@link #pass}.
     */
    public boolean keep(LockOptions leaving) {
        return leaving.retention().isPresent() && doubt == null && failure == null && isInTime(leaving) && mayStay();
    }

    private boolean isInTime(LockOptions next) {
        if (!claim.recallable() || contended) {
            return false;
        }
        if (keptMillis == 0) {
            next.retention().ifPresent(this::keepFor);
        }
        return keptMillis != 0 && keptUntil() - services.timing.now() > 0;
    }

    private void keepFor(Duration longest) {
        long end = TimeUnit.NANOSECONDS.toMillis(services.timing.now() - since) + longest.toMillis();
        keptMillis = (int) Math.min(Math.max(1, end), Integer.MAX_VALUE);
    }

    private long keptUntil() {
        return since + TimeUnit.MILLISECONDS.toNanos(keptMillis);
    }

    /** Whether another flow may still have it; asked while it is kept. */
    public boolean mayStay() {
        return staysUntil() - services.timing.nowForCertain() > 0 && passes < services.maxPasses && failure == null;
    }

    /**
     * Its time, or as long as the flow that gets it is not at risk before its first renewal, if that is less: nothing
     * renews it here.
     */
    public long staysUntil() {
        long safe = riskAt() - Math.min(Timing.BEFORE_A_DEADLINE, lease / 6);
        long end = keptUntil();
        return end - safe < 0 ? end : safe;
    }

    /** A recall was heard; true the first time. */
    public boolean recall() {
        boolean first = !recalled;
        recalled = true;
        contended = true;
        return first;
    }

    /** A recall may have been missed. */
    public void mayBeRecalled() {
        contended = true;
    }

    /** Whether the grant is what a flow would have asked for: its lease, and all of it where nothing renews it. */
    public boolean suits(LockOptions next) {
        return ClaimOptions.suit(next, claim, delay) && (next.isRenewed() || passes == 0);
    }

    /** Why it is over, if its deadline has passed: a pause of this process says nothing of the store. */
    public LockLostException expiry(long token) {
        boolean isUnanswered = failure == null && renewing && !wasPausedSinceAsked();
        Throwable cause =
                isUnanswered ? services.gate.silence(claim.key(), services.timing.now() - renewalAskedAt) : failure;
        boolean wasToEnd = claim.keeping() == Claim.Keeping.ONCE; // though the store may have been asked in a doubt
        return new LockLostException(
                claim.key(), token, cause == null || wasToEnd ? LossReason.EXPIRED : LossReason.UNREACHABLE, cause);
    }

    public void moveTo(ClaimOwner next) {
        owner = next;
    }

    // ---- renewal

    /** When a tick may next find anything to do, unless a renewal is asked for before. */
    public long quietUntil(long now, LockOptions holder) {
        if (renewing || doubt != null) {
            return now;
        }
        long ending = deadline - Timing.BEFORE_A_DEADLINE;
        long due = confirmedAt() + lease / 3;
        return holder.isRenewed() && due - ending < 0 ? due : ending;
    }

    /** Called while a flow has it that wanted it so. */
    public void tick(long now, LockOptions holder) {
        if (isSilent()) {
            renewalFailed(services.gate.silence(claim.key(), patience()));
        } else if (renewing && !renewalLeft && !callers.isEmpty()) {
            Throwable standstill = services.gate.standstill(silentSince, patience());
            if (standstill != null) {
                tellCallers(new LockUnavailableException(claim.key(), "renewed", standstill));
            }
        }
        if (isOver()) {
            owner.lost(this, expiry(currentToken()));
            return;
        }
        if (isBehindAPause(now)) {
            isAskedAgain = true;
            queueRenewal();
        } else if (!renewing && (doubt != null || (holder.isRenewed() && now - confirmedAt() >= lease / 3))) {
            queueRenewal();
        }
        if (!isArmed && services.timing.isBeforeNextTick(deadline, now)) {
            isArmed = true;
            services.timing.after(deadline - now, () -> owner.tick());
        }
    }

    /** A renewal left and was not answered for so long that this process had turns. */
    private boolean isSilent() {
        return renewing && renewalLeft && services.timing.silentNow() - silentSince >= patience();
    }

    private boolean wasPausedSinceAsked() {
        long since = services.timing.now() - renewalAskedAt;
        return services.timing.silentNow() - silentSince < since - LEAST_PAUSE;
    }

    /**
     * Nothing is said of the store then, whose answer may lie unread. But what is left of the lease may be a moment.
     */
    private boolean isBehindAPause(long now) {
        return renewing && renewalLeft && now - renewalAskedAt >= patience() && wasPausedSinceAsked();
    }

    private void renewNow() {
        if (!renewing) {
            queueRenewal();
            services.renewals.send();
        }
    }

    public void renewFor(Consumer<@Nullable LockException> caller) {
        callers = callers.isEmpty() ? new ArrayList<>(1) : callers;
        callers.add(caller);
        renewNow();
    }

    /** The store pushed that the lock is gone; it is asked before that is believed. */
    public void suspect(LossReason reason) {
        doubt(reason);
        services.renewals.send();
    }

    /** Puts a question to the store behind one that is under way if there is one. */
    public void doubt() {
        doubt(doubt == null ? null : doubt.suspicion);
    }

    private void doubt(@Nullable LossReason suspicion) {
        doubt = new Doubt(services.timing.now(), suspicion);
        if (!renewing) {
            queueRenewal();
        }
    }

    private void queueRenewal() {
        if (!renewing) {
            isAskedAgain = false;
            renewalAskedAt = services.timing.now();
            silentSince = services.timing.silentNow();
        }
        renewing = true;
        renewalLeft = false;
        owner.stir();
        services.renewals.add(this);
    }

    @Override
    public void sent(long at) {
        renewalAskedAt = at;
        if (!isAskedAgain) {
            silentSince = services.timing.silentNow();
        }
        renewalLeft = true;
    }

    /** What is heard after the deadline revives nothing, {@code models/Grant.tla: LateRenewal}. */
    @Override
    public void answered(long sentAt, RenewalResult answer) {
        owner.post(() -> {
            renewing = false;
            LossReason reason = answer.lost().get(claim.id());
            if (reason != null) {
                LossReason known = doubt == null || doubt.suspicion == null ? reason : doubt.suspicion;
                owner.lost(this, new LockLostException(claim.key(), currentToken(), known, null));
            } else if (answer.renewed().contains(claim.id())) {
                failure = null;
                if (isOver()) { // the claim may have been granted anew meanwhile, with another token
                    owner.lost(this, expiry(currentToken()));
                    return;
                }
                confirmed(sentAt);
                tellCallers(null);
                if (doubt == null || sentAt - doubt.since >= 0) {
                    doubt = null;
                } else {
                    renewNow();
                }
            } else {
                Throwable refusal = answer.refused().get(claim.id());
                renewalFailed(
                        refusal == null
                                ? new IllegalStateException("the part of the store that keeps it did not answer: "
                                        + services.gate.whySilent(claim.key()))
                                : refusal);
            }
        });
    }

    @Override
    public void failed(Throwable cause) {
        owner.post(() -> renewalFailed(cause));
    }

    private void renewalFailed(Throwable cause) {
        renewing = false;
        failure = cause;
        owner.tell(phase -> phase.renewalFailed(claim.id(), cause));
        tellCallers(new LockUnavailableException(claim.key(), "renewed", cause));
    }

    /** Every release asks this first: an exception without a reader would be a good part of its cost. */
    public boolean hasCallers() {
        return !callers.isEmpty();
    }

    public void tellCallers(@Nullable LockException outcome) {
        List<Consumer<@Nullable LockException>> told = callers;
        callers = List.of();
        told.forEach(caller -> services.userCallbacks.schedule(() -> caller.accept(outcome)));
    }
}
