package io.github.reactivelock.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The store's answer to a {@link Claim}. */
public sealed interface ClaimResult {

    /**
     * The claim owns the lock.
     *
     * @param fencingToken strictly higher than that of every earlier grant of the key; the low
     *     {@link LockBackend#PASS_BITS} bits are zero
     * @param lease what the store really granted, counted by the engine from when the question was sent
     */
    record Granted(long fencingToken, Duration lease) implements ClaimResult {
        /**
         * Refuses a token whose low bits are taken.
         *
         * @param fencingToken the store's token
         * @param lease the lease granted
         */
        public Granted {
            if (fencingToken <= 0 || (fencingToken & ((1L << LockBackend.PASS_BITS) - 1)) != 0) {
                throw new IllegalArgumentException("not a fencing token of a store: " + fencingToken);
            }
        }
    }

    /**
     * Another claim owns the lock and this one waits for it.
     *
     * @param recheckAfter when to ask again if no signal came, usually what is left of the owner's lease
     * @param behind the id of the claim that is served directly before this one, the owner's included, or null if that is
     *     not known. Said when a claim is queued, it stays true until one of the two leaves: a queue grows at its end only
     */
    record Queued(Duration recheckAfter, @Nullable String behind) implements ClaimResult {
        /**
         * A place of which the store does not say what is before it.
         *
         * @param recheckAfter when to ask again if no signal came
         */
        public Queued(Duration recheckAfter) {
            this(recheckAfter, null);
        }
    }

    /** Another claim owns the lock or is before this one, and this one did not want to wait. */
    record Busy() implements ClaimResult {}
}
