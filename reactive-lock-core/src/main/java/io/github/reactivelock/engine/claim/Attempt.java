package io.github.reactivelock.engine.claim;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.store.Gate;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A claim on its way to a grant: what is asked when, and what came of it. Touched only inside its key's events.
 */
public final class Attempt implements Phase, Gate.Question {

    private static final long LONGEST_PAUSE = Duration.ofMillis(500).toNanos();
    private static final int MOST_FRUITLESS = 3;
    /** Nanoseconds that an owner has to give a lock back which is not in use, the way to it not counted. */
    private static final long LONGEST_TRY = Duration.ofMillis(100).toNanos();

    public final Claim claim;
    final ClaimOwner owner;
    /** How much of the lease is not relied upon. */
    final Duration delay;

    private final Evidence evidence;
    private boolean queued;
    private boolean asking;
    /** The question waits for its turn to leave. */
    private boolean atGate;
    /** The question that left and was neither answered nor given up. */
    private @Nullable ClaimQuestion away;
    /**
     * When the question left, or while it waits at the gate, when it came there; and the same by the clock that
     * silence is measured by.
     */
    private long askedAt;

    private long silentSince;

    private long askAgainAt;
    /** Pushes may have been missed since the question was sent, so its answer does not suffice. */
    private boolean askAgain;
    /** Grants whose answers came too late for a flow to have them. */
    private byte fruitless;
    /** A recall came before the answer. */
    private boolean heardRecall;
    /** A recall may have been missed. */
    private boolean recalled;
    /** It does not wait, but for an owner that was called back for it. */
    private boolean calledBack;

    public Attempt(ClaimOwner owner, Claim claim, Duration delay) {
        this.delay = delay;
        this.owner = owner;
        this.claim = claim;
        long now = services().timing.now();
        this.evidence = new Evidence(now);
        this.askAgainAt = now; // a tick asks for the first time if nothing else does
    }

    Services services() {
        return owner.services();
    }

    private long lease() {
        return claim.lease().minus(delay).toNanos();
    }

    /** Asks for the first time, unless something else has had it ask already. */
    public void begin() {
        if (!evidence.isAsked() && owner.isIn(this)) {
            ask();
        }
    }

    /** Ends the claim at the store, which may know of it once it was asked. */
    @Override
    public void giveUp() {
        rest();
        if (evidence.isAsked()) {
            owner.giveBack(claim);
        } else {
            services().claims.forget(claim);
        }
    }

    /** The store has said that it knows of it, and that others are before it. */
    public boolean isQueued() {
        return queued;
    }

    /** The store has a place of this try, until it is ended. */
    public boolean hasCalledBack() {
        return calledBack;
    }

    /**
     * That the lock is taken is what a store says which queues the claim. One that was not to be asked yet waits for
     * a hold of its own process ({@code ClaimBatcher}).
     */
    @Override
    public boolean showsTaken() {
        boolean waitsForItsProcess = !evidence.isAsked() && !atGate;
        return queued || waitsForItsProcess;
    }

    @Override
    public Throwable unanswered() {
        return services().backend.isReady()
                ? services().gate.silence(claim.key(), services().timing.now() - askedAt)
                : services().gate.unconnected(services().timing.now() - askedAt);
    }

    /** It is over: no answer is waited for. */
    public void rest() {
        settle();
        if (atGate) {
            services().gate.remove(this);
        }
    }

    private void ask() {
        asking = true;
        askedAt = services().timing.now();
        silentSince = services().timing.silentNow();
        if (atGate) {
            return;
        }
        if (services().gate.lets()) {
            send();
        } else {
            atGate = true;
            services().gate.add(this);
        }
    }

    @Override
    public void admitted() {
        owner.post(() -> {
            atGate = false;
            if (asking && owner.isIn(this)) {
                send();
            } else {
                services().gate.settled();
            }
            services().gate.gone();
        });
    }

    @Override
    public void refuse(Throwable failure) {
        owner.post(() -> {
            atGate = false;
            refused(evidence.questions(), failure);
        });
    }

    /** A grant counts from when its question leaves, {@code models/Grant.tla: CountsFromSending}. */
    private void send() {
        long sentAt = services().timing.now();
        ClaimQuestion question = new ClaimQuestion(this, evidence.asked(sentAt), sentAt);
        settle();
        away = question;
        askAgain = false;
        askedAt = sentAt;
        silentSince = services().timing.silentNow();
        services().gate.left(claim);
        services().gate.ask(question);
    }

    /** Gives up the question that is away, if there is one. */
    private void settle() {
        if (away != null) {
            away.giveUp();
            away = null;
        }
    }

    /** Whether the flow that waits would have made the same claim. */
    @Override
    public boolean suits(@Nullable LockOptions wanted) {
        return wanted != null && ClaimOptions.suit(wanted, claim, delay);
    }

    /** {@code models/Retention.tla: EarlyRecall}. */
    @Override
    public void recalled(String claimId) {
        heardRecall |= claim.id().equals(claimId);
    }

    /** A recall was heard before the answer that grants it. */
    public boolean heardRecall() {
        return heardRecall;
    }

    /**
     * Whether others want the lock, or may: those who stand behind a claim that was queued have called another owner
     * back, {@code models/Retention.tla: QueuedIsNotKept}.
     */
    boolean isContended() {
        return heardRecall || recalled || queued || evidence.questions() > 1 || evidence.isPushed();
    }

    @Override
    public void recheck() {
        recalled = true;
        if (asking) {
            askAgain = !atGate; // what has not left yet is answered late enough
        } else {
            ask();
        }
    }

