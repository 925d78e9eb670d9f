package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.spi.RenewalResult;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The flows of this process that stand behind one claim at the store: all that want a key with
 * {@link Fairness#COHORT}, or a single one otherwise. A state machine that handles one event after the other, from any
 * thread, out of its mailbox. No user code runs inside.
 *
 * <pre>
 * state       has              leaves on
 * IDLE        nothing          join -> CLAIMING
 * CLAIMING    attempt          granted -> HELD or CONFIRMING; queued -> QUEUED; busy, refused, silence -> IDLE
 * QUEUED      attempt          granted, grant pushed -> HELD or CONFIRMING; no contact for a lease -> IDLE
 * CONFIRMING  grant            renewed -> HELD; not ours, deadline -> CLAIMING
 * HELD        grant and hold   release -> HELD (passed on), CLAIMING (others wait) or IDLE; loss -> CLAIMING or IDLE
 * </pre>
 *
 * <p>In every state the last waiter that leaves, and close, lead to IDLE. Leaving a state that had an attempt or a grant
 * always withdraws its claim, and an answer that comes late for a claim that was left is withdrawn again.
 */
final class Cohort extends Mailbox {

    private enum State {
        IDLE,
        CLAIMING,
        QUEUED,
        CONFIRMING,
        HELD
    }

    private static final Logger log = LoggerFactory.getLogger(Cohort.class);

    final Engine engine;
    final String key;
    private final boolean shared;
    private final Runnable tick = this::ticked;

    /** Flows that keep this cohort in the engine's table; guarded by the table. */
    int members;

    // Everything below is touched only by the thread that empties the mailbox.
    private final Set<Waiter> waiters = new LinkedHashSet<>(4);
    private State state = State.IDLE;
    private @Nullable Attempt attempt;
    private @Nullable Grant grant;
    private @Nullable Hold hold;

    Cohort(Engine engine, String key, boolean shared) {
        super(key);
        this.engine = engine;
        this.key = key;
        this.shared = shared;
    }

    // ---- events

    void join(Waiter waiter) {
        post(() -> {
            if (!waiter.isWaiting()) {
                engine.depart(this);
                return;
            }
            waiters.add(waiter);
            if (state == State.IDLE) {
                claim();
            }
        });
    }

    void leave(Waiter waiter) {
        post(() -> {
            if (waiters.remove(waiter)) {
                engine.depart(this);
                if (waiters.isEmpty() && hold == null) {
                    withdraw();
                }
            }
        });
    }

    void release(Hold released, Consumer<@Nullable LockException> outcome) {
        post(() -> released(released, outcome));
    }

    void renew(Hold renewed, Consumer<@Nullable LockException> outcome) {
        post(() -> {
            Grant current = grant;
            if (current == null || hold != renewed) {
                LockException loss = renewed.recordedLoss();
                engine.run(() -> outcome.accept(
                        loss != null
                                ? loss
                                : new LockLostException(key, renewed.fencingToken, LossReason.EXPIRED, null)));
                return;
            }
            current.addRenewalCaller(outcome);
            renewNow(current);
        });
    }

    void pushed(String claimId, long fencingToken) {
        post(() -> {
            Attempt waiting = attempt;
            if (waiting != null && waiting.claim.id().equals(claimId)) {
                granted(waiting, fencingToken, waiting.claim.lease(), waiting.ungrantedAt);
            }
        });
    }

    void suspect(String claimId, LossReason reason) {
        post(() -> {
            Grant suspected = grant;
            if (suspected != null && suspected.claim.id().equals(claimId)) {
                suspected.suspicion = reason;
                renewNow(suspected);
            }
        });
    }

    /** Signals may have been missed: a waiting claim asks again; a held one too, unless pushes only just began. */
    void recheck(boolean heldToo) {
        post(() -> {
            Attempt waiting = attempt;
            if (waiting != null) {
                if (waiting.asking) {
                    waiting.askAgain = true;
                } else {
                    ask(waiting);
                }
            } else if (grant != null && heldToo) {
                renewNow(grant);
            }
        });
    }

    void tick() {
        post(tick);
    }

    void expire(Hold late) {
        post(() -> {
            if (hold == late && late.grant.isOver(engine.now())) {
                lose(expired(late));
            }
        });
    }

    void close() {
        post(() -> {
            if (hold != null) {
                lose(loss(hold, LossReason.CLIENT_CLOSED, null));
            }
            failAll(new LockClientClosedException(key));
        });
    }

    // ---- getting the lock

    private void claim() {
        Waiter head = firstWaiting();
        if (head == null) {
            state = State.IDLE;
            return;
        }
        Duration lease = head.options.lease();
        Claim claim = new Claim(key, engine.newClaimId(), engine.ownerOf(head), lease, head.mode);
        state = State.CLAIMING;
        Attempt started = new Attempt(claim, engine.now());
        attempt = started;
        if (engine.register(claim, this)) {
            ask(started);
        } else {
            failAll(new LockClientClosedException(key));
        }
    }

    private void ask(Attempt asking) {
        long sentAt = engine.now();
        asking.asking = true;
        asking.askAgain = false;
        asking.askedAt = sentAt;
        engine.ask(
                () -> engine.backend.claim(asking.claim),
                answer -> post(() -> answered(asking, sentAt, answer)),
                failure -> post(() -> refused(asking, sentAt, failure)));
    }

    private void answered(Attempt asked, long sentAt, ClaimResult answer) {
        if (sentAt == asked.askedAt) {
            asked.asking = false;
        }
        if (answer instanceof ClaimResult.Granted granted) {
            granted(asked, granted.fencingToken(), granted.lease(), sentAt);
        } else if (attempt == asked && answer instanceof ClaimResult.Queued queued) {
            state = State.QUEUED;
            asked.ungrantedAt = Math.max(asked.ungrantedAt, sentAt);
            long third = asked.claim.lease().toNanos() / 3;
            asked.askAgainAt = engine.now() + Math.min(third, nanos(queued.recheckAfter()));
            if (asked.askAgain) {
                ask(asked);
            }
        } else if (attempt == asked) {
            engine.forget(asked.claim);
            attempt = null;
            state = State.IDLE;
            endAll(Waiter::failBusy);
        }
    }

    private void granted(Attempt asked, long fencingToken, Duration lease, long since) {
        Grant current = grant;
        if (attempt == asked) {
            attempt = null;
            long now = engine.now();
            Grant fresh =
                    new Grant(asked.claim, fencingToken, lease.toNanos(), since, engine.margin(lease.toNanos()), now);
            grant = fresh;
            if (fresh.isFresh(now)) {
                handOn();
            } else {
                state = State.CONFIRMING;
                renewNow(fresh);
            }
        } else if (current != null && current.claim.equals(asked.claim) && current.fencingToken == fencingToken) {
            current.confirmed(since);
        } else {
            // The claim was left behind, or owns the lock anew after the store had lost it: neither is a hold of ours.
            engine.withdraw(asked.claim, null);
            if (current != null && current.claim.equals(asked.claim)) {
                lost(current, LossReason.EXPIRED, null);
            }
        }
    }

    private void refused(Attempt asked, long sentAt, Throwable failure) {
        if (attempt != asked || !asked.asking || asked.askedAt != sentAt) {
            return;
        }
        asked.asking = false;
        long now = engine.now();
        if (state == State.QUEUED
                && now - asked.ungrantedAt < asked.claim.lease().toNanos()) {
            asked.askAgainAt = now + Math.min(asked.claim.lease().toNanos() / 10, 500_000_000);
        } else {
            failAll(new LockUnavailableException(key, "acquired", failure));
        }
    }

    /** Gives the lock to the next flow, or up if none is left. */
    private void handOn() {
        Grant current = grant;
        Waiter next = firstWaiting();
        while (current != null && next != null) {
            waiters.remove(next);
            if (next.take()) {
                deliver(next, current);
                return;
            }
            engine.depart(this);
            next = firstWaiting();
        }
        withdraw();
    }

    private void deliver(Waiter next, Grant current) {
        long now = engine.now();
        Hold delivered = new Hold(this, current, next.options, now);
        hold = delivered;
        state = State.HELD;
        next.options.maxHold().ifPresent(longest -> {
            delivered.maxHoldTimer = engine.after(
                    longest.toNanos(),
                    () -> post(() -> {
                        if (hold == delivered) {
                            lose(loss(delivered, LossReason.HELD_TOO_LONG, null));
                        }
                    }));
        });
        engine.adopt(delivered, next);
        engine.run(() -> {
            engine.tell(l -> l.acquired(key, delivered.fencingToken, Duration.ofNanos(now - next.since())));
            next.granted(new Handle(delivered));
        });
    }

    // ---- giving it up

    private void released(Hold released, Consumer<@Nullable LockException> outcome) {
        Grant current = grant;
        if (hold != released || current == null) {
            LockException loss = released.recordedLoss();
            engine.run(() -> outcome.accept(loss));
            return;
        }
        dismiss(released);
        if (mayPass(current)) {
            current.passes++;
            engine.reportRelease(released, outcome);
            handOn();
            return;
        }
        grant = null;
        state = State.IDLE;
        tellRenewalCallers(current, loss(released, LossReason.EXPIRED, null));
        engine.withdraw(current.claim, (owned, failure) -> engine.reportRelease(released, owned, failure, outcome));
        claim();
    }

    private boolean mayPass(Grant current) {
        Waiter next = firstWaiting();
        long now = engine.now();
        return shared
                && next != null
                && current.passes < engine.maxPasses
                && now - current.since < engine.maxPassing
                && current.isFresh(now)
                && next.options.isRenewed()
                && next.options.lease().equals(current.claim.lease());
    }

    /** Ends whatever this cohort has at the store. */
    private void withdraw() {
        Claim claim = attempt != null ? attempt.claim : grant != null ? grant.claim : null;
        attempt = null;
        grant = null;
        state = State.IDLE;
        if (claim != null) {
            engine.withdraw(claim, null);
        }
    }

    private void failAll(LockException failure) {
        withdraw();
        endAll(waiter -> waiter.fail(failure));
    }

    private void endAll(Consumer<Waiter> end) {
        List<Waiter> ended = List.copyOf(waiters);
        waiters.clear();
        for (Waiter waiter : ended) {
            end.accept(waiter);
            engine.depart(this);
        }
    }

    // ---- keeping it

    private void ticked() {
        long now = engine.now();
        if (attempt != null) {
            tickAttempt(attempt, now);
        } else if (grant != null) {
            tickGrant(grant, now);
        }
    }

    private void tickAttempt(Attempt waiting, long now) {
        if (waiting.asking && now - waiting.askedAt >= engine.commandTimeout) {
            refused(waiting, waiting.askedAt, silence());
        } else if (!waiting.asking && now - waiting.askAgainAt >= 0) {
            ask(waiting);
        }
    }

    private void tickGrant(Grant current, long now) {
        if (current.renewing && now - current.renewalAskedAt >= engine.commandTimeout) {
            renewalFailed(current, silence());
        }
        if (current.isOver(now)) {
            LossReason reason = current.renewalFailure == null ? LossReason.EXPIRED : LossReason.UNREACHABLE;
            lost(current, reason, current.renewalFailure);
            return;
        }
        if (current.isRenewalDue(now) && (hold == null || hold.options.isRenewed())) {
            queueRenewal(current, now);
        }
        long deadline = current.deadline();
        if (deadline - now < 2 * engine.tickNanos() && current.armedFor != deadline) {
            current.armedFor = deadline;
            engine.arm(deadline - now, tick);
        }
    }

    private void renewNow(Grant current) {
        if (!current.renewing) {
            queueRenewal(current, engine.now());
            engine.renewDue();
        }
    }

    private void queueRenewal(Grant current, long now) {
        current.renewing = true;
        current.renewalAskedAt = now;
        engine.due(this, current);
    }

    void renewed(Grant asked, long sentAt, RenewalResult answer) {
        post(() -> {
            String id = asked.claim.id();
            LossReason reason = answer.lost().get(id);
            if (reason == null && !answer.renewed().contains(id)) {
                renewalFailed(asked, new IllegalStateException("the part of the store that keeps it did not answer"));
                return;
            }
            asked.renewing = false;
            asked.renewalFailure = null;
            if (grant != asked) {
                return;
            }
            if (reason != null) {
                lost(asked, asked.suspicion != null ? asked.suspicion : reason, null);
                return;
            }
            asked.suspicion = null;
            asked.confirmed(sentAt);
            tellRenewalCallers(asked, null);
            if (state == State.CONFIRMING && !asked.isOver(engine.now())) {
                handOn();
            }
        });
    }

    void renewalFailed(Grant asked, Throwable failure) {
        post(() -> {
            asked.renewing = false;
            asked.renewalFailure = failure;
            log.debug("lock '{}': a renewal failed and is tried again until the deadline", key, failure);
            tellRenewalCallers(asked, new LockUnavailableException(key, "renewed", failure));
        });
    }

    private void tellRenewalCallers(Grant asked, @Nullable LockException outcome) {
        for (Consumer<@Nullable LockException> caller : asked.takeRenewalCallers()) {
            engine.run(() -> caller.accept(outcome));
        }
    }

    // ---- losing it

    LockLostException expired(Hold late) {
        Throwable failure = late.grant.renewalFailure;
        return loss(late, failure == null ? LossReason.EXPIRED : LossReason.UNREACHABLE, failure);
    }

    private LockLostException loss(Hold of, LossReason reason, @Nullable Throwable cause) {
        return new LockLostException(key, of.fencingToken, reason, cause);
    }

    private void lost(Grant current, LossReason reason, @Nullable Throwable cause) {
        if (hold != null) {
            lose(loss(hold, reason, cause));
        } else if (grant == current) {
            withdraw();
            claim();
        }
    }

    private void lose(LockLostException loss) {
        Hold ended = hold;
        Grant current = grant;
        if (ended == null || current == null) {
            return;
        }
        dismiss(ended);
        ended.lose(loss);
        tellRenewalCallers(current, loss);
        engine.reportLoss(loss);
        withdraw();
        claim();
    }

    private void dismiss(Hold ended) {
        hold = null;
        if (ended.maxHoldTimer != null) {
            ended.maxHoldTimer.dispose();
        }
        engine.disown(ended);
        engine.depart(this);
    }

    private @Nullable Waiter firstWaiting() {
        Iterator<Waiter> all = waiters.iterator();
        return all.hasNext() ? all.next() : null;
    }

    private Throwable silence() {
        return new TimeoutException("the store did not answer within " + engine.commandTimeoutText());
    }

    private static long nanos(Duration duration) {
        return duration.compareTo(LockOptions.LONGEST) > 0 ? LockOptions.LONGEST.toNanos() : duration.toNanos();
    }
}
