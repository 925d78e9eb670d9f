package io.github.reactivelock.spi;

import io.github.reactivelock.state.LockInfo;
import java.util.List;

/**
 * A part of a listing.
 *
 * @param locks held locks, in any order; may be empty though more follow
 * @param next what to ask for next, in the store's own words; empty if nothing is left
 */
public record LockPage(List<LockInfo.Held> locks, String next) {

    /**
     * Copies the list.
     *
     * @param locks held locks
     * @param next what to ask for next
     */
    public LockPage {
        locks = List.copyOf(locks);
    }
}
