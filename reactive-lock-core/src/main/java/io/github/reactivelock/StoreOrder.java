package io.github.reactivelock;

import io.github.reactivelock.engine.hold.Hold;

import io.github.reactivelock.engine.claim.Attempt;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;

/**
 * What the order of the store's queue means for a {@link Cohort}: nothing, unless it is an {@link OrderedCohort}. All
 * of it is called inside its key's events.
 */
interface StoreOrder {

    /** Puts the first question of a claim to the store. */
    default void begin(Attempt attempt) {
        attempt.begin();
    }

    /** The store, or the cohort ahead, has served ours. */
    default void served() {}

    /** A grant of the store is used. */
    default void holds(Grant fresh) {}

    /** Who hears how the store took a release. */
    default PendingRelease.Outcome toBeTold(Hold released) {
        return released;
    }

    /** The claim of a grant was given back. */
    default void over(Grant grant) {}

    /** Our place in the queue is given up. */
    default void leavePlace() {}
}
