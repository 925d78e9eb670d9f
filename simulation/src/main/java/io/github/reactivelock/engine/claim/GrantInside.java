package io.github.reactivelock.engine.claim;

import org.jspecify.annotations.NullMarked;

/** What the simulation sees of a grant, and nothing else does. */
@NullMarked
public final class GrantInside {

    private GrantInside() {}

    /**
     * Whose it is.
     *
     * @param grant of a hold
     * @return its cohort
     */
    public static ClaimOwner owner(Grant grant) {
        return grant.owner;
    }
}
