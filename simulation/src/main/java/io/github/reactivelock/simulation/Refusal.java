package io.github.reactivelock.simulation;

import java.io.Serial;

/** What a store that refuses a claim says to it, and to no other. */
final class Refusal extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1;

    final String claim;

    Refusal(String claim) {
        super("the store refuses claim " + claim);
        this.claim = claim;
    }

    /** Whether a server has no memory for what it was asked. */
    static boolean isForWantOfMemory(Throwable failure) {
        return String.valueOf(failure.getMessage()).contains("(OOM)");
    }
}
