package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * A claim on its way to a grant: what was asked when, and what that proves. Touched only inside its key's events;
 * it tells its owner what came of it.
 */
final class Attempt implements Gate.Question {

    /** Whose claim it is. Called inside its key's events, but for {@link #post} and {@link #tick}. */
    interface Owner {
        void post(Runnable event);

        void tick();

        /** False once it has the lock or has given up. */
        boolean isTrying(Attempt asked);

        /** The store granted the claim at the earliest at {@code since}. */
        void granted(Attempt asked, long fencingToken, Duration lasting, long since);

        /** The store had the claim in its queue, though nobody tries to get it granted any more. */
        void queuedAfterwards(Attempt asked, long newestToken);

        /** The store serves the claim named directly before this one. */
        void standsBehind(String claimId);

        void busy(Attempt asked);

        void failAll(LockException failure);

        /** Only those fail who want the lease that was asked for. */
        void failThoseOf(Attempt asked, IllegalStateException why);

        /** Why the store will push nothing, for as long as it refuses to. */
        @Nullable
        Throwable refusal();

        /** Whether nobody of this client has the claim. */
        boolean isLeft(Claim claim);

        /** Ends a claim at the store. */
        void withdraw(Claim claim);

        /** A claim is over that the store has not heard of, or knows no more. */
        void forget(Claim claim);
    }

    private static final long LONGEST_PAUSE = Duration.ofMillis(500).toNanos();
    private static final int MOST_FRUITLESS = 3;

    final Claim claim;
    private final Owner owner;
    private final Services services;
    private final long lease;
    private final long patience;
    private boolean queued;
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
     * Grants of this claim with this token or a lower one were over when it was heard, whatever of them is still on its way:
     * the highest that came with an answer "queued", or one less than that of a grant.
     */
    private long newestToken;
    /** How many questions had been asked by then; an answer to a later one is younger. */
    private int questionsThen;
    /** Of the last grant that was pushed and believed. */
    private long pushedToken;
    /** Grants whose answers came too late for a flow to have them. */
    private int fruitless;

    Attempt(Owner owner, Services services, Claim claim) {
        this.owner = owner;
        this.services = services;
        this.claim = claim;
        this.lease = claim.lease().toNanos();
        this.patience = services.timing.patience(lease);
        this.ungrantedAt = services.timing.now();
        this.askAgainAt = ungrantedAt; // a tick asks for the first time if nothing else does
    }

    /** Asks for the first time, unless something else has had it ask already. */
    void begin() {
        if (!isAsked() && owner.isTrying(this)) {
            ask();
        }
    }

    /** Ends the claim at the store, which may know of it once it was asked. */
    void giveUp() {
        rest();
        if (isAsked()) {
            owner.withdraw(claim);
        } else {
            owner.forget(claim);
        }
    }

    private boolean isAsked() {
        return questions > 0;
    }

    /** It is over: no answer is waited for. */
    void rest() {
        settle();
        if (inLine) {
            services.gate.remove(this);
        }
    }

    private void ask() {
        asking = true;
        askedAt = services.timing.now();
        if (inLine) {
            return;
        }
        if (services.gate.lets()) {
            send();
        } else {
            inLine = true;
            services.gate.add(this);
        }
    }

    @Override
    public void leave() {
        owner.post(() -> {
            inLine = false;
            if (asking && owner.isTrying(this)) {
                send();
            } else {
                services.gate.settled();
            }
            services.gate.gone();
        });
    }

    @Override
    public void refuse(Throwable failure) {
        owner.post(() -> {
            inLine = false;
            refused(questions, failure);
        });
    }

    /** A grant counts from when its question leaves, {@code models/Grant.tla: CountsFromSending}. */
    private void send() {
        long sentAt = services.timing.now();
        int question = ++questions;
        settle();
        away = question;
        askAgain = false;
        askedAt = sentAt;
        leftAt = sentAt;
        if (question == 1) {
            ungrantedAt = sentAt;
        }
        services.gate.left();
        services.gate.ask(
                () -> services.backend.claim(claim),
                answer -> owner.post(() -> answered(question, sentAt, answer)),
                failure -> owner.post(() -> refused(question, failure)));
    }

    /** Of the question that is away, if one is. */
    private void settle() {
        if (away != 0) {
            away = 0;
            services.gate.settled();
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
            heard(pushedToken);
            Duration longest = pushed.longest();
            Duration lasting = longest.compareTo(claim.lease()) < 0 ? longest : claim.lease();
            owner.granted(this, pushedToken, lasting, ungrantedAt);
        }
        if (owner.isTrying(this)) { // it is over, or may soon be: the owner's question starts its lease anew
            recheck();
        }
    }

