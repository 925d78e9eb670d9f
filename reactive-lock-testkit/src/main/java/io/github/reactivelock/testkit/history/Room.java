package io.github.reactivelock.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * When a lock could have served the first of the queue: as many units were free as each of those that waited wanted. No
 * claim overtakes, so a flow that fits may wait as long as one that does not, which may stand before it.
 */
final class Room {

    /** A time in which there was room, without a break. */
    record Span(long from, long to) {}

    /** Something begins, or what began is over. */
    private record Step(long at, Flow flow, boolean holds, int change) {}

    private static final long BEFORE_ALL = Long.MIN_VALUE / 2;
    private static final long AFTER_ALL = Long.MAX_VALUE / 2;

    private final List<Step> steps = new ArrayList<>();
    private final TreeMap<Integer, Integer> unitsWanted = new TreeMap<>();
    private final TreeMap<Integer, Integer> capacities = new TreeMap<>();
    private long used;

    /** The room for all flows of one lock, and for those of them that had it. */
    Room(List<Flow> flows, List<Flow> holds, long lease, Times times) {
        for (Flow flow : flows) {
            add(flow, false, flow.invoked, flow.waitedUntil(times.lastOf(flow.client)));
        }
        for (Flow hold : holds) {
            add(hold, true, hold.granted, hold.freeFrom(lease, times.lastOf(hold.client)));
        }
        steps.sort(Comparator.comparingLong(Step::at));
    }

    private void add(Flow flow, boolean holds, long from, long to) {
        if (from < to) {
            steps.add(new Step(from, flow, holds, 1));
            steps.add(new Step(to, flow, holds, -1));
        }
    }

    List<Span> spans() {
        List<Span> spans = new ArrayList<>();
        boolean wasRoom = true;
        long since = BEFORE_ALL;
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            take(step);
            boolean isLastOfItsTime = i + 1 == steps.size() || steps.get(i + 1).at > step.at;
            if (isLastOfItsTime && wasRoom != isRoom()) {
                if (wasRoom) {
                    spans.add(new Span(since, step.at));
                }
                wasRoom = !wasRoom;
                since = step.at;
            }
        }
        if (wasRoom) {
            spans.add(new Span(since, AFTER_ALL));
        }
        return spans;
    }

    private void take(Step step) {
        if (step.holds) {
            used += (long) step.change * step.flow.share.units();
        } else {
            count(unitsWanted, step.flow.share.units(), step.change);
            count(capacities, step.flow.share.capacity(), step.change);
        }
    }

    private static void count(Map<Integer, Integer> counts, int value, int change) {
        counts.merge(value, change, (one, other) -> one + other == 0 ? null : one + other);
    }

    private boolean isRoom() {
        return unitsWanted.isEmpty() || used + unitsWanted.lastKey() <= capacities.firstKey();
    }
}
