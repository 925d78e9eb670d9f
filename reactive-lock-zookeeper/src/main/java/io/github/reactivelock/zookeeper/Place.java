package io.github.reactivelock.zookeeper;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The name of a claim's node below its lock: the claim's id, a colon, and the number that the server gave it. Numbers
 * grow by one with every claim on the lock, as signed integers that overflow, and are compared by difference.
 *
 * @param name the node's name
 * @param claimId the claim's id
 * @param number its place in line
 */
record Place(String name, String claimId, int number) {

    /** The place that a node stands for, or null if it is not one of ours. */
    static @Nullable Place of(String name) {
        int colon = name.lastIndexOf(':');
        if (colon <= 0) {
            return null;
        }
        try {
            return new Place(name, name.substring(0, colon), Integer.parseInt(name, colon + 1, name.length(), 10));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    boolean isBefore(Place other) {
        return number - other.number < 0;
    }

    /** Whoever owns the lock. */
    static @Nullable Place first(List<String> names) {
        Place first = null;
        for (String name : names) {
            Place place = of(name);
            if (place != null && (first == null || place.isBefore(first))) {
                first = place;
            }
        }
        return first;
    }
}
