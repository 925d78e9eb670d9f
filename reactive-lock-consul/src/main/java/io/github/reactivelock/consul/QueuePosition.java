package io.github.reactivelock.consul;

import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its lock's line.
 *
 * @param own the claim's key, or null if it has none
 * @param isIn whether the claim holds the lock, or its share of it
 * @param predecessor the key just before it, or null if it is the first
 * @param lastWhole the last key before it of a claim for the whole, or null
 */
record QueuePosition(
        @Nullable Entry own,
        boolean isIn,
        @Nullable Entry predecessor,
        @Nullable Entry lastWhole) {

    static QueuePosition of(String claimId, Line line) {
        Entry predecessor = null;
        Entry lastWhole = null;
        for (int i = 0; i < line.places().size(); i++) {
            Entry place = line.places().get(i);
            if (place.claimId().equals(claimId)) {
                return new QueuePosition(place, i < line.holders(), predecessor, lastWhole);
            }
            predecessor = place;
            lastWhole = place.share().isWhole() ? place : lastWhole;
        }
        return new QueuePosition(null, false, predecessor, lastWhole);
    }

    /** Whether the claim stands with this key as it was made, and not with one that it has given up. */
    boolean isOf(Entry known) {
        return own != null && own.isSameAs(known);
    }

    /** The one key whose end such a claim waits for; null if it waits for units, so that any end may let it in. */
    @Nullable
    Entry obstacle() {
        return own != null && own.share().isWhole() ? predecessor : lastWhole;
    }

    /** The claim that is served directly before, where that is said. */
    @Nullable
    String behind() {
        return own != null
                        && predecessor != null
                        && own.share().isWhole()
                        && predecessor.share().isWhole()
                ? predecessor.claimId()
                : null;
    }
}
