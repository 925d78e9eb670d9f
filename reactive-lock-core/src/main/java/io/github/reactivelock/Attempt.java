package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import reactor.core.Disposable;

/**
 * A claim on its way to a grant: what was asked when, and what that proves. Touched only inside its line's events;
 * it tells the cohort what came of it.
 */
final class Attempt {

    private static final long LONGEST_PAUSE = Duration.ofMillis(500).toNanos();

    final Claim claim;
    private final Cohort cohort;
    private final Engine engine;
    private final long lease;
    private final long patience;
    private boolean queued;
    /** The store said behind whom. */
    private boolean placed;

    private int questions;
    private boolean granted;
    private boolean asking;
    private long askedAt;
    private long askAgainAt;
    /** Pushes may have been missed since the question was sent, so its answer does not suffice. */
    private boolean askAgain;
    /**
     * The latest moment at which the claim is known not to have been granted yet: when a question was sent that the
     * store answered with "queued", or before that, when the first question was sent. A pushed grant is younger.
     */
    private long ungrantedAt;
    /**
     * Between two answers "queued" lay so much time that a grant can have come and run out. A push that is still on its
     * way may speak of that one, so a push does not suffice any more.
     */
    private boolean mayHaveBeenServed;

    Attempt(Cohort cohort, Claim claim) {
        this.cohort = cohort;
        this.engine = cohort.engine;
        this.claim = claim;
        this.lease = claim.lease().toNanos();
        this.patience = engine.timing.patience(lease);
        this.ungrantedAt = engine.timing.now();
        this.askAgainAt = ungrantedAt; // a tick asks for the first time if nothing else does
    }

    /** Asks for the first time, unless something else has had it ask already. */
    void begin() {
        if (!isAsked() && cohort.isTrying(this)) {
            ask();
        }
    }

    /** Ends the claim at the store, which may know of it once it was asked. */
    void giveUp() {
        if (isAsked()) {
            engine.withdraw(claim, null);
        } else {
            engine.forget(claim);
        }
    }

    private boolean isAsked() {
        return questions > 0;
    }

    /** The store knew the claim's place in its queue. */
    boolean isPlaced() {
        return placed;
    }

    private void ask() {
        long sentAt = engine.timing.now();
        questions++;
        asking = true;
        askAgain = false;
        askedAt = sentAt;
        engine.ask(
                () -> engine.backend.claim(claim),
                answer -> cohort.post(() -> answered(sentAt, answer)),
                failure -> cohort.post(() -> refused(sentAt, failure)));
    }

    static Claim.Keeping keeping(LockOptions options) {
        return options.isRenewed() ? Claim.Keeping.RENEWED : Claim.Keeping.ONCE;
    }

    /** Whether a flow would have made the same claim. */
    static boolean suits(Claim claim, LockOptions next) {
        return next.lease().equals(claim.lease()) && keeping(next) == claim.keeping();
    }

    /** Signals may have been missed. */
    void recheck() {
        if (asking) {
            askAgain = true;
        } else {
            ask();
        }
    }

    void pushed(Signal.Grant pushed) {
        if (mayHaveBeenServed || mayHaveRunOut(engine.timing.now())) {
            recheck();
            return;
        }
        granted = true;
        Duration longest = pushed.longest();
        Duration lasting = longest.compareTo(claim.lease()) < 0 ? longest : claim.lease();
        cohort.granted(this, pushed.fencingToken(), lasting, ungrantedAt);
    }

    void tick(long now) {
        long bearable = queued ? patience : engine.timing.commandTimeout;
        if (asking && now - askedAt >= bearable) {
            refused(askedAt, engine.timing.silence(bearable));
        }
        if (!asking && now - askAgainAt >= 0 && cohort.isTrying(this)) {
            ask();
        }
    }

    private void answered(long sentAt, ClaimResult answer) {
        if (sentAt == askedAt) {
            asking = false;
        }
        if (answer instanceof ClaimResult.Granted granted) {
            cohort.granted(this, granted.fencingToken(), granted.lease(), sentAt);
        } else if (!cohort.isTrying(this)) {
            // The only question went before its own grant, so this answer is old news about a place that was served.
            if (!granted || questions > 1) {
                cohort.left(this, answer);
            }
        } else if (answer instanceof ClaimResult.Queued waiting) {
            queued(sentAt, waiting);
        } else if (claim.mode() == Claim.Mode.TRY) {
            cohort.busy(this);
        } else {
            cohort.failAll(new LockUnavailableException(
                    claim.key(), "acquired", new IllegalStateException("the store turned away a claim that waits")));
        }
    }

    private void queued(long sentAt, ClaimResult.Queued answer) {
        queued = true;
        long now = engine.timing.now();
        mayHaveBeenServed |= mayHaveRunOut(now);
        if (sentAt - ungrantedAt > 0) {
            ungrantedAt = sentAt;
        }
        if (endIfInVain()) {
            return;
        }
        if (answer.behind() != null) {
            placed = true;
            cohort.standsBehind(answer.behind());
        }
        Duration recheckAfter = answer.recheckAfter();
        long third = lease / 3;
        long pause = recheckAfter.compareTo(claim.lease()) < 0 ? Math.min(third, recheckAfter.toNanos()) : third;
        askAgainAt = now + pause;
        if (askAgain) {
            ask();
        } else if (engine.timing.isBeforeNextTick(askAgainAt, now)) {
            Disposable unused = engine.timing.after(pause, cohort::tick);
        }
    }

    /** So much time has gone by that a grant of this claim can have come and run out unheard. */
    private boolean mayHaveRunOut(long now) {
        return now - ungrantedAt >= lease - engine.timing.margin(lease);
    }

    /** Nobody stays in the queue of a store that refuses to say when it is their turn. */
    boolean endIfInVain() {
        Throwable refusal = engine.refusal;
        if (!queued || refusal == null) {
            return false;
        }
        cohort.failAll(new LockUnavailableException(claim.key(), "waited for", refusal));
        return true;
    }

    /** A first question that fails is final; a waiting claim survives silence for as long as its lease. */
    private void refused(long sentAt, Throwable failure) {
        if (!cohort.isTrying(this) || !asking || askedAt != sentAt) {
            return;
        }
        asking = false;
        long now = engine.timing.now();
        if (queued && now - ungrantedAt < lease) {
            askAgainAt = sentAt + Math.min(lease / 10, LONGEST_PAUSE);
        } else {
            cohort.failAll(new LockUnavailableException(claim.key(), "acquired", failure));
        }
    }
}
