package io.github.reactivelock.examples.webflux.shop;

import java.util.List;
import java.util.Map;

/**
 * What the locks of an instance do at one moment.
 *
 * @param uses waits and holds, and the last holds that are over
 * @param metrics what the starter has recorded in Micrometer, by the meter's name and what of it
 */
public record Activity(List<LockUse> uses, Map<String, Double> metrics) {

    /** What an instance shows that has asked for no lock yet. */
    public static final Activity NONE = new Activity(List.of(), Map.of());
}
