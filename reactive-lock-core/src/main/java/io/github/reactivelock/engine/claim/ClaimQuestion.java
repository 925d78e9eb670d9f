package io.github.reactivelock.engine.claim;

import io.github.reactivelock.engine.store.Gate;
import io.github.reactivelock.engine.store.Permit;
import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.spi.ClaimResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A question of an {@link Attempt} that has left, and the event that its answer becomes. */
final class ClaimQuestion extends Permit implements Mailbox.Event {

    private final Attempt attempt;
    final int number;
    final long sentAt;

    /** The {@link ClaimResult}, or why there is none. */
    private @Nullable Object outcome;

    ClaimQuestion(Attempt attempt, int number, long sentAt) {
        super(attempt.services().timing.silentNow());
        this.attempt = attempt;
        this.number = number;
        this.sentAt = sentAt;
    }

    // ---- inside the key's events

    @Override
    protected boolean isHeldBack() {
        return attempt.services().backend.holdsBack(attempt.claim);
    }

    @Override
    public void handle() {
        if (outcome instanceof ClaimResult answer) {
            settleAnswered();
            attempt.answered(this, answer);
        } else if (outcome instanceof Throwable failure) {
            settleRefused();
            attempt.refused(number, failure);
        }
    }

    // ---- on any thread

    @Override
    protected void post(Mailbox.Event event) {
        attempt.owner.post(event);
    }

    @Override
    public Gate gate() {
        return attempt.services().gate;
    }

    @Override
    public Mono<ClaimResult> question() {
        return attempt.services().backend.claim(attempt.claim);
    }

    @Override
    public void answered(ClaimResult result) {
        outcome = result;
        post(this);
        gate().opening.answered();
    }

    @Override
    public void failed(Throwable reason) {
        outcome = outcome == null ? reason : outcome; // what was granted is not lost by what failed after it
        post(this);
        gate().opening.answered();
    }
}
