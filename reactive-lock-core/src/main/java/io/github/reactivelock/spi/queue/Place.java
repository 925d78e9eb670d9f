package io.github.reactivelock.spi.queue;

import io.github.reactivelock.state.Share;

/** A claim's place in the queue of a lock, as a store shows it to everyone. */
public interface Place {

    /**
     * Tells which place it is.
     *
     * @return what the store calls it, never empty; no two places of a queue have the same name
     */
    String name();

    /**
     * Tells whose place it is.
     *
     * @return the claim's id
     */
    String claimId();

    /**
     * Tells how much of the lock the claim takes.
     *
     * @return the whole where that is not known, so that no other is in beside it
     */
    Share share();

    /**
     * Tells whether the claim's client takes recalls ({@link io.github.reactivelock.spi.Claim#recallable}).
     *
     * @return false unless overridden
     */
    default boolean isRecallable() {
        return false;
    }
}
