package io.github.reactivelock.zookeeper;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in its lock's line, decided from nothing but the names of the nodes there.
 *
 * @param own the claim's node, or null if it has none; the first of them if a repeated create made several
 * @param predecessor the node just before it, or null if it is the first
 * @param surplus further nodes of the same claim
 */
record QueuePosition(@Nullable SequenceNode own, @Nullable SequenceNode predecessor, List<SequenceNode> surplus) {

    static QueuePosition of(String claimId, List<String> names) {
        List<SequenceNode> owns = new ArrayList<>(1);
        for (String name : names) {
            SequenceNode place = SequenceNode.of(name);
            if (place != null && place.claimId().equals(claimId)) {
                owns.add(place);
            }
        }
        if (owns.isEmpty()) {
            return new QueuePosition(null, null, owns);
        }
        owns.sort((a, b) -> Integer.compare(a.number() - b.number(), 0));
        SequenceNode own = owns.remove(0);
        return new QueuePosition(own, lastBefore(own, names), owns);
    }

    private static @Nullable SequenceNode lastBefore(SequenceNode own, List<String> names) {
        SequenceNode last = null;
        for (String name : names) {
            SequenceNode place = SequenceNode.of(name);
            if (place != null && place.isBefore(own) && (last == null || last.isBefore(place))) {
                last = place;
            }
        }
        return last;
    }
}
