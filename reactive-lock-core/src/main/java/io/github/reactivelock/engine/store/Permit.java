package io.github.reactivelock.engine.store;

import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.spi.ClaimResult;

/**
 * A claim that has left, and its place in the {@link Window}. It counts there until it is settled: by its answer, or,
 * if it is not waited for any more, when a store that is late has had its time for it. One that is held back by the
 * backend takes no turn from others, as the store has not got it; its time begins anew with each look that finds it
 * there, because it may leave right after that. Touched only inside its key's events, but for its time.
 *
 * <pre>
 * place     leaves on
 * COUNTED   a look that finds it held back by the backend -> HELD_BACK
 * HELD_BACK   a look that does not -> COUNTED
 * either    its answer or refusal; given up, at once or when its time is over -> SETTLED
 * </pre>
 */
public abstract class Permit extends StoreAnswer<ClaimResult> {

    private enum Place {
        COUNTED,
        HELD_BACK,
        SETTLED
    }

    private Place place = Place.COUNTED;
    /** By the clock of silence: when it left, or when the last look found it held back by the backend. */
    private volatile long leftAt;
    /** It was given up while the backend held it back, so it is not seen when it leaves. */
    private boolean lostSight;

    /** It leaves now, by the clock of silence, and the gate has counted it. */
    protected Permit(long now) {
        this.leftAt = now;
    }

    /** Whether the backend holds it back. */
    protected abstract boolean isHeldBack();

    /** Runs inside an event of its key. */
    protected abstract void post(Mailbox.Event event);

    /** Looks whether the backend holds it back. */
    public final boolean isHeldBack(long now) {
        boolean is = isHeldBack();
        if (is || place == Place.HELD_BACK) { // one that has left since the last look may have left just now
            leftAt = now;
        }
        if (is && place == Place.COUNTED) {
            place = Place.HELD_BACK;
            gate().window.stands();
            gate().post(gate()::goOnIfWanted);
        } else if (!is && place == Place.HELD_BACK) {
            place = Place.COUNTED;
            gate().window.standsNoMore();
        }
        return is;
    }

    /** True if it has been unanswered for so long that it is given up. */
    public final boolean isLate(long now, long bearable) {
        boolean is = now - leftAt >= bearable;
        if (is && isTimeOver(now)) { // a short lease gives up sooner, which tells nothing
            gate().window.late(leftAt);
        }
        return is;
    }

    /**
     * Its answer is not waited for any more. A store that is late still has to deal with it, so it counts for its time.
     */
    public final void giveUp() {
        long now = gate().timing.silentNow();
        lostSight = isHeldBack(now);
        if (gate().window.isNarrow() && !isTimeOver(now)) {
            gate().window.givenUp(this);
        } else {
            settle();
        }
    }

    /** True if its time is over, and then it is settled. On any thread. */
    final boolean isOver(long now) {
        boolean is = isTimeOver(now);
        if (is) {
            post(this::settle);
        }
        return is;
    }

    private boolean isTimeOver(long now) {
        return now - leftAt >= gate().timing.commandTimeout;
    }

    /** The store has answered it, whether a flow still waits or not. */
    protected final void settleAnswered() {
        if (!lostSight) {
            gate().window.answered(place == Place.HELD_BACK ? gate().timing.silentNow() : leftAt);
        }
        settle();
    }

    /** The store has refused it, or could not be asked. */
    protected final void settleRefused() {
        if (place != Place.HELD_BACK) {
            gate().window.refused(leftAt);
        }
        settle();
    }

    private void settle() {
        if (place == Place.HELD_BACK) {
            gate().window.standsNoMore();
        }
        if (place != Place.SETTLED) {
            place = Place.SETTLED;
            gate().settled();
        }
    }
}
