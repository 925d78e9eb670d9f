package io.github.reactivelock.testkit.history;

import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Judges whether a history can be that of a lock. It finds
 *
 * <ul>
 *   <li>holders that overlap, or have more units of a shared lock than the share of the latest lets be in use; a hold
 *       lasts from its grant to the first of its release, its loss and its deadline;
 *   <li>tokens that do not rise in the order of the grants; that of a share has to be above those of whole holds before
 *       it;
 *   <li>a lock that is free for more than two seconds while a flow waits for it, or has room for each of those that
 *       wait;
 *   <li>a claim that is served before another that, by the store's own answer, waited already when the first was sent;
 *   <li>flows that never end, and what is left at the store.
 * </ul>
 *
 * <p>The first two are judged always. Delay and disorder are excused while something was broken on purpose, and for a
 * lease and a second afterwards; connections of pushes that were cut excuse disorder only. Time during which a process
 * stood still ({@link StallWatch}) does not count. The flows record everything themselves, so a hold may look shorter
 * than it was: the checker misses faults rather than invent them.
 */
public final class HistoryChecker {

    private final long lease;
    private final long idleLimit;

    /**
     * A checker for a history with leases of one length.
     *
     * @param lease the longest lease in the history
     */
    public HistoryChecker(Duration lease) {
        this(lease, Duration.ofSeconds(2));
    }

    /**
     * A checker for stores whose clients need their time to connect again.
     *
     * @param lease the longest lease in the history
     * @param idleLimit for how long a lock may be free while a flow waits; two seconds unless given
     */
    public HistoryChecker(Duration lease, Duration idleLimit) {
        this.lease = lease.toNanos();
        this.idleLimit = idleLimit.toNanos();
    }

    /**
     * Judges a history that has ended.
     *
     * @param history the events of all clients, in any order
     * @param leftAtStore names of what the store still keeps and should not
     * @return what is wrong with it
     */
    public HistoryReport check(Collection<HistoryEvent> history, Collection<String> leftAtStore) {
        List<HistoryEvent> events = new ArrayList<>(history);
        events.sort(Comparator.comparingLong(HistoryEvent::at));
        Times times = new Times(events, lease + Duration.ofSeconds(1).toNanos());
        Map<String, Flow> flows = new HashMap<>();
        Map<String, QueuedClaim> claims = new HashMap<>();
        for (HistoryEvent event : events) {
            collect(event, flows, claims);
        }
        Found found = new Found();
        byKey(flows.values()).values().forEach(ofKey -> judge(ofKey, times, found));
        leaks(flows.values(), times, found.leaks);
        leftAtStore.forEach(name -> found.leaks.add("left at the store: " + name));
        return new HistoryReport(
                flows.values().stream()
                        .filter(flow -> flow.granted != Flow.NEVER)
                        .count(),
                flows.values().stream()
                        .filter(flow -> flow.granted != Flow.NEVER && !flow.share.isWhole())
                        .count(),
                found.overlaps,
                found.shareOverlaps,
                found.tokenRegressions,
                found.lostWakeups,
                QueuedClaim.disorders(claims.values(), times),
                found.leaks);
    }

    private static void collect(HistoryEvent event, Map<String, Flow> flows, Map<String, QueuedClaim> claims) {
        switch (event.kind()) {
            case INVOKED -> flows.put(event.id(), new Flow(event));
            case GRANTED, HELD, RELEASED, LOST, GAVE_UP ->
                flows.computeIfAbsent(event.id(), id -> new Flow(event)).add(event);
            case ASKED, QUEUED, SERVED, WITHDRAWN ->
                claims.computeIfAbsent(event.id(), id -> new QueuedClaim(event)).add(event);
            case FAULT_BEGAN, FAULT_ENDED, PUSHES_CUT, KILLED, STALLED -> {}
        }
    }

    private static Map<String, List<Flow>> byKey(Collection<Flow> flows) {
        Map<String, List<Flow>> byKey = new HashMap<>();
        flows.forEach(flow ->
                byKey.computeIfAbsent(flow.key, key -> new ArrayList<>()).add(flow));
        return byKey;
    }

    private void judge(List<Flow> flows, Times times, Found found) {
        List<Flow> holds = new ArrayList<>(flows.stream().filter(Flow::held).toList());
        holds.sort(Comparator.comparingLong(hold -> hold.granted));
        overlaps(holds, found);
        tokens(holds, found.tokenRegressions);
        new Room(flows, holds, lease, times).spans().forEach(span -> idle(flows, span, times, found.lostWakeups));
    }

    private static void overlaps(List<Flow> holds, Found found) {
        PriorityQueue<Flow> inside = new PriorityQueue<>(Comparator.comparingLong(Flow::heldUntil));
        long used = 0;
        for (Flow hold : holds) {
            for (Flow first = inside.peek();
                    first != null && first.heldUntil() <= hold.granted;
                    first = inside.peek()) {
                used -= inside.remove().share.units();
            }
            if (used + hold.share.units() > hold.share.capacity()) {
                Flow latest = Collections.max(inside, Comparator.comparingLong(Flow::heldUntil));
                found.overlaps.add(hold + " was granted " + (latest.heldUntil() - hold.granted) / 1_000
                        + " us before the hold of " + latest + " ended"
                        + (inside.size() == 1 ? "" : ", beside " + inside.size() + " holds of " + used + " units"));
                found.shareOverlaps +=
                        hold.share.isWhole() && inside.stream().allMatch(other -> other.share.isWhole()) ? 0 : 1;
            }
            inside.add(hold);
            used += hold.share.units();
        }
    }

    /** Between shares the order of tokens means nothing, but each has one of its own. */
    private static void tokens(List<Flow> holds, List<String> found) {
        Flow highest = null;
        Flow highestWhole = null;
        Map<Long, Flow> shares = new HashMap<>();
        for (Flow hold : holds) {
            Flow before = hold.share.isWhole() ? highest : highestWhole;
            if (before == null || before.token < hold.token) {
                before = hold.share.isWhole() ? null : shares.put(hold.token, hold);
            }
            if (before != null) {
                found.add(hold + " was granted after " + before);
            }
            highest = highest == null || hold.token > highest.token ? hold : highest;
            if (hold.share.isWhole()) {
                highestWhole = highestWhole == null || hold.token > highestWhole.token ? hold : highestWhole;
            }
        }
    }

    /** While the lock has room for those that wait, no flow waits for long. */
    private void idle(List<Flow> flows, Room.Span room, Times times, List<String> found) {
        if (room.to() - room.from() <= idleLimit) {
            return;
        }
        for (Flow flow : flows) {
            long waited = times.longestCalm(
                    Math.max(room.from(), flow.invoked),
                    Math.min(room.to(), flow.waitedUntil(times.lastOf(flow.client))));
            if (waited > idleLimit) {
                found.add(flow + " waited " + waited / 1_000_000 + " ms while the lock was free");
                return;
            }
        }
    }

    private static void leaks(Collection<Flow> flows, Times times, List<String> found) {
        for (Flow flow : flows) {
            if (times.isKilled(flow.client)) {
                continue;
            }
            if (flow.end == null || (flow.granted != Flow.NEVER && flow.end == Kind.GAVE_UP)) {
                found.add(flow + (flow.granted == Flow.NEVER ? " still waits" : " still holds the lock"));
            }
        }
    }

    /** What was found so far. */
    private static final class Found {
        final List<String> overlaps = new ArrayList<>();
        long shareOverlaps;
        final List<String> tokenRegressions = new ArrayList<>();
        final List<String> lostWakeups = new ArrayList<>();
        final List<String> leaks = new ArrayList<>();
    }
}
