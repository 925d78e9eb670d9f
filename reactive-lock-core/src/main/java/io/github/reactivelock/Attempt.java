package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;

/** A claim on its way to a grant: what was asked when, and what that proves. Touched only inside its cohort's drain. */
final class Attempt {

    final Claim claim;
    /** When the last question was sent. */
    long askedAt;
    /** Whether an answer to it is awaited. */
    boolean asking;
    /**
     * The latest moment at which the claim is known not to have been granted yet: when a question was sent that the
     * store answered with "queued", or before that, when the first question was sent. A pushed grant is younger.
     */
    long ungrantedAt;
    /** When to ask again if no signal came. */
    long askAgainAt;
    /** Pushes may have been missed since the question was sent, so its answer does not suffice. */
    boolean askAgain;

    Attempt(Claim claim, long now) {
        this.claim = claim;
        this.ungrantedAt = now;
    }
}
