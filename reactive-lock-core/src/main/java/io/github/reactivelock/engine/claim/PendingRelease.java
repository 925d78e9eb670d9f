package io.github.reactivelock.engine.claim;

import io.github.reactivelock.engine.store.Gate;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.store.StoreAnswer;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The end of a claim at the store: asked for until the store confirms it, or until its lease must have run out by
 * itself. Where the lock is to stay taken for a while, it is left to a claim without a flow, so that late news of this
 * claim cannot change that. The listener gets the first attempt's outcome. Each method runs on the thread that brings
 * its news; {@code synchronized} guards a few fields and nothing slower.
 */
public final class PendingRelease implements Gate.Question {

    /** Hears once how the first try went. */
    public interface Outcome {
        /** The claim owned the lock until now. */
        void released();

        /** It did not own it any more. */
        void wasOver();

        /** The store did not say. */
        void unanswered(Throwable failure);
    }

    /** Who keeps it until it has ended. */
    public interface Owner {
        Services services();

        /** The store is closed and may not be asked any more. */
        boolean isOver();

        /** For a claim that stands for a hold which is over. */
        String newClaimId();

        void ended(PendingRelease release);
    }

    private static final int OVER = 0;
    /** Nanoseconds before the second try; it doubles. */
    private static final long SHORTEST_PAUSE = 50_000_000;

    private static final long LONGEST_PAUSE = 1_000_000_000;

    private final Owner owner;
    private final Services services;
    public final Claim claim;
    private final long until;
    /** Until when the lock stays taken, or {@link Timing#NEVER}. */
    private final long keptUntil;
    /** The claim that has the lock meanwhile; none before the store was asked to keep it. */
    private @Nullable Claim kept;

    private @Nullable Outcome outcome;
    private int attempt;
    /** By the clock of silence. */
    private long askedAt;

    private boolean asking;
    /** It waits for its turn to leave. */
    private boolean atGate;

    private boolean again;
    private boolean over;

    public PendingRelease(Owner owner, Claim claim, long keptUntil, @Nullable Outcome outcome) {
        this.owner = owner;
        this.services = owner.services();
        this.claim = claim;
        this.until = services.timing.now() + claim.lease().toNanos();
        this.keptUntil = keptUntil;
        this.outcome = outcome;
    }

    /** Whether somebody waits for how the first try goes; asked before that. */
    public boolean isAwaited() {
        return outcome != null;
    }

    public void ask() {
        if (owner.isOver()) {
            abandon();
            return;
        }
        if (services.gate.isOpen()) {
            admitted();
            return;
        }
        synchronized (this) {
            if (over) {
                return;
            }
            atGate = true;
            askedAt = services.timing.silentNow();
        }
        services.gate.addRelease(this);
    }

    @Override
    public void admitted() {
        int number = left();
        if (number != OVER) {
            services.gate.left(claim);
            services.gate.ask(new Try(number));
        }
    }

    @Override
    public void refuse(Throwable failure) {
        failed(left(), failure);
    }

    private synchronized int left() {
        atGate = false;
        if (over) {
            return OVER;
        }
        asking = true;
        askedAt = services.timing.silentNow();
        return ++attempt;
    }

    /**
     * Asks once more when this has ended, because an old claim may still have been on its way; a second question beside
     * the first could take its answer away. False if this has ended already.
     */
    public synchronized boolean again() {
        again = !over;
        return again;
    }

    /**
     * Called by the engine's tick: silence is a failure, but a question that is only late is not asked again for that.
     */
    public void tick(long now) {
        int number;
        @Nullable Outcome told = null;
        synchronized (this) {
            long waited = services.timing.silentNow() - askedAt;
            boolean isLate = asking && waited >= services.timing.commandTimeout;
            if (isLate) {
                told = outcome;
                outcome = null;
            }
            number = isLate && (waited >= services.gate.patience() || now - until >= 0) ? attempt : OVER;
        }
        if (told != null) {
            told.unanswered(services.gate.silence(claim.key()));
        }
        if (number != OVER) {
            failed(number, services.gate.silence(claim.key()));
        }
        tickAtGate(now);
    }

    /** It stays there until the lease is over, but the caller gets the failure now. */
    private void tickAtGate(long now) {
        @Nullable Outcome told;
        Throwable standstill;
        boolean last;
        synchronized (this) {
            standstill = atGate ? services.gate.standstill(askedAt, services.timing.commandTimeout) : null;
            if (standstill == null) {
                return;
            }
            told = outcome;
            outcome = null;
            last = now - until >= 0;
            over = last;
            atGate = !last;
        }
        if (last) {
            services.gate.remove(this);
            finish();
        }
        if (told != null) {
            told.unanswered(standstill);
        }
    }

    /** Called when the store is closed: what was not confirmed will not be. */
    public void abandon() {
        Outcome told = settle();
        if (told != null) {
            told.unanswered(new IllegalStateException("the client was closed before the store answered"));
        }
    }

    private void confirmed(Boolean owned) {
        if (!owned && keptUntil != Timing.NEVER) { // it may have a place in the queue that no flow keeps
            again();
        }
        Outcome told = settle();
        if (told != null && owned) {
            told.released();
        } else if (told != null) {
            told.wasOver();
        }
    }

    private @Nullable Outcome settle() {
        Outcome told;
        synchronized (this) {
            over = true;
            asking = false;
            told = outcome;
            outcome = null;
        }
        finish();
        return told;
    }

    private void failed(int number, Throwable failure) {
        @Nullable Outcome told;
        long pause;
        boolean last;
        synchronized (this) {
            if (over || number != attempt || !asking) {
                return;
            }
            asking = false;
            told = outcome;
            outcome = null;
            pause = Math.min(SHORTEST_PAUSE << Math.min(attempt - 1, 10), LONGEST_PAUSE);
            last = services.timing.now() + pause - until >= 0;
            over = last;
        }
        if (last) {
            finish();
        } else {
            services.timing.after(pause, this::ask);
        }
        if (told != null) {
            told.unanswered(failure);
        }
    }

    /** One of the questions. */
    private final class Try extends StoreAnswer<Boolean> {

        private final int number;

        Try(int number) {
            this.number = number;
        }

        @Override
        public Gate gate() {
            return services.gate;
        }

        @Override
        public Mono<Boolean> question() {
            long rest = rest();
            return rest > 0 ? services.backend.keep(claim, kept(rest)) : services.backend.release(claim);
        }

        @Override
        public void answered(Boolean owned) {
            confirmed(owned);
        }

        @Override
        public void failed(Throwable failure) {
            PendingRelease.this.failed(number, failure);
        }
    }

    /** For how long the lock is still to stay taken. */
    private long rest() {
        return keptUntil == Timing.NEVER ? 0 : keptUntil - services.timing.now();
    }

    /** The store may count faster than we do. */
    private synchronized Claim kept(long rest) {
        Duration lease = Duration.ofNanos(rest + services.timing.margin(rest));
        String id = kept == null ? owner.newClaimId() : kept.id();
        kept = new Claim(claim.key(), id, claim.owner(), lease, Claim.Mode.TRY, Claim.Keeping.ONCE, claim.share());
        return kept;
    }

    private void finish() {
        boolean repeated;
        Claim left;
        synchronized (this) {
            repeated = again;
            again = false;
            left = kept;
        }
        long rest = rest();
        if (left != null && rest <= claim.lease().toNanos()) { // waiters that ask rarely do not know of an end so soon
            services.timing.after(rest, () -> services.claims.withdraw(left));
        }
        if (repeated) {
            services.claims.withdraw(claim);
        }
        owner.ended(this);
    }
}
