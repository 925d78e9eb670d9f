package io.github.reactivelock.zookeeper;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its lock's line.
 *
 * @param own the claim's node, or null if it has none; the first of them if a repeated create made several
 * @param isIn whether the claim holds the lock, or its share of it
 * @param predecessor the node just before it, or null if it is the first
 * @param lastWhole the last node before it of a claim for the whole, or null
 * @param surplus further nodes of the same claim
 */
record QueuePosition(
        @Nullable SequenceNode own,
        boolean isIn,
        @Nullable SequenceNode predecessor,
        @Nullable SequenceNode lastWhole,
        List<SequenceNode> surplus) {

    static QueuePosition of(String claimId, List<String> names) {
        return of(claimId, Line.of(names));
    }

    static QueuePosition of(String claimId, Line line) {
        SequenceNode own = null;
        boolean in = false;
        SequenceNode predecessor = null;
        SequenceNode lastWhole = null;
        List<SequenceNode> surplus = new ArrayList<>(0);
        for (int i = 0; i < line.places().size(); i++) {
            SequenceNode place = line.places().get(i);
            if (!place.claimId().equals(claimId)) {
                if (own == null) {
                    predecessor = place;
                    lastWhole = place.share().isWhole() ? place : lastWhole;
                }
            } else if (own == null) {
                own = place;
                in = i < line.holders();
            } else {
                surplus.add(place);
            }
        }
        return own == null
                ? new QueuePosition(null, false, null, null, surplus)
                : new QueuePosition(own, in, predecessor, lastWhole, surplus);
    }

    /** Whether the claim stands with this node, and not with one that it has given up. */
    boolean isOf(Node node) {
        return own != null && node.path().endsWith("/" + own.name());
    }

    /** The one node whose end such a claim waits for; null if it waits for units, so that any end may let it in. */
    @Nullable
    SequenceNode obstacle() {
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
