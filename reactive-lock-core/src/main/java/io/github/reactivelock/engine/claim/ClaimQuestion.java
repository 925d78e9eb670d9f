package io.github.reactivelock.engine.claim;

import io.github.reactivelock.engine.store.Gate;
import io.github.reactivelock.engine.store.StoreAnswer;
import io.github.reactivelock.engine.store.Window;
import io.github.reactivelock.spi.ClaimResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A question of an {@link Attempt} that has left, and the event that its answer becomes. */
final class ClaimQuestion extends StoreAnswer<ClaimResult> implements Runnable, Window.GivenUp {

    private final Attempt attempt;
    final int number;
    final long sentAt;
    /**
     * By the clock of silence: when it left; where it stood in a line of the backend, when that was last seen, or first
     * seen to be over.
     */
    private volatile long leftAt;
    /** It was given up in a line of the backend, so it is not seen when it leaves. */
    private boolean lostSight;

    /** In the window of the gate. */
    private boolean counted = true;
    /** Counted as one that stands in a line of the backend. */
    private boolean stands;

    private @Nullable ClaimResult answer;
    private @Nullable Throwable failure;

    ClaimQuestion(Attempt attempt, int number, long sentAt) {
        this.attempt = attempt;
        this.number = number;
        this.sentAt = sentAt;
        this.leftAt = attempt.services.timing.silentNow();
    }

    // ---- inside the key's events

    /** It stands in a line of the backend. One that has left since the last look may have left just now. */
    boolean isHeldBack(long now) {
        boolean is = attempt.services.backend.holdsBack(attempt.claim);
        if (is || stands) {
            leftAt = now;
        }
        if (is) {
            stand();
        } else {
            standNoMore();
        }
        return is;
    }

    private void stand() {
        if (counted && !stands) {
            stands = true;
            gate().window.stands();
            gate().post(gate()::goOnIfWanted);
        }
    }

    private void standNoMore() {
        if (stands) {
            stands = false;
            gate().window.standsNoMore();
        }
    }

    /** True if it has been unanswered for so long that it is given up. */
    boolean isLate(long now, long bearable) {
        boolean is = now - leftAt >= bearable;
        if (is && isTimeOver(now)) { // a short lease gives up sooner, which tells nothing
            gate().window.late(leftAt);
        }
        return is;
    }

    /**
     * Its answer is not waited for any more. A store that is late still has to deal with it, so it counts for its time.
     */
    void giveUp() {
        long now = attempt.services.timing.silentNow();
        lostSight = isHeldBack(now);
        if (gate().window.isNarrow() && !isTimeOver(now)) {
            gate().window.givenUp(this);
        } else {
            settle();
        }
    }

    private boolean isTimeOver(long now) {
        return now - leftAt >= attempt.services.timing.commandTimeout;
    }

    @Override
    public boolean isOver(long now) {
        boolean is = isTimeOver(now);
        if (is) {
            attempt.owner.post(this::settle);
        }
        return is;
    }

    private void settle() {
        if (counted) {
            counted = false;
            standNoMore();
            gate().settled();
        }
    }

    @Override
    public void run() {
        if (answer != null && !lostSight) { // one that has left since the last look may have left just now
            gate().window.answered(stands ? attempt.services.timing.silentNow() : leftAt);
        } else if (failure != null && !stands) {
            gate().window.refused(leftAt);
        }
        settle();
        if (answer != null) {
            attempt.answered(this, answer);
        } else if (failure != null) {
            attempt.refused(number, failure);
        }
    }

    // ---- on any thread

    @Override
    public Gate gate() {
        return attempt.services.gate;
    }

    @Override
    public Mono<ClaimResult> question() {
        return attempt.services.backend.claim(attempt.claim);
    }

    @Override
    public void answered(ClaimResult result) {
        answer = result;
        attempt.owner.post(this);
        gate().opening.answered();
    }

    @Override
    public void failed(Throwable reason) {
        failure = reason;
        attempt.owner.post(this);
        gate().opening.answered();
    }
}
