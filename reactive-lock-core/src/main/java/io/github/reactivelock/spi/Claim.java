package io.github.reactivelock.spi;

import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.Objects;

/**
 * One request for one lock, by which the store knows its author again. The id is made afresh for every attempt to get
 * the lock and kept for all repetitions of that attempt, so that an answer that was lost never leads to a second hold.
 * It begins with 128 random bits of the client, so it cannot be guessed.
 *
 * @param key the lock's key, already checked by the engine
 * @param id at most 40 characters of URL-safe Base64 and dots; a quorum asks a node by one with a tilde and a number
 *     behind it
 * @param owner a name for people, shown by {@link LockInfo}; it decides nothing
 * @param lease how long the store keeps the lock, or the place in the queue, without hearing again
 * @param mode whether to wait in the queue
 * @param keeping whether the hold will be renewed, and may be kept while no flow needs it
 * @param share how much of the lock it wants
 */
public record Claim(String key, String id, String owner, Duration lease, Mode mode, Keeping keeping, Share share) {

    /** What the store does with a claim it cannot grant at once. */
    public enum Mode {
        /** Puts it into the lock's queue. */
        QUEUE,
        /** Forgets it. */
        TRY
    }

    /** How long a hold is meant to last, for stores that can renew many at once only by giving them one lease. */
    public enum Keeping {
        /** It is renewed until it is released, so it may share its lease with others that are. */
        RENEWED,
        /** It ends with its lease unless renewed by name, so no other claim's renewal may prolong it. */
        ONCE,
        /**
         * It is renewed as {@link #RENEWED}, and its client may keep the lock while no flow needs it. So it asks for
         * {@link Signal.Recall} as soon as another claim waits or is refused; only where
         * {@link LockBackend#supportsRecall} says so.
         */
        RECALLABLE
    }

    /**
     * A claim whose hold will be renewed.
     *
     * @param key the lock's key
     * @param id the claim's id
     * @param owner a name for people
     * @param lease must be positive
     * @param mode whether to wait
     */
    public Claim(String key, String id, String owner, Duration lease, Mode mode) {
        this(key, id, owner, lease, mode, Keeping.RENEWED);
    }

    /**
     * A claim for the whole of a lock.
     *
     * @param key the lock's key
     * @param id the claim's id
     * @param owner a name for people
     * @param lease must be positive
     * @param mode whether to wait
     * @param keeping whether the hold will be renewed
     */
    public Claim(String key, String id, String owner, Duration lease, Mode mode, Keeping keeping) {
        this(key, id, owner, lease, mode, keeping, Share.WHOLE);
    }

    /**
     * A claim whose hold may be called back, which needs one that is renewed, or one as its keeping says.
     *
     * @param key the lock's key
     * @param id the claim's id
     * @param owner a name for people
     * @param lease must be positive
     * @param mode whether to wait
     * @param keeping whether the hold will be renewed, where it is not recallable
     * @param share how much of the lock it wants
     * @param recallable whether it is {@link Keeping#RECALLABLE}
     */
    public Claim(
            String key,
            String id,
            String owner,
            Duration lease,
            Mode mode,
            Keeping keeping,
            Share share,
            boolean recallable) {
        this(key, id, owner, lease, mode, recallable ? Keeping.RECALLABLE : keeping, share);
    }

    /**
     * Refuses missing parts and a lease that is not positive.
     *
     * @param key the lock's key
     * @param id the claim's id
     * @param owner a name for people
     * @param lease must be positive
     * @param mode whether to wait
     * @param keeping whether the hold will be renewed
     * @param share how much of the lock it wants
     */
    public Claim {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(keeping, "keeping");
        Objects.requireNonNull(share, "share");
        if (lease.isNegative() || lease.isZero()) {
            throw new IllegalArgumentException("lease of claim on '" + key + "' must be positive but is " + lease);
        }
    }

    /**
     * Whether its client may keep the lock while no flow needs it.
     *
     * @return true if it is to be told when another claim waits or is refused
     */
    public boolean recallable() {
        return keeping == Keeping.RECALLABLE;
    }
}
