package io.github.reactivelock.spi;

/** Something a store pushes to a client. A signal is a hint to look at a claim; one that names no claim is ignored. */
public sealed interface Signal {

    /**
     * A waiting claim was served.
     *
     * @param claimId the claim's id
     * @param fencingToken as in {@link ClaimResult.Granted}
     */
    record Grant(String claimId, long fencingToken) implements Signal {}

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

    /** Pushes arrive from now on; earlier ones may have been missed. */
    record Reconnected() implements Signal {}
}
