package io.github.reactivelock.examples.webflux.shop;

/**
 * What became of an order's lock.
 *
 * @param what it was
 * @param item whose lock
 * @param order whose order
 * @param token the hold's fencing token as a text; empty before there is a hold
 * @param at when, in microseconds of the machine's clock, which all tills share
 * @param why the reason of a loss in words; empty otherwise
 */
public record Happening(What what, String item, int order, String token, long at, String why) {

    /** Kinds of them. */
    public enum What {
        /** The till is there. */
        OPEN,
        /** The order waits for its lock. */
        WAITING,
        /** It waits no longer, and did not get it. */
        LEFT,
        /** It has the lock. */
        ACQUIRED,
        /** It may soon lose it. */
        AT_RISK,
        /** It is safe again. */
        SAFE,
        /** It lost the lock. */
        LOST,
        /** It gave the lock back. */
        RELEASED
    }
}
