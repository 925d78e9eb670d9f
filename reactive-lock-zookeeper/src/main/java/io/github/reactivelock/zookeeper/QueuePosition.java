package io.github.reactivelock.zookeeper;

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
        Integer first = line.index().first().get(claimId);
        if (first == null) {
            return new QueuePosition(null, false, null, null, List.of());
        }
        List<SequenceNode> places = line.places();
        int whole = line.index().lastWhole().get(first);
        List<SequenceNode> surplus = line.index().repeated().contains(claimId)
                ? places.subList(first + 1, places.size()).stream()
                        .filter(place -> place.claimId().equals(claimId))
                        .toList()
                : List.of();
        return new QueuePosition(
                places.get(first),
                first < line.holders(),
                first == 0 ? null : places.get(first - 1),
                whole < 0 ? null : places.get(whole),
                surplus);
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
