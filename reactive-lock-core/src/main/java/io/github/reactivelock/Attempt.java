package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import reactor.core.Disposable;

/**
 * A claim on its way to a grant: what was asked when, and what that proves. Touched only inside its key's events;
 * it tells the cohort what came of it.
 */
final class Attempt implements Gate.Question {

    private static final long LONGEST_PAUSE = Duration.ofMillis(500).toNanos();
    private static final int MOST_FRUITLESS = 3;

    final Claim claim;
    private final Cohort cohort;
    private final Engine engine;
    private final long lease;
    private final long patience;
    private boolean queued;
    /** The store said behind whom. */
    private boolean placed;

    private int questions;
    private boolean asking;
    /** The question waits for its turn to leave. */
    private boolean inLine;
    /** The number of the question that left and was neither answered nor given up, or none. */
    private int away;
    /** When the question left, or while it is in line, when it came there. */
    private long askedAt;

    /** When the question left, or was last seen in a line of the backend. */
    private long leftAt;

    private long askAgainAt;
    /** Pushes may have been missed since the question was sent, so its answer does not suffice. */
    private boolean askAgain;
    /**
     * The latest moment at which the claim is known not to have been granted yet: when a question was sent that the
     * store answered with "queued", or before that, when the first question was sent. A pushed grant is younger.
     */
    private long ungrantedAt;
    /**
     * The highest token that came with an answer "queued": a grant of this claim that has it, or a lower one, was over by
     * then, whatever of it is still on its way.
     */
    private long newestToken;
    /** How many questions had been asked when that was heard; an answer to a later one is younger. */
    private int questionsThen;
    /** Of the last grant that was pushed and believed. */
    private long pushedToken;
    /** Grants whose answers came too late for a flow to have them. */
    private int fruitless;

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
        rest();
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

    /** It is over: no answer is waited for. */
    void rest() {
        settle();
        if (inLine) {
            engine.gate.remove(this);
        }
    }

    private void ask() {
        asking = true;
        askedAt = engine.timing.now();
        if (inLine) {
            return;
        }
        if (engine.gate.lets()) {
            send();
        } else {
            inLine = true;
            engine.gate.add(this);
        }
    }

    @Override
    public void leave() {
        cohort.post(() -> {
            inLine = false;
            if (asking && cohort.isTrying(this)) {
                send();
            } else {
                engine.gate.settled();
            }
            engine.gate.gone();
        });
    }

    @Override
    public void refuse(Throwable failure) {
        cohort.post(() -> {
            inLine = false;
            refused(questions, failure);
        });
    }

    /** A grant counts from when its question leaves, {@code models/Grant.tla: CountsFromSending}. */
    private void send() {
        long sentAt = engine.timing.now();
        int question = ++questions;
        settle();
        away = question;
        askAgain = false;
        askedAt = sentAt;
        leftAt = sentAt;
        if (question == 1) {
            ungrantedAt = sentAt;
        }
        engine.gate.left();
        engine.ask(
                () -> engine.backend.claim(claim),
                answer -> cohort.post(() -> answered(question, sentAt, answer)),
                failure -> cohort.post(() -> refused(question, failure)));
    }

