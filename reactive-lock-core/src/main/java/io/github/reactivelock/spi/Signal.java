package io.github.reactivelock.spi;

import io.github.reactivelock.state.LossReason;
import java.time.Duration;

/** Something a store pushes to a client. A signal is a hint to look at a claim; one that names no claim is ignored. */
public sealed interface Signal {

    /**
     * A waiting claim was served.
     *
     * @param claimId the claim's id
     * @param fencingToken as in {@link ClaimResult.Granted}
     * @param longest what the store grants at most, should the claim have asked for a longer lease
     */
    record Grant(String claimId, long fencingToken, Duration longest) implements Signal {

        /**
         * A grant for the lease that the claim asked for.
         *
         * @param claimId the claim's id
         * @param fencingToken as in {@link ClaimResult.Granted}
         */
        public Grant(String claimId, long fencingToken) {
            this(claimId, fencingToken, Duration.ofSeconds(Long.MAX_VALUE));
        }
    }

    /**
     * Claims waiting for the key should ask again.
     *
     * @param key the lock's key
     */
    record Recheck(String key) implements Signal {}

    /**
     * One waiting claim should ask again, where a store knows which.
     *
     * @param claimId the claim's id
     */
    record RecheckClaim(String claimId) implements Signal {}

    /**
     * A held claim was probably lost; the engine asks the store before it believes it.
     *
     * @param claimId the claim's id
     * @param reason why, if the store confirms the loss
     */
    record Suspect(String claimId, LossReason reason) implements Signal {}

    /**
     * Another claim waits for a lock whose owner is {@linkplain Claim#recallable recallable}, or asked about it in
     * vain. It may come twice, late, or before the answer that granted the claim.
     *
     * @param claimId the owner's claim
     */
    record Recall(String claimId) implements Signal {}

    /** Pushes arrive from now on; earlier ones may have been missed. */
    record Reconnected() implements Signal {}
}
