package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.claim.Attempt;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.claim.ClaimOwner;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.engine.flow.WaitingFlows;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.hold.HoldOwner;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.time.Watched;
import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The flows of this process that stand behind one claim at the store: all that want a key with {@link
 * Fairness#COHORT}, or one alone ({@link OrderedCohort}). A state machine that handles one event after the other,
 * from any thread, out of its key's mailbox; its states are the {@link Phase}s. No user code runs inside. Leaving an
 * attempt or a grant always withdraws its claim, and a grant that comes late for a claim that was left is withdrawn
 * too.
 */
class Cohort extends Watched implements ClaimOwner, HoldOwner, Waiter.Queue {

    final KeyContext keyContext;
    final Engine engine;
    /**
     * Lease of its claim in nanoseconds, for the tick; set before the claim is registered and before its grant is
     * used.
     */
    volatile long lease = Long.MAX_VALUE;

    Phase phase = Phase.IDLE; // touched only inside events, as are the next
    final WaitingFlows waiting;

    Cohort(Engine engine, KeyContext keyContext, WaitingFlows waiting) {
        super(engine.services.timing);
        this.keyContext = keyContext;
        this.engine = engine;
        this.waiting = waiting;
    }

    void enter(Phase next) {
        if (waiting.first() != null && showsTaken()) {
            waiting.sawItTaken(engine.services.timing.now());
        }
        phase = next;
    }

    /** Whether what it has at the store shows that others have the lock, for those who wait here. */
    boolean showsTaken() {
        return phase.showsTaken();
    }

    /** Who may have a grant next, without the store's being asked. */
    @Nullable
    Cohort heir() {
        return this;
    }

    // ---- events from outside

    @Override
    public void post(Mailbox.Event event) {
        keyContext.post(event);
    }

    @Override
    public Services services() {
        return engine.services;
    }

    @Override
    public void tell(Consumer<Phase> news) {
        post(() -> news.accept(phase));
    }

    @Override
    public boolean isIn(Phase asked) {
        return phase == asked;
    }

    @Override
    public void tick() {
        post(() -> {
            long now = engine.services.timing.now();
            phase.tick(now);
            rest(phase.quietUntil(now));
        });
    }

    @Override
    public void join(Waiter waiter) {
        post(waiter);
    }

    @Override
    public void joined(Waiter waiter) {
        if (!waiter.isWaiting()) {
            keyContext.depart();
            return;
        }
        waiting.add(waiter);
        if (keyContext.recallable instanceof Retained kept) {
            take(kept, waiter);
        } else if (waiter.tries && keyContext.isInUse()) { // or it would call back its own process
            waiting.endAll(Waiter::failBusy);
        } else if (phase == Phase.IDLE) {
            claim();
        }
    }

    /**
     * What is kept for this key goes to a flow that asks for such a grant, in no order of the store; else back. Where
     * the store is not heard, it may have forgotten the claim, or called it back.
     */
    private void take(Retained kept, Waiter next) {
        Grant grant = kept.grant;
        kept.takeOut();
        boolean isForIt = next.options.fairness() != Fairness.FIFO
                && engine.mayKeep()
                && grant.mayStay()
                && grant.pass(next.options);
        if (!isForIt) {
            kept.cohort.drop(grant);
            if (phase == Phase.IDLE) { // those that share may have asked before it was kept
                claim();
            }
            return;
        }
        engine.retention.hit(keyContext.key);
        if (next.heard != null) {
            next.heard.hit();
        }
        if (kept.cohort == this) {
            handOn(grant);
        } else {
            inherit(grant);
        }
    }

    @Override
    public void leave(Waiter waiter) {
        post(() -> left(waiter));
    }

    @Override
    public void timedOut(Waiter waiter) {
        post(() -> {
            Waiter.Queue now = waiter.queue();
            if (now != this && now != null) { // its flow went on before this order to leave came
                now.timedOut(waiter);
            } else if (phase instanceof Attempt asked && asked.hasCalledBack()) {
                asked.rest();
                busy(asked);
            } else if (waiter.stopInTime()) {
                Throwable unanswered = showsTaken() || waiting.sawItTaken(waiter) ? null : phase.unanswered();
                left(waiter);
                waiter.tellTimedOut(unanswered);
            }
        });
    }

    void left(Waiter waiter) {
        if (waiting.leave(waiter) && !phase.suits(waiting.wanted())) {
            withdraw();
            claim();
        }
    }

    void close() {
        post(() -> {
            if (phase instanceof Hold held) {
                lose(held, held.lossFor(LossReason.CLIENT_CLOSED));
            }
            failAll(() -> new LockClientClosedException(keyContext.key));
        });
    }

    // ---- getting the lock

    void claim() {
        claim(waiting.first());
    }

    final void claim(@Nullable Waiter flow) {
        if (flow == null) {
            return;
        }
        if (flow.heard != null && flow.options.retention().isPresent()) {
            flow.heard.missed();
        }
        lease = flow.options.lease().toNanos();
        Attempt started = new Attempt(this, engine.claimOf(flow), ClaimOptions.delay(flow.options));
        if (engine.register(started.claim, this)) {
            enter(started);
            stir();
            begin(started);
        } else {
            failAll(() -> new LockClientClosedException(keyContext.key));
        }
    }

    /**
     * A grant too old for any flow changes nothing. What the store says of a grant that was handed on concerns its
     * new keeper alone, {@code models/Cohort.tla: KeeperDecides}.
     */
    @Override
    public void granted(Attempt asked, long fencingToken, Duration lasting, long since) {
        if (phase == asked) {
            Grant fresh = new Grant(this, asked, fencingToken, lasting, since);
            lease = fresh.lease;
            if (asked.heardRecall()) {
                engine.retention.recalled(fresh);
            }
            served();
            if (fresh.isFresh()) {
                asked.rest();
                enter(Phase.IDLE);
                holds(fresh);
                handOn(fresh);
            }
            return;
        }
        Grant has = phase.grant();
        if (has != null && has.claim.equals(asked.claim)) { // {@code models/Retention.tla: KeptIsKnown}
            has.grantedAgain(fencingToken, since);
        } else {
            Cohort keeper = engine.cohortOf(asked.claim.id());
            if (keeper == null || keeper == this) {
                engine.withdraw(asked.claim);
            } else {
                keeper.granted(asked, fencingToken, lasting, since);
            }
        }
    }

    @Override
    public void queuedAfterwards(Attempt asked, long newestToken) {
        Cohort keeper = engine.cohortOf(asked.claim.id());
        Grant has = keeper == null ? null : keeper.phase.grant();
        if (keeper == null) {
            asked.endIfQueued(newestToken);
        } else if (has != null && has.claim.equals(asked.claim)) {
            has.queuedSince(newestToken);
        }
    }

    @Override
    public void busy(Attempt asked) {
        enter(Phase.IDLE);
        leavePlace();
        if (asked.hasCalledBack()) {
            engine.withdraw(asked.claim);
        } else {
            engine.forget(asked.claim);
        }
        waiting.endAll(Waiter::failBusy);
    }

    @Override
    public void failAll(Supplier<? extends LockException> failure) {
        withdraw();
        waiting.endAll(waiter -> waiter.fail(failure.get()));
    }

    /** Their lease is too short for this store; others that wait here may have asked for a longer one. */
    @Override
    public void failThoseOf(Attempt asked, IllegalStateException why) {
        withdraw();
        waiting.endThoseOf(
                asked::suits, waiter -> waiter.fail(new LockUnavailableException(keyContext.key, "acquired", why)));
        claim();
    }

    /** Gives the lock to the next flow that still wants it, or up if none does or that one wants another lease. */
    void handOn(Grant grant) {
        Waiter next = waiting.next(grant);
        if (next == null) {
            drop(grant);
            claim();
            return;
        }
        Hold delivered = new Hold(this, grant, next.options, next.heard);
        enter(delivered);
        stir();
        delivered.endAtItsLongest();
        if (grant.claim.recallable()) {
            keyContext.recallable = delivered;
        }
        engine.owned.adopt(delivered, next.context());
        keyContext.deliver(next, delivered);
    }

    /**
     * Takes the grant of the cohort ahead, which has it no more ({@code models/Cohort.tla: GrantMoves}), in place of
     * one of our own, for which our claim need not wait any more: {@code models/Cohort.tla: HeirGivesUpItsClaim}.
     */
    private void inherit(Grant given) {
        Phase waited = phase;
        enter(Phase.IDLE);
        lease = given.lease;
        given.moveTo(this);
        served();
        boolean open = engine.register(given.claim, this);
        if (!open) {
            drop(given);
            failAll(() -> new LockClientClosedException(keyContext.key));
        }
        waited.giveUp();
        if (open) {
            handOn(given);
        }
    }

    // ---- giving it up

    @Override
    public void released(Hold released) {
        if (phase != released) {
            released.wasLost();
            return;
        }
        if (released.options.retention().isPresent() && keep(released)) {
            return;
        }
        dismiss(released);
        Grant grant = released.grant;
        long keptUntil = released.keptUntil(null);
        Cohort heir = keptUntil == Timing.NEVER ? heir() : null;
        LockOptions wanted = heir == null ? null : heir.waiting.wanted();
        if (heir != null && wanted != null && grant.pass(wanted)) {
            released.released();
            if (heir == this) {
                handOn(grant);
            } else {
                heir.inherit(grant);
            }
            return;
        }
        leavePlace();
        if (grant.hasCallers()) {
            grant.tellCallers(released.lossFor(LossReason.RELEASED));
        }
        engine.withdraw(grant.claim, keptUntil, toBeTold(released));
        claim();
    }

    /**
     * Keeps the claim where no flow of the key waits, in the cohort of those that stand together; the hold's place
     * among the members of the key becomes its own. False if it is to be given to the next flow or back.
     */
    private boolean keep(Hold released) {
        Cohort home = keyContext.together();
        Cohort heir = heir();
        Grant grant = released.grant;
        boolean isFlowsNext = waiting.first() != null || (heir != null && heir.waiting.first() != null);
        if (isFlowsNext
                || (home != this && home.phase != Phase.IDLE)
                || released.keptUntil(null) != Timing.NEVER
                || grant.hasCallers()
                || !engine.mayKeep()) {
            return false;
        }
        if (!grant.claim.recallable()) {
            engine.retention.taken(keyContext.key);
            return false;
        }
        if (!grant.keep(released.options) || !engine.retention.admits(keyContext.key)) {
            return false;
        }
        enter(Phase.IDLE);
        released.disarm();
        engine.owned.disown(released);
        leavePlace();
        over(grant);
        if (home != this) {
            grant.moveTo(home);
            home.lease = grant.lease;
            if (!engine.register(grant.claim, home)) {
                drop(grant);
                keyContext.depart();
                released.released();
                return true;
            }
        }
        Retained kept = new Retained(home, grant);
        home.enter(kept);
        home.stir();
        keyContext.recallable = kept;
        engine.retention.add(kept);
        released.released();
        kept.tick(engine.services.timing.now());
        return true;
    }

    @Override
    public void recalled(Grant wanted) {
        engine.retention.recalled(wanted);
    }

    @Override
    public void conclude(Runnable end) {
        keyContext.conclude(end);
    }

    @Override
    public void lost(Grant gone, LockLostException loss) {
        if (phase instanceof Hold held && held.grant == gone) {
            lose(held, loss);
        } else if (phase instanceof Retained kept && kept.grant == gone) {
            kept.giveBack();
        }
    }

    /**
     * The claim is withdrawn from the store once the work under the hold has been cancelled, however long that takes.
     */
    @Override
    public void lose(Hold ended, LockLostException loss) {
        dismiss(ended);
        Grant gone = ended.grant;
        leavePlace();
        ended.lose(loss, engine.prepareWithdrawal(gone.claim, ended.keptUntil(loss.reason()))::ask);
        over(gone);
        gone.tellCallers(loss);
        ended.tellLost(loss);
        claim();
    }

    private void dismiss(Hold ended) {
        enter(Phase.IDLE);
        ended.disarm();
        engine.owned.disown(ended);
        keyContext.depart();
    }

    /** Ends an attempt, if there is one, {@code models/Cohort.tla: LeavingWithdraws}. */
    final void withdraw() {
        Phase left = phase;
        enter(Phase.IDLE);
        leavePlace();
        left.giveUp();
    }

    @Override
    public void giveBack(Claim unwanted) {
        engine.withdraw(unwanted);
    }

    /** No flow takes this grant. */
    final void drop(Grant unwanted) {
        leavePlace();
        giveBack(unwanted.claim);
        over(unwanted);
    }

    // ---- what the order of the store's queue means; nothing, unless this is an OrderedCohort

    /** Puts the first question of a claim to the store. */
    void begin(Attempt attempt) {
        attempt.begin();
    }

    /** The store, or the cohort ahead, has served ours. */
    void served() {}

    /** A grant of the store is used. */
    void holds(Grant fresh) {}

    /** Who hears how the store took a release. */
    PendingRelease.Outcome toBeTold(Hold released) {
        return released;
    }

    /** The claim of a grant was given back. */
    void over(Grant grant) {}

    /** Our place in the queue is given up. */
    void leavePlace() {}
}