    /** Of the question that is away, if one is. */
    private void settle() {
        if (away != 0) {
            away = 0;
            engine.gate.settled();
        }
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
            askAgain = !inLine; // what has not left yet is answered late enough
        } else {
            ask();
        }
    }

    /**
     * A push does not say how old it is: {@code models/Grant.tla: NewestToken} and
     * {@code models/Grant.tla: PushCountsFromUngranted}.
     */
    void pushed(Signal.Grant pushed) {
        if (pushed.fencingToken() > newestToken) {
            pushedToken = pushed.fencingToken();
            Duration longest = pushed.longest();
            Duration lasting = longest.compareTo(claim.lease()) < 0 ? longest : claim.lease();
            cohort.granted(this, pushedToken, lasting, ungrantedAt);
        }
        if (cohort.isTrying(this)) { // it is over, or may soon be: the owner's question starts its lease anew
            recheck();
        }
    }

    void tick(long now) {
        long bearable = queued ? patience : engine.timing.commandTimeout;
        if (asking && inLine) {
            TimeoutException standstill = engine.gate.standstill(askedAt, bearable);
            if (standstill != null) {
                refused(questions, standstill);
            }
        } else if (asking && engine.backend.holdsBack(claim)) {
            leftAt = now;
            TimeoutException standstill = engine.gate.standstill(askedAt, bearable);
            if (standstill != null) {
                refused(questions, standstill);
            }
        } else if (asking && now - leftAt >= bearable) {
            refused(questions, engine.timing.silence(bearable));
        }
        if (!asking && now - askAgainAt >= 0 && cohort.isTrying(this)) {
            ask();
        }
    }

    private void answered(int question, long sentAt, ClaimResult answer) {
        if (away == question) {
            away = 0;
            engine.gate.settled();
        }
        if (question == questions && !inLine) {
            asking = false;
        }
        if (answer instanceof ClaimResult.Granted granted) {
            granted(question, sentAt, granted);
        } else if (!cohort.isTrying(this)) {
            if (answer instanceof ClaimResult.Queued waiting) {
                queuedAfterwards(waiting);
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

    /** An answer may be older than one that was heard before it, {@code models/Grant.tla: OldNews}. */
    private void granted(int question, long sentAt, ClaimResult.Granted answer) {
        boolean isOldNews = question <= questionsThen && answer.fencingToken() <= newestToken;
        if (!isOldNews) {
            cohort.granted(this, answer.fencingToken(), answer.lease(), sentAt);
        } else if (engine.cohortOf(claim.id()) == null) {
            engine.withdraw(claim, null);
        }
        if (!cohort.isTrying(this)) {
            return;
        }
        if (isOldNews || ++fruitless < MOST_FRUITLESS) {
            recheck();
        } else {
            cohort.failThoseOf(this, tooLate(answer.lease().toNanos(), engine.timing.now() - sentAt));
        }
    }

    /** Why grant after grant was over, or nearly so, before a flow could have it. */
    private IllegalStateException tooLate(long granted, long answeredAfter) {
        return new IllegalStateException(
                "the store granted it " + fruitless + " times in a row, but the last answer took "
                        + TimeUnit.NANOSECONDS.toMillis(answeredAfter) + " ms, which with a clock margin of "
                        + TimeUnit.NANOSECONDS.toMillis(engine.timing.margin(granted))
                        + " ms leaves less than a third of the lease of " + TimeUnit.NANOSECONDS.toMillis(granted)
                        + " ms; use a longer lease");
    }

    /** The claim is in the store's queue, or was when this was said, and nobody tries to get it granted any more. */
    private void queuedAfterwards(ClaimResult.Queued answer) {
        Cohort keeper = engine.cohortOf(claim.id());
        if (keeper != null) {
            keeper.queuedSince(claim, answer.newestToken());
        } else if (pushedToken == 0 || questions > 1 || answer.newestToken() >= pushedToken) {
            engine.withdraw(claim, null); // else the only question went before its own grant: that place was served
        }
    }

    private void queued(long sentAt, ClaimResult.Queued answer) {
        queued = true;
        long now = engine.timing.now();
        newestToken = Math.max(newestToken, answer.newestToken());
        questionsThen = questions;
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
    private void refused(int question, Throwable failure) {
        if (!cohort.isTrying(this) || !asking || question != questions) {
            return;
        }
        asking = false;
        settle();
        long now = engine.timing.now();
        if (queued && now - ungrantedAt < lease) {
            askAgainAt = askedAt + Math.min(lease / 10, LONGEST_PAUSE);
        } else {
            cohort.failAll(new LockUnavailableException(claim.key(), "acquired", failure));
        }
    }
}
