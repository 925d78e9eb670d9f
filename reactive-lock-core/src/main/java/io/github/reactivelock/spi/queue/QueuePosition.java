package io.github.reactivelock.spi.queue;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its lock's queue.
 *
 * @param own the claim's place, or null if it has none
 * @param isIn whether the claim holds the lock, or its share of it
 * @param predecessor the place just before it, or null if it is the first
 * @param lastWhole the last place before it of a claim for the whole, or null
 * @param surplus further places of the same claim
 * @param <P> a place in the queue
 */
public record QueuePosition<P extends Place>(
        @Nullable P own,
        boolean isIn,
        @Nullable P predecessor,
        @Nullable P lastWhole,
        List<P> surplus) {

    /**
     * Whether the claim stands with an entry that is known, and not with one that it has given up.
     *
     * @param entry of the same claim
     * @return false if the claim has no place
     */
    public boolean isOf(ClaimEntry<P> entry) {
        return own != null && entry.isAt(own);
    }

    /**
     * The one place whose end such a claim waits for.
     *
     * @return null if it waits for units, so that any end may let it in
     */
    public @Nullable P obstacle() {
        return own != null && own.share().isWhole() ? predecessor : lastWhole;
    }

    /**
     * The claim that is served directly before, where that is said ({@code ClaimResult.Queued}).
     *
     * @return its id, or null
     */
    public @Nullable String behind() {
        return own != null
                        && predecessor != null
                        && own.share().isWhole()
                        && predecessor.share().isWhole()
                ? predecessor.claimId()
                : null;
    }
}
