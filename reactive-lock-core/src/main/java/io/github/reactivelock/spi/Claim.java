package io.github.reactivelock.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * One request for one lock, by which the store knows its author again. The id is 128 random bits, made afresh for every
 * attempt to get the lock and kept for all repetitions of that attempt, so that an answer that was lost never leads to
 * a second hold.
 *
 * @param key the lock's key, already checked by the engine
 * @param id 22 characters of URL-safe Base64
 * @param owner a name for people, shown by {@link LockInfo}; it decides nothing
 * @param lease how long the store keeps the lock, or the place in the queue, without hearing again
 * @param mode whether to wait in the queue
 */
public record Claim(String key, String id, String owner, Duration lease, Mode mode) {

    /** What the store does with a claim it cannot grant at once. */
    public enum Mode {
        /** Puts it into the lock's queue. */
        QUEUE,
        /** Forgets it. */
        TRY
    }

    /** Refuses missing parts and a lease that is not positive. */
    public Claim {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(mode, "mode");
        if (lease.isNegative() || lease.isZero()) {
            throw new IllegalArgumentException("lease of claim on '" + key + "' must be positive but is " + lease);
        }
    }
}