    /** A push does not say when its lease began, {@code models/Grant.tla: PushCountsFromUngranted}. */
    @Override
    public void pushed(Signal.Grant pushed) {
        if (!claim.id().equals(pushed.claimId())) {
            return;
        }
        if (evidence.pushed(pushed.fencingToken())) {
            Duration longest = pushed.longest();
            Duration lasting = longest.compareTo(claim.lease()) < 0 ? longest : claim.lease();
            owner.granted(this, pushed.fencingToken(), lasting, evidence.ungrantedAt());
        }
        if (owner.isIn(this)) { // it is over, or may soon be: the owner's question starts its lease anew
            recheck();
        }
    }

    /** Pushes have a connection of their own, so a grant may be over before its answer is heard. */
    @Override
    public void suspected(Signal.Suspect suspect) {
        if (claim.id().equals(suspect.claimId())) {
            evidence.suspected(suspect);
        }
    }

    @Override
    public void tick(long now) {
        Throwable failure = asking
                ? tooLongUnanswered(queued ? services().gate.patience(lease()) : services().timing.commandTimeout)
                : null;
        if (failure != null) {
            refused(evidence.questions(), failure);
        }
        if (!asking && now - askAgainAt >= 0 && owner.isIn(this)) {
            ask();
        }
    }

    /** Why the last question must not be waited for any longer, if so. */
    private @Nullable TimeoutException tooLongUnanswered(long bearable) {
        long now = services().timing.silentNow();
        ClaimQuestion left = away != null && !away.isHeldBack(now) ? away : null;
        if (left != null) {
            return left.isLate(now, bearable) ? services().gate.silence(claim.key(), bearable) : null;
        }
        return away != null
                ? services().gate.standstill(silentSince, bearable)
                : services().gate.claimsStandstill(silentSince, bearable);
    }

    void answered(ClaimQuestion question, ClaimResult answer) {
        if (away == question) {
            away = null;
        }
        if (question.number == evidence.questions() && !atGate) {
            asking = false;
        }
        if (answer instanceof ClaimResult.Granted granted) {
            granted(question.number, question.sentAt, granted);
        } else if (!owner.isIn(this)) {
            if (answer instanceof ClaimResult.Queued waiting) {
                owner.queuedAfterwards(this, waiting.newestToken());
            }
        } else if (answer instanceof ClaimResult.Queued waiting) {
            queued(question.sentAt, waiting);
        } else if (claim.mode() == Claim.Mode.TRY) {
            rest(); // the refusal may answer a question before the last
            owner.busy(this);
        } else {
            owner.failAll(() -> new LockUnavailableException(
                    claim.key(), "acquired", new IllegalStateException("the store turned away a claim that waits")));
        }
    }

    private void granted(int question, long sentAt, ClaimResult.Granted answer) {
        boolean isOldNews = !evidence.granted(question, answer.fencingToken());
        if (!isOldNews) {
            owner.granted(this, answer.fencingToken(), answer.lease(), sentAt);
        } else if (services().claims.isLeft(claim)) {
            services().claims.withdraw(claim);
        }
        if (!owner.isIn(this)) {
            Signal.Suspect suspicion = evidence.suspicionOf(question);
            if (suspicion != null) {
                owner.tell(phase -> phase.suspected(suspicion));
            }
            return;
        }
        if (isOldNews || ++fruitless < MOST_FRUITLESS) {
            recheck();
        } else {
            owner.failThoseOf(this, services().timing.tooLate(fruitless, answer.lease(), delay, sentAt));
        }
    }

    /** No flow wants this claim any more, and the store has answered that it was queued. */
    public void endIfQueued(long newestToken) {
        if (evidence.mayBeQueued(newestToken)) {
            services().claims.withdraw(claim);
        }
    }

    private void queued(long sentAt, ClaimResult.Queued answer) {
        long now = services().timing.now();
        if (!queued && claim.mode() == Claim.Mode.TRY && services().backend.supportsRecall()) {
            calledBack = true;
            services().timing.after(LONGEST_TRY + 3 * (now - sentAt), this::endTry);
        }
        queued = true;
        evidence.queued(sentAt, answer.newestToken());
        signalsRefused();
        if (!owner.isIn(this)) {
            return;
        }
        if (answer.behind() != null) {
            owner.standsBehind(answer.behind());
        }
        Duration recheckAfter = answer.recheckAfter();
        long third = lease() / 3;
        long pause = recheckAfter.compareTo(claim.lease()) < 0 ? Math.min(third, recheckAfter.toNanos()) : third;
        askAgainAt = now + pause;
        if (askAgain) {
            ask();
        } else if (services().timing.isBeforeNextTick(askAgainAt, now)) {
            services().timing.after(pause, owner::tick);
        }
    }

    /** Nothing came of the recall: the lock is in use. */
    private void endTry() {
        owner.post(() -> {
            if (owner.isIn(this)) {
                rest();
                owner.busy(this);
            }
        });
    }

    /** A store that refuses to push cannot say when a claim's turn has come, so no flow stays in its queue. */
    @Override
    public void signalsRefused() {
        Throwable refusal = services().claims.refusal();
        if (refusal != null && calledBack) {
            rest();
            owner.busy(this);
        } else if (queued && refusal != null) {
            owner.failAll(() -> new LockUnavailableException(claim.key(), "waited for", refusal));
        }
    }

    /** A first question that fails is final; a waiting claim survives silence for as long as its lease. */
    void refused(int question, Throwable failure) {
        if (!owner.isIn(this) || !asking || question != evidence.questions()) {
            return;
        }
        asking = false;
        settle();
        long now = services().timing.now();
        if (queued && now - evidence.ungrantedAt() < lease()) {
            askAgainAt = askedAt + Math.min(lease() / 10, LONGEST_PAUSE);
        } else {
            owner.failAll(() -> new LockUnavailableException(claim.key(), "acquired", failure));
        }
    }
}
