package io.github.reactivelock.state;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A lock as the store shows it at one moment. What a store does not know is null or left out, and never guessed. */
public sealed interface LockInfo {

    /**
     * The lock's key.
     *
     * @return the key as the user wrote it
     */
    String key();

    /** {@return whether a claim owns the lock} */
    default boolean isHeld() {
        return this instanceof Held;
    }

    /** {@return whether no claim owns the lock} */
    default boolean isFree() {
        return !isHeld();
    }

    /**
     * Whether a claim of that name owns the lock.
     *
     * @param owner as {@link Held#owner()} shows it
     * @return false if the lock is free or another's, or if so many share it that the claim is not among those shown
     */
    default boolean isHeldBy(String owner) {
        return this instanceof Held held
                && (held.owner().equals(owner)
                        || (held.shares() != null
                                && held.shares().first().stream()
                                        .anyMatch(holder -> holder.owner().equals(owner))));
    }

    /** {@return the hold, or empty if the lock is free} */
    default Optional<Held> held() {
        return this instanceof Held held ? Optional.of(held) : Optional.empty();
    }

    /**
     * The lock is free.
     *
     * @param key the lock's key
     */
    record Free(String key) implements LockInfo {}

    /**
     * A claim owns the lock, or several share it. Hand-overs inside the owner's process are not visible here:
     * {@code owner}, {@code fencingToken}, {@code remaining} and {@code age} are those of the store's grant, and of the
     * newest one where several are in force.
     *
     * @param key the lock's key
     * @param owner the name the claim gave itself
     * @param fencingToken the token of the grant
     * @param remaining what is left of the lease by the store's clock
     * @param waiters claims in the store's queue; a process that passes the lock on among its own flows counts once
     * @param age for how long the grant has lasted by the store's clock; null if the store does not know
     * @param queue the first of those that wait, at most {@link #MOST_SHOWN}, in the order in which they are served;
     *     empty if the store does not show them
     * @param shares how the lock is shared; null if one claim owns the whole of it
     * @param recallable whether the owner's client may keep the lock while no flow needs it, and gives it back when
     *     another wants it; the store cannot know whether a flow is in
     */
    record Held(
            String key,
            String owner,
            long fencingToken,
            Duration remaining,
            long waiters,
            @Nullable Duration age,
            List<Waiting> queue,
            @Nullable Shares shares,
            boolean recallable)
            implements LockInfo {

        /** How many waiting claims are shown at most. */
        public static final int MOST_SHOWN = 100;

        /**
         * Copies the list of those that wait.
         *
         * @param key the lock's key
         * @param owner the name the claim gave itself
         * @param fencingToken the token of the grant
         * @param remaining what is left of the lease
         * @param waiters claims in the store's queue
         * @param age for how long the grant has lasted
         * @param queue the first of those that wait
         * @param shares how the lock is shared
         * @param recallable whether the owner's client may keep the lock while no flow needs it
         */
        public Held {
            queue = List.copyOf(queue);
        }

        /**
         * A hold that ends with its flow.
         *
         * @param key the lock's key
         * @param owner the name the claim gave itself
         * @param fencingToken the token of the grant
         * @param remaining what is left of the lease
         * @param waiters claims in the store's queue
         * @param age for how long the grant has lasted
         * @param queue the first of those that wait
         * @param shares how the lock is shared
         */
        public Held(
                String key,
                String owner,
                long fencingToken,
                Duration remaining,
                long waiters,
                @Nullable Duration age,
                List<Waiting> queue,
                @Nullable Shares shares) {
            this(key, owner, fencingToken, remaining, waiters, age, queue, shares, false);
        }

        /**
         * A hold of the whole.
         *
         * @param key the lock's key
         * @param owner the name the claim gave itself
         * @param fencingToken the token of the grant
         * @param remaining what is left of the lease
         * @param waiters claims in the store's queue
         * @param age for how long the grant has lasted
         * @param queue the first of those that wait
         */
        public Held(
                String key,
                String owner,
                long fencingToken,
                Duration remaining,
                long waiters,
                @Nullable Duration age,
                List<Waiting> queue) {
            this(key, owner, fencingToken, remaining, waiters, age, queue, null);
        }

        /**
         * A hold of a store that knows neither since when it lasts nor who waits.
         *
         * @param key the lock's key
         * @param owner the name the claim gave itself
         * @param fencingToken the token of the grant
         * @param remaining what is left of the lease
         * @param waiters claims in the store's queue
         */
        public Held(String key, String owner, long fencingToken, Duration remaining, long waiters) {
            this(key, owner, fencingToken, remaining, waiters, null, List.of());
        }
    }

    /**
     * The claims that share a lock.
     *
     * @param units how many units are in use
     * @param holders how many claims have them; flows of a process that share a claim count once
     * @param first the newest of them, at most {@link Held#MOST_SHOWN}, the newest first
     */
    record Shares(int units, long holders, List<Holder> first) {

        /**
         * Copies the list.
         *
         * @param units how many units are in use
         * @param holders how many claims have them
         * @param first the newest of them
         */
        public Shares {
            first = List.copyOf(first);
        }
    }

    /**
     * A claim that shares a lock. As of {@link Held}, hand-overs inside the owner's process are not visible: the name
     * is that of the flow for which the claim was made, and another flow of that process may have the share now, or
     * have it too.
     *
     * @param owner the name the claim gave itself
     * @param units how many units it has
     * @param fencingToken the token of its grant
     * @param remaining what is left of its lease by the store's clock
     */
    record Holder(String owner, int units, long fencingToken, Duration remaining) {}

    /**
     * A claim that waits.
     *
     * @param owner the name the claim gave itself
     * @param age for how long it has waited by the store's clock; null if the store does not know
     */
    record Waiting(String owner, @Nullable Duration age) {}
}
