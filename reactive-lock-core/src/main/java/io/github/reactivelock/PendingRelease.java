package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * The end of a claim at the store: asked for until the store confirms it, or until its lease must have run out by
 * itself. The first attempt's outcome is told to whoever waits for it. All methods run on whichever thread brings the
 * news; {@code synchronized} guards a few fields and nothing slower.
 */
final class PendingRelease implements Gate.Question {

    /** Hears once whether the claim owned the lock until now, or why the store did not say. */
    interface Outcome {
        void accept(boolean owned, @Nullable Throwable failure);
    }

    private static final int OVER = 0;

    private final Engine engine;
    final Claim claim;
    private final long until;
    private @Nullable Outcome outcome;
    private int attempt;
    private long askedAt;
    private boolean asking;
    /** It waits for its turn to leave. */
    private boolean inLine;

    private long backoff;
    private boolean again;
    private boolean over;

    PendingRelease(Engine engine, Claim claim, @Nullable Outcome outcome) {
        this.engine = engine;
        this.claim = claim;
        this.until = engine.timing.now() + claim.lease().toNanos();
        this.outcome = outcome;
        this.backoff = 50_000_000;
    }

    void ask() {
        if (engine.isOver()) {
            abandon();
            return;
        }
        if (engine.gate.isOpen()) {
            leave();
            return;
        }
        synchronized (this) {
            if (over) {
                return;
            }
            inLine = true;
            askedAt = engine.timing.now();
        }
        engine.gate.addRelease(this);
    }

    @Override
    public void leave() {
        int number = left();
        if (number != OVER) {
            engine.gate.left();
            engine.ask(
                    () -> engine.backend.release(claim), owned -> confirmed(owned), failure -> failed(number, failure));
        }
    }

    @Override
    public void refuse(Throwable failure) {
        failed(left(), failure);
    }

    private synchronized int left() {
        inLine = false;
        if (over) {
            return OVER;
        }
        asking = true;
        askedAt = engine.timing.now();
        return ++attempt;
    }

    /**
     * Asks once more when this has ended, because an old claim may still have been on its way; a second question beside
     * the first could take its answer away. False if this has ended already.
     */
    synchronized boolean again() {
        again = !over;
        return again;
    }

    /** Called by the engine's tick: silence is a failure. */
    void tick(long now) {
        int number;
        synchronized (this) {
            number = asking && now - askedAt >= engine.timing.commandTimeout ? attempt : OVER;
        }
        if (number != OVER) {
            failed(number, engine.timing.silence());
        }
        tickInLine(now);
    }

    /** It stays there until the lease is over, but the caller hears of it. */
    private void tickInLine(long now) {
        @Nullable Outcome told;
        Throwable standstill;
        boolean last;
        synchronized (this) {
            standstill = inLine ? engine.gate.standstill(askedAt, engine.timing.commandTimeout) : null;
            if (standstill == null) {
                return;
            }
            told = outcome;
            outcome = null;
            last = now - until >= 0;
            over = last;
            inLine = !last;
        }
        if (last) {
            engine.gate.remove(this);
            end();
        }
        if (told != null) {
            told.accept(false, standstill);
        }
    }

    /** Called when the store is closed: what was not confirmed will not be. */
    void abandon() {
        settle(false, new IllegalStateException("the client was closed before the store answered"));
    }

    private void confirmed(boolean owned) {
        settle(owned, null);
    }

    private void settle(boolean owned, @Nullable Throwable failure) {
        @Nullable Outcome told;
        synchronized (this) {
            over = true;
            asking = false;
            told = outcome;
            outcome = null;
        }
        end();
        if (told != null) {
            told.accept(owned, failure);
        }
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
            pause = backoff;
            backoff = Math.min(backoff * 2, 1_000_000_000);
            last = engine.timing.now() + pause - until >= 0;
            over = last;
        }
        if (last) {
            end();
        } else {
            Disposable unused = engine.timing.after(pause, this::ask);
        }
        if (told != null) {
            told.accept(false, failure);
        }
    }

    private void end() {
        boolean repeated;
        synchronized (this) {
            repeated = again;
            again = false;
        }
        if (repeated) {
            engine.withdraw(claim, null);
        }
        engine.ended(this);
    }
}
