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
record SequenceNode(String name, String claimId, int number) {

    /** The place that a node stands for, or null if it is not one of ours. */
    static @Nullable SequenceNode of(String name) {
        int colon = name.lastIndexOf(':');
        if (colon <= 0) {
            return null;
        }
        try {
            return new SequenceNode(
                    name, name.substring(0, colon), Integer.parseInt(name, colon + 1, name.length(), 10));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    boolean isBefore(SequenceNode other) {
        return number - other.number < 0;
    }

    /** The owner of the lock. */
    static @Nullable SequenceNode first(List<String> names) {
        SequenceNode first = null;
        for (String name : names) {
            SequenceNode place = of(name);
            if (place != null && (first == null || place.isBefore(first))) {
                first = place;
            }
        }
        return first;
    }
}
