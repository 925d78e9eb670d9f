package io.github.reactivelock.state;

/**
 * How much of a lock a claim wants: a number of units, and how many units may be in use while it has them. The claim
 * that is first in the queue is granted as soon as the units in use and its own fit its capacity, and none overtakes
 * it. So one rule makes an exclusive lock ({@link #WHOLE}), a read lock ({@link #ONE}) and a semaphore
 * ({@link #permits}).
 *
 * @param units how many units the claim takes, from 1 to its capacity
 * @param capacity how many units may be in use, its own included; {@code Integer.MAX_VALUE} only for one unit or for
 *     all
 */
public record Share(int units, int capacity) {

    private static final int ALL = Integer.MAX_VALUE;

    /** All of a lock: no other claim is in. */
    public static final Share WHOLE = new Share(ALL, ALL);
    /** One unit of a lock: any number of others may have one too, and none may have the whole. */
    public static final Share ONE = new Share(1, ALL);

    /**
     * Refuses what could never be granted, and units of an unlimited lock that are neither one nor all.
     *
     * @param units how many units the claim takes
     * @param capacity how many units may be in use
     */
    public Share {
        if (units < 1 || units > capacity) {
            throw new IllegalArgumentException("a share takes at least 1 and at most its capacity of units but is "
                    + units + " of " + capacity + "; ask for fewer units, or let more be in use");
        }
        if (capacity == ALL && units != 1 && units != ALL) {
            throw new IllegalArgumentException("a share of " + units + " units must name its capacity, less than " + ALL
                    + "; name how many units may be in use at once");
        }
    }

    /**
     * Some permits of a semaphore. The capacity belongs to the claim and is kept nowhere: while claims name different
     * ones, each is granted by its own.
     *
     * @param permits how many the claim takes, at least one
     * @param capacity how many may be in use at once, at least as many, and less than {@code Integer.MAX_VALUE}
     * @return the share
     */
    public static Share permits(int permits, int capacity) {
        if (capacity == ALL) {
            throw new IllegalArgumentException(
                    "the capacity of a semaphore must be less than " + ALL + "; for any number of holders use ONE");
        }
        return new Share(permits, capacity);
    }

    /** {@return whether no other claim is in} */
    public boolean isWhole() {
        return units == ALL;
    }

    /**
     * The rule of shares, {@code models/Shares.tla: Fits}: whether a claim for this share may be in beside others.
     *
     * @param used how many units these have; 2<sup>62</sup> at most
     * @return true if they and its own are no more than its capacity
     */
    public boolean fitsBeside(long used) {
        return used + units <= capacity;
    }

    /**
     * Whether who has this has all that another share promises: at least its units, among no more than its capacity.
     *
     * @param asked the other share
     * @return true if no claim need be made for it
     */
    public boolean covers(Share asked) {
        return isWhole() || (asked.units <= units && capacity <= asked.capacity);
    }

    /**
     * The share in words, to follow "held as".
     *
     * @return a clause without a full stop
     */
    public String text() {
        if (isWhole()) {
            return "the whole";
        }
        return capacity == ALL ? "one share among any number" : units + " of " + capacity + " permits";
    }
}
