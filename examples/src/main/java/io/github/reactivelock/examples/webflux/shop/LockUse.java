package io.github.reactivelock.examples.webflux.shop;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A wait for a lock, and the hold that followed. Immutable. Times are microseconds of the wall clock, which the
 * instances on one machine share.
 *
 * @param number counted from 1 in each instance
 * @param key the lock's key
 * @param state what has become of it
 * @param token the fencing token; 0 before there is one
 * @param asked when the wait began
 * @param from when the hold began; 0 before
 * @param to when the work under it ended; 0 before
 * @param note why it was lost; empty otherwise
 */
public record LockUse(int number, String key, State state, long token, long asked, long from, long to, String note) {

    /** What has become of a wait. */
    public enum State {
        /** It goes on. */
        WAITS,
        /** It got the lock. */
        HOLDS,
        /** It has the lock, and may soon lose it. */
        AT_RISK,
        /** It had the lock. */
        RELEASED,
        /** The lock ended before the work did. */
        LOST
    }

    static LockUse waits(int number, String key) {
        return new LockUse(number, key, State.WAITS, 0, now(), 0, 0, "");
    }

    /**
     * Whether it has the lock.
     *
     * @return also while that is at risk
     */
    public boolean isHeld() {
        return state == State.HOLDS || state == State.AT_RISK;
    }

    LockUse holds(long fencingToken) {
        return new LockUse(number, key, State.HOLDS, fencingToken, asked, now(), 0, "");
    }

    LockUse in(State now) {
        return new LockUse(number, key, now, token, asked, from, to, note);
    }

    /** The first end of its work is the one that counts: cancelled work may end twice. */
    LockUse workEnded() {
        return new LockUse(number, key, state, token, asked, from, to == 0 ? now() : to, note);
    }

    LockUse lost(String why) {
        return new LockUse(number, key, State.LOST, token, asked, from, to == 0 ? now() : to, why);
    }

    /**
     * The time of its {@code asked}, {@code from} and {@code to}.
     *
     * @return the wall clock, in microseconds
     */
    public static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
