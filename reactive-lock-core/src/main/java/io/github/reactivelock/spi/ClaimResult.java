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
            if (fencingToken <= 0 || FencingTokens.isPassed(fencingToken)) {
                throw new IllegalArgumentException("not a fencing token of a store: " + fencingToken);
            }
        }
    }

    /**
     * Another claim owns the lock and this one waits for it. So does one of {@link Claim.Mode#TRY} that has called the
     * owner back, where the store {@linkplain LockBackend#supportsRecall can}; it is released soon if nothing comes of
     * it.
     *
     * @param recheckAfter when to ask again if no signal came, usually what is left of the owner's lease; of the lease
     *     that ends first where several share the lock
     * @param behind the id of the claim that is served directly before this one, the owner's included, or null if that
     *     is not known, or if one of the two has another share than the other. Said when a claim is queued, it stays
     *     true until one of the two leaves: a queue grows at its end only
     * @param newestToken a fencing token, found in the same atomic step: every grant of this claim that begins after
     *     this answer has a higher one, so that a push or an answer with this one or a lower one speaks of a grant that
     *     is over. Where grants are counted, the last token given for the key. Zero if nothing is known
     */
    record Queued(Duration recheckAfter, @Nullable String behind, long newestToken) implements ClaimResult {
        /**
         * Refuses a token whose low bits are taken.
         *
         * @param recheckAfter when to ask again if no signal came
         * @param behind the claim served directly before this one, or null
         * @param newestToken later grants of this claim are above it, or zero
         */
        public Queued {
            if (newestToken < 0 || FencingTokens.isPassed(newestToken)) {
                throw new IllegalArgumentException("not a fencing token of a store: " + newestToken);
            }
        }

        /**
         * A place of which the store says nothing else.
         *
         * @param recheckAfter when to ask again if no signal came
         */
        public Queued(Duration recheckAfter) {
            this(recheckAfter, null, 0);
        }
    }

    /** Another claim owns the lock or is before this one, and this one did not want to wait. */
    record Busy() implements ClaimResult {}
}