    void tick(long now) {
        long bearable = queued ? patience : services.timing.commandTimeout;
        if (asking && inLine) {
            TimeoutException standstill = services.gate.standstill(askedAt, bearable);
            if (standstill != null) {
                refused(questions, standstill);
            }
        } else if (asking && services.backend.holdsBack(claim)) {
            leftAt = now;
            TimeoutException standstill = services.gate.standstill(askedAt, bearable);
            if (standstill != null) {
                refused(questions, standstill);
            }
        } else if (asking && now - leftAt >= bearable) {
            refused(questions, services.timing.silence(bearable));
        }
        if (!asking && now - askAgainAt >= 0 && owner.isTrying(this)) {
            ask();
        }
    }

    private void answered(int question, long sentAt, ClaimResult answer) {
        if (away == question) {
            away = 0;
            services.gate.settled();
        }
        if (question == questions && !inLine) {
            asking = false;
        }
        if (answer instanceof ClaimResult.Granted granted) {
            granted(question, sentAt, granted);
        } else if (!owner.isTrying(this)) {
            if (answer instanceof ClaimResult.Queued waiting) {
                owner.queuedAfterwards(this, waiting.newestToken());
            }
        } else if (answer instanceof ClaimResult.Queued waiting) {
            queued(sentAt, waiting);
        } else if (claim.mode() == Claim.Mode.TRY) {
            owner.busy(this);
        } else {
            owner.failAll(new LockUnavailableException(
                    claim.key(), "acquired", new IllegalStateException("the store turned away a claim that waits")));
        }
    }

    /** Of grants, even of one that is not used, the higher is the younger: {@code models/Grant.tla: LowerIsOlder}. */
    private void heard(long fencingToken) {
        if (fencingToken - 1 > newestToken) {
            newestToken = fencingToken - 1;
            questionsThen = questions;
        }
    }

    /** An answer may be older than one that was heard before it, {@code models/Grant.tla: OldNews}. */
    private void granted(int question, long sentAt, ClaimResult.Granted answer) {
        boolean isOldNews = question <= questionsThen && answer.fencingToken() <= newestToken;
        heard(answer.fencingToken());
        if (!isOldNews) {
            owner.granted(this, answer.fencingToken(), answer.lease(), sentAt);
        } else if (owner.isLeft(claim)) {
            owner.withdraw(claim);
        }
        if (!owner.isTrying(this)) {
            return;
        }
        if (isOldNews || ++fruitless < MOST_FRUITLESS) {
            recheck();
        } else {
            owner.failThoseOf(this, tooLate(answer.lease().toNanos(), services.timing.now() - sentAt));
        }
    }

    /** Why grant after grant was over, or nearly so, before a flow could have it. */
    private IllegalStateException tooLate(long granted, long answeredAfter) {
        return new IllegalStateException(
                "the store granted it " + fruitless + " times in a row, but the last answer took "
                        + TimeUnit.NANOSECONDS.toMillis(answeredAfter) + " ms, which with a clock margin of "
                        + TimeUnit.NANOSECONDS.toMillis(services.timing.margin(granted))
                        + " ms leaves less than a third of the lease of " + TimeUnit.NANOSECONDS.toMillis(granted)
                        + " ms; use a longer lease");
    }

    /** Whether the claim may still have a place, by an answer "queued"; else that one was served. */
    boolean mayBeQueued(long newestTokenThen) {
        return pushedToken == 0
                || questions > 1
                || newestTokenThen >= pushedToken; // a grant may overtake its question's answer
    }

    private void queued(long sentAt, ClaimResult.Queued answer) {
        queued = true;
        long now = services.timing.now();
        newestToken = Math.max(newestToken, answer.newestToken());
        questionsThen = questions;
        if (sentAt - ungrantedAt > 0) {
            ungrantedAt = sentAt;
        }
        if (endIfInVain()) {
            return;
        }
        if (answer.behind() != null) {
            owner.standsBehind(answer.behind());
        }
        Duration recheckAfter = answer.recheckAfter();
        long third = lease / 3;
        long pause = recheckAfter.compareTo(claim.lease()) < 0 ? Math.min(third, recheckAfter.toNanos()) : third;
        askAgainAt = now + pause;
        if (askAgain) {
            ask();
        } else if (services.timing.isBeforeNextTick(askAgainAt, now)) {
            Disposable unused = services.timing.after(pause, owner::tick);
        }
    }

    /** Nobody stays in the queue of a store that refuses to say when it is their turn. */
    boolean endIfInVain() {
        Throwable refusal = owner.refusal();
        if (!queued || refusal == null) {
            return false;
        }
        owner.failAll(new LockUnavailableException(claim.key(), "waited for", refusal));
        return true;
    }

    /** A first question that fails is final; a waiting claim survives silence for as long as its lease. */
    private void refused(int question, Throwable failure) {
        if (!owner.isTrying(this) || !asking || question != questions) {
            return;
        }
        asking = false;
        settle();
        long now = services.timing.now();
        if (queued && now - ungrantedAt < lease) {
            askAgainAt = askedAt + Math.min(lease / 10, LONGEST_PAUSE);
        } else {
            owner.failAll(new LockUnavailableException(claim.key(), "acquired", failure));
        }
    }
}
