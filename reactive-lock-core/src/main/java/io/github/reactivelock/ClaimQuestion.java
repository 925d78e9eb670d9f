package io.github.reactivelock;

import io.github.reactivelock.spi.ClaimResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A question of an {@link Attempt} that has left, and the event that its answer becomes. */
final class ClaimQuestion extends StoreAnswer<ClaimResult> implements Runnable {

    private final Attempt attempt;
    private final int number;
    private final long sentAt;
    private @Nullable ClaimResult answer;
    private @Nullable Throwable failure;

    ClaimQuestion(Attempt attempt, int number, long sentAt) {
        this.attempt = attempt;
        this.number = number;
        this.sentAt = sentAt;
    }

    @Override
    Gate gate() {
        return attempt.services.gate;
    }

    @Override
    Mono<ClaimResult> question() {
        return attempt.services.backend.claim(attempt.claim);
    }

    @Override
    void answered(ClaimResult result) {
        answer = result;
        attempt.owner.post(this);
    }

    @Override
    void failed(Throwable reason) {
        failure = reason;
        attempt.owner.post(this);
    }

    /** Inside the key's events. */
    @Override
    public void run() {
        if (answer != null) {
            attempt.answered(number, sentAt, answer);
        } else if (failure != null) {
            attempt.refused(number, failure);
        }
    }
}
