package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.engine.claim.ClaimOwner;
import org.jspecify.annotations.NullMarked;

/** What the simulation sees of a cohort, and nothing else does. */
@NullMarked
public final class CohortInside {

    private CohortInside() {}

    /**
     * Whether its claim is one of those that the flows of a line of permits have together.
     *
     * @param owner of a grant
     * @return false if it is the claim of one flow, or of those that want the whole lock
     */
    public static boolean isOfAPermitQueue(ClaimOwner owner) {
        return owner instanceof PermitQueue.Lane;
    }
}
