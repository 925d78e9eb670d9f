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
record Line(@Nullable Place own, @Nullable Place predecessor, List<Place> surplus) {

    static Line of(String claimId, List<String> names) {
        List<Place> owns = new ArrayList<>(1);
        for (String name : names) {
            Place place = Place.of(name);
            if (place != null && place.claimId().equals(claimId)) {
                owns.add(place);
            }
        }
        if (owns.isEmpty()) {
            return new Line(null, null, owns);
        }
        owns.sort((a, b) -> Integer.compare(a.number() - b.number(), 0));
        Place own = owns.remove(0);
        return new Line(own, lastBefore(own, names), owns);
    }

    private static @Nullable Place lastBefore(Place own, List<String> names) {
        Place last = null;
        for (String name : names) {
            Place place = Place.of(name);
            if (place != null && place.isBefore(own) && (last == null || last.isBefore(place))) {
                last = place;
            }
        }
        return last;
    }
}
