package io.github.reactivelock.spi.queue;

import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.function.Function;

/**
 * The claims of one lock in the order in which they came, for a store that decides by that order alone who is in. None
 * overtakes: each is in that fits beside all those before it, up to the first that does not. As claims come at the end
 * only, one that is in stays in for as long as it is there.
 *
 * @param <T> what the store keeps of a claim
 * @param claims first come first
 * @param in how many of them are in
 * @param units how many units these take
 */
public record LockQueue<T>(List<T> claims, int in, long units) {

    /**
     * Takes an unmodifiable copy.
     *
     * @param claims first come first
     * @param in how many of them are in
     * @param units how many units these take
     */
    public LockQueue {
        claims = List.copyOf(claims);
    }

    /**
     * Counts who is in.
     *
     * @param <T> what the store keeps of a claim
     * @param claims first come first
     * @param share how much a claim takes
     * @return the queue
     */
    public static <T> LockQueue<T> of(List<T> claims, Function<T, Share> share) {
        int in = 0;
        long units = 0;
        for (T claim : claims) {
            Share own = share.apply(claim);
            if (!own.fitsBeside(units)) {
                break;
            }
            in++;
            units += own.units();
        }
        return new LockQueue<>(claims, in, units);
    }

    /** {@return those that are in, first come first} */
    public List<T> holders() {
        return claims.subList(0, in);
    }

    /** {@return the others, first come first} */
    public List<T> waiting() {
        return claims.subList(in, claims.size());
    }

    /**
     * Whether a claim that came now would be in.
     *
     * @param share how much it takes
     * @return false if others wait, or if it does not fit beside those that are in
     */
    public boolean admits(Share share) {
        return in == claims.size() && share.fitsBeside(units);
    }
}
