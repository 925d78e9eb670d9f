package io.github.reactivelock.spi;

/**
 * The two parts of a fencing token. Above is the number that a store gave to the grant, higher than that of every
 * earlier one of the key. Below, in the lowest {@link LockBackend#PASS_BITS} bits, is how often that grant was passed
 * on inside one process. A token is a {@code long} everywhere, so that it costs nothing and compares as a number; what
 * is computed with it, is computed here.
 */
public final class FencingTokens {

    /** The highest number that fits into a token. */
    public static final long HIGHEST_NUMBER = Long.MAX_VALUE >> LockBackend.PASS_BITS;

    /** How often a grant can be passed on. */
    public static final int MOST_PASSES = (1 << LockBackend.PASS_BITS) - 1;

    private FencingTokens() {}

    /**
     * The token of a grant that was not passed on.
     *
     * @param number what the store counts; at most {@link #HIGHEST_NUMBER}
     * @return the token
     */
    public static long of(long number) {
        return number << LockBackend.PASS_BITS;
    }

    /**
     * What the store counted.
     *
     * @param fencingToken with or without passes
     * @return the store's number
     */
    public static long number(long fencingToken) {
        return fencingToken >> LockBackend.PASS_BITS;
    }

    /**
     * The token that the grant had when the store gave it.
     *
     * @param fencingToken with or without passes
     * @return the same number, without passes
     */
    public static long granted(long fencingToken) {
        return of(number(fencingToken));
    }

    /**
     * Whether a grant was passed on since the store gave it.
     *
     * @param fencingToken of a hold
     * @return false if this is the very token that the store gave
     */
    public static boolean isPassed(long fencingToken) {
        return fencingToken != granted(fencingToken);
    }
}
