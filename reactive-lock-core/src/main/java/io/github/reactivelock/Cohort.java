package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The flows of this process that stand behind one claim at the store: all that want a key with
 * {@link Fairness#COHORT}, or a single one otherwise. A state machine that handles one event after the other, from any
 * thread, out of its key's mailbox. No user code runs inside.
 *
 * <pre>
 * state   has              leaves on
 * idle    nothing          join -> trying
 * trying  attempt          granted, grant pushed, a grant of the cohort ahead -> held; granted but stale or too old ->
 *                          trying (asks again); too old three times -> trying (others wait) or idle; busy, refused -> idle
 * held    grant and hold   release -> held (passed on), trying (others wait) or idle (with the grant given to the
 *                          cohort behind, or up); loss -> trying or idle
 * </pre>
 *
 * <p>While trying the last waiter that leaves leads to idle, and in every state close does. Leaving an
 * attempt or a grant always withdraws its claim, and a grant that comes late for a claim that was left is withdrawn too.
 */
class Cohort implements Attempt.Owner, Grant.Owner, Hold.Owner, Waiter.Line {

    final KeyContext keyContext;
    final Engine engine;
    private final Services services;

    /** Of its claim, in nanoseconds, for the tick; known before the claim is registered, and before its grant is used. */
    private volatile long lease = Long.MAX_VALUE;

    // Everything below is touched only inside events.
    /** Who waits, in order; none while nobody does, because most locks are held without a waiter. */
    private @Nullable Set<Waiter> waiters;

    private @Nullable Attempt attempt;
    private @Nullable Grant grant;
    private @Nullable Hold hold;

    Cohort(Engine engine, KeyContext keyContext) {
        this.keyContext = keyContext;
        this.engine = engine;
        this.services = engine.services;
    }

    long lease() {
        return lease;
    }

    @Override
    public void post(Runnable event) {
        keyContext.post(event);
    }

    // ---- events from outside

    @Override
    public void join(Waiter waiter) {
        post(() -> {
            if (!waiter.isWaiting()) {
                engine.depart(keyContext);
                return;
            }
            if (waiters == null) {
                waiters = new LinkedHashSet<>(4);
            }
            waiters.add(waiter);
            if (attempt == null && grant == null) {
                claim();
            }
        });
    }

    @Override
    public void leave(Waiter waiter) {
        post(() -> {
            if (takeOut(waiter)) {
                engine.depart(keyContext);
                Waiter head = firstWaiting();
                if (hold == null
                        && (head == null || (attempt != null && !Attempt.suits(attempt.claim, head.options)))) {
                    withdraw();
                    claim();
                }
            }
        });
    }

    @Override
    public void release(Hold released, Consumer<@Nullable LockException> outcome) {
        post(() -> released(released, outcome));
    }

    @Override
    public void renew(Hold renewed, Consumer<@Nullable LockException> outcome) {
        post(() -> {
            if (hold == renewed && grant != null) {
                grant.renewFor(outcome);
            } else {
                LockException gone = renewed.loss() != null ? renewed.loss() : loss(renewed, LossReason.RELEASED, null);
                services.userCallbacks.run(() -> outcome.accept(gone));
            }
        });
    }

    void pushed(Signal.Grant pushed) {
        post(() -> {
            if (attempt != null && attempt.claim.id().equals(pushed.claimId())) {
                attempt.pushed(pushed);
            }
        });
    }

    void suspect(String claimId, LossReason reason) {
        post(() -> {
            if (grant != null && grant.claim.id().equals(claimId)) {
                grant.suspect(reason);
            }
        });
    }

    /** The store refuses to push anything. */
    void refused() {
        post(() -> {
            if (attempt != null) {
                boolean unused = attempt.endIfInVain();
            }
        });
    }

    /** Signals may have been missed: a waiting claim asks again, a held one too unless pushes only just began. */
    void recheck(boolean heldToo) {
        post(() -> {
            if (attempt != null) {
                attempt.recheck();
            } else if (grant != null && heldToo && isRenewed()) {
                grant.doubt();
            }
        });
    }

    @Override
    public void tick() {
        post(this::ticked);
    }

    void close() {
        post(() -> {
            if (hold != null) {
                lose(hold, loss(hold, LossReason.CLIENT_CLOSED, null));
            }
            failAll(new LockClientClosedException(keyContext.key));
        });
    }

    private void ticked() {
        long now = services.timing.now();
        if (attempt != null) {
            attempt.tick(now);
        } else if (grant != null) {
            grant.tick(now, isRenewed());
        }
    }

    private boolean isRenewed() {
        return hold != null && hold.options.isRenewed();
    }

    // ---- getting the lock

    private void claim() {
        Waiter head = firstWaiting();
        if (head == null) {
            return;
        }
        LockOptions wanted = head.options;
        lease = wanted.lease().toNanos();
        Claim claim = new Claim(
                keyContext.key,
                engine.newClaimId(),
                engine.ownerOf(head),
                wanted.lease(),
                head.mode,
                Attempt.keeping(wanted));
        Attempt started = new Attempt(this, services, claim);
        if (engine.register(claim, this)) {
            attempt = started;
            begin(started);
        } else {
            endAll(waiter -> waiter.fail(new LockClientClosedException(keyContext.key)));
        }
    }

    @Override
    public boolean isTrying(Attempt asked) {
        return attempt == asked;
    }

    /**
     * The store granted a claim at the earliest at {@code since}. A grant too old to be given to anybody changes nothing.
     * What it says of a grant that was handed on is for whoever has that, {@code models/Cohort.tla: KeeperDecides}; a
     * younger grant than the one we have ends that, {@code models/Grant.tla: GrantedAnew}.
     */
    @Override
    public void granted(Attempt asked, long fencingToken, Duration lasting, long since) {
        Grant current = grant;
        if (attempt == asked) {
            lease = lasting.toNanos();
            Grant fresh = new Grant(this, services, asked.claim, fencingToken, lasting, since);
            served();
            if (fresh.isFresh()) {
                asked.rest();
                attempt = null;
                grant = fresh;
                holds(fresh);
                handOn(fresh);
            }
        } else if (current == null || !current.claim.equals(asked.claim)) {
            Cohort keeper = engine.cohortOf(asked.claim.id());
            if (keeper == null || keeper == this) {
                withdraw(asked.claim);
            } else {
                keeper.granted(asked, fencingToken, lasting, since);
            }
        } else if (current.fencingToken == fencingToken) {
            current.confirmed(since);
        } else if (current.fencingToken < fencingToken) {
            // The store had lost the claim and granted it anew when an old question arrived: not the hold we gave out.
            lost(current, new LockLostException(keyContext.key, current.currentToken(), LossReason.EXPIRED, null));
        }
    }

    @Override
    public void queuedAfterwards(Attempt asked, long newestToken) {
        Cohort keeper = engine.cohortOf(asked.claim.id());
        if (keeper != null) {
            keeper.queuedSince(asked.claim, newestToken);
        } else if (asked.mayBeQueued(newestToken)) {
            withdraw(asked.claim);
        }
    }

    @Override
    public boolean isLeft(Claim claim) {
        return engine.cohortOf(claim.id()) == null;
    }

    @Override
    public void withdraw(Claim claim) {
        engine.withdraw(claim, null);
    }

    @Override
    public void forget(Claim claim) {
        engine.forget(claim);
    }

    @Override
    public @Nullable Throwable refusal() {
        return engine.refusal;
    }

    /** The store queued a claim, so its grants up to a token are over, {@code models/Grant.tla: QueuedSince}. */
    private void queuedSince(Claim claim, long newestToken) {
        Grant current = grant;
        if (current != null && current.claim.equals(claim) && current.fencingToken <= newestToken) {
            lost(current, new LockLostException(keyContext.key, current.currentToken(), LossReason.EXPIRED, null));
        }
    }

    @Override
    public void busy(Attempt asked) {
        attempt = null;
        engine.forget(asked.claim);
        endAll(Waiter::failBusy);
    }

    @Override
    public void failAll(LockException failure) {
        withdraw();
        endAll(waiter -> waiter.fail(failure));
    }

    /** Their lease is too short for this store; others that wait here may have asked for a longer one. */
    @Override
    public void failThoseOf(Attempt asked, IllegalStateException why) {
        withdraw();
        LockUnavailableException failure = new LockUnavailableException(keyContext.key, "acquired", why);
        for (Waiter waiter : waiters == null ? List.<Waiter>of() : List.copyOf(waiters)) {
            if (Attempt.suits(asked.claim, waiter.options) && takeOut(waiter)) {
                waiter.fail(failure);
                engine.depart(keyContext);
            }
        }
        claim();
    }

    /** Gives the lock to the next flow that still wants it, or up if none does or that one wants another lease. */
    private void handOn(Grant current) {
        for (Waiter next = firstWaiting(); next != null && current.suits(next.options); next = firstWaiting()) {
            boolean unused = takeOut(next);
            if (next.take()) {
                deliver(next, current);
                return;
            }
            engine.depart(keyContext);
        }
        withdraw();
        claim();
    }

    private void deliver(Waiter next, Grant current) {
        Hold delivered = new Hold(this, current, next.options);
        hold = delivered;
        delivered.endAtItsLongest();
        engine.owned.adopt(delivered, next.context());
        if (next.wantsMore()) {
            services.userCallbacks.run(() -> tellAcquired(delivered, next));
            next.granted(new Handle(delivered));
        } else {
            keyContext.deliver(() -> {
                tellAcquired(delivered, next);
                next.granted(new Handle(delivered));
            });
        }
    }

    private void tellAcquired(Hold delivered, Waiter to) {
        Duration waited = Duration.ofNanos(delivered.since - to.since());
        services.userCallbacks.tell(l -> l.acquired(keyContext.key, delivered.fencingToken, waited));
    }

    // ---- giving it up

    private void released(Hold released, Consumer<@Nullable LockException> outcome) {
        Grant current = grant;
        if (hold != released || current == null) {
            LockException loss = released.loss();
            services.userCallbacks.run(() -> outcome.accept(loss));
            return;
        }
        dismiss(released);
        Cohort heir = heir();
        Waiter next = heir == null ? null : heir.firstWaiting();
        if (heir != null && next != null && current.pass(next.options)) {
            concluded(released, outcome);
            if (heir == this) {
                handOn(current);
            } else {
                grant = null;
                heir.inherit(current);
            }
            return;
        }
        grant = null;
        leavePlace();
        if (current.hasCallers()) {
            current.tellCallers(loss(released, LossReason.RELEASED, null));
        }
        engine.withdraw(current.claim, new Release(released, outcome, isAwaited(current) ? current : null));
        claim();
    }

    /** A hold was released, at the store or to the next flow of this process. */
    private void concluded(Hold released, Consumer<@Nullable LockException> outcome) {
        keyContext.conclude(() -> {
            Duration lasted = services.timing.since(released.since);
            services.userCallbacks.tell(l -> l.released(keyContext.key, released.fencingToken, lasted));
            outcome.accept(null);
        });
    }

    /** What the store says to the release of a hold. */
    private final class Release implements PendingRelease.Outcome {

        private final Hold hold;
        private final Consumer<@Nullable LockException> outcome;
        /** What claims wait for, see {@link #isAwaited}. */
        private final @Nullable Grant awaited;

        Release(Hold hold, Consumer<@Nullable LockException> outcome, @Nullable Grant awaited) {
            this.hold = hold;
            this.outcome = outcome;
            this.awaited = awaited;
        }

        @Override
        public void released() {
            goOn();
            concluded(hold, outcome);
        }

        @Override
        public void wasOver() {
            goOn();
            LockLostException loss = loss(hold, LossReason.EXPIRED, null);
            services.userCallbacks.lost(loss);
            services.userCallbacks.run(() -> outcome.accept(loss));
        }

        @Override
        public void unanswered(Throwable failure) {
            goOn();
            services.userCallbacks.releaseFailed(
                    new LockUnavailableException(
                            keyContext.key, "released (it is tried again until its lease is over)", failure),
                    outcome);
        }

        private void goOn() {
            if (awaited != null) {
                post(() -> ended(awaited));
            }
        }
    }

    /** Ends whatever this cohort has at the store, {@code models/Cohort.tla: LeavingWithdraws}. */
    private void withdraw() {
        Attempt waited = attempt;
        Grant had = grant;
        attempt = null;
        grant = null;
        leavePlace();
        if (waited != null) {
            waited.giveUp();
        } else if (had != null) {
            withdraw(had.claim);
            ended(had);
        }
    }

    private void endAll(Consumer<Waiter> end) {
        List<Waiter> ended = waiters == null ? List.of() : List.copyOf(waiters);
        waiters = null;
        for (Waiter waiter : ended) {
            end.accept(waiter);
            engine.depart(keyContext);
        }
    }

    // ---- what differs where each flow stands in the store's queue by itself

    /** Who may have a grant next, without the store's being asked. */
    @Nullable
    Cohort heir() {
        return this;
    }

    /** Puts the first question of a claim to the store. */
    void begin(Attempt attempt) {
        attempt.begin();
    }

    /** The store has served the claim. */
    void served() {}

    /** The store's grant is used. */
    void holds(Grant fresh) {}

    /** Whether claims wait for the end of a grant that is given back. */
    boolean isAwaited(Grant released) {
        return false;
    }

    /** The store has answered the release of a grant, or will not. */
    void ended(Grant grant) {}

    /** The claim is given up. */
    void leavePlace() {}

    @Override
    public void standsBehind(String claimId) {}

    /**
     * Takes the grant of the cohort ahead, which has it no more ({@code models/Cohort.tla: GrantMoves}), in place of one
     * of our own, for which our claim need not wait any more: {@code models/Cohort.tla: HeirGivesUpItsClaim}.
     */
    private void inherit(Grant given) {
        Attempt waited = attempt;
        attempt = null;
        lease = given.lease;
        grant = given;
        given.moveTo(this);
        served();
        boolean open = engine.register(given.claim, this);
        if (!open) {
            failAll(new LockClientClosedException(keyContext.key));
        }
        if (waited != null) {
            waited.giveUp();
        }
        if (open) {
            handOn(given);
        }
    }

    // ---- losing it

    /** A clock was compared and the hold is over, whether or not a timer has noticed. */
    @Override
    public void expire(Hold late) {
        post(() -> {
            if (hold == late && late.grant.isOver()) {
                lose(late, late.grant.expiry(late.fencingToken));
            }
        });
    }

    @Override
    public void lost(Grant gone, LockLostException loss) {
        if (grant == gone && hold != null) {
            lose(hold, loss);
        }
    }

    /** Options of a flow do not allow a hold to last longer. */
    @Override
    public void end(Hold late, LossReason reason) {
        post(() -> {
            if (hold == late) {
                lose(late, loss(late, reason, null));
            }
        });
    }

    /** The store hears of it when the work under the hold has been cancelled, which takes as long as it likes. */
    private void lose(Hold ended, LockLostException loss) {
        dismiss(ended);
        Grant gone = ended.grant;
        grant = null;
        leavePlace();
        ended.lose(loss, engine.prepareWithdrawal(gone.claim)::ask);
        ended(gone);
        gone.tellCallers(loss);
        services.userCallbacks.lost(loss);
        claim();
    }

    private void dismiss(Hold ended) {
        hold = null;
        ended.disarm();
        engine.owned.disown(ended);
        engine.depart(keyContext);
    }

    private LockLostException loss(Hold of, LossReason reason, @Nullable Throwable cause) {
        return new LockLostException(keyContext.key, of.fencingToken, reason, cause);
    }

    private @Nullable Waiter firstWaiting() {
        return waiters == null ? null : waiters.iterator().next();
    }

    private boolean takeOut(Waiter waiter) {
        if (waiters == null || !waiters.remove(waiter)) {
            return false;
        }
        if (waiters.isEmpty()) {
            waiters = null;
        }
        return true;
    }
}
