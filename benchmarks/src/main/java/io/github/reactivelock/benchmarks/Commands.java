package io.github.reactivelock.benchmarks;

import java.util.Map;
import java.util.Set;

/**
 * Commands that clients sent between two looks at {@code INFO commandstats}. Those numbers count what scripts call as
 * well, so only commands are added up that no script of any side calls; {@code SET}, which scripts do call, is added for
 * the sides that send it themselves. {@code PUBLISH} comes from scripts only and is counted by itself.
 */
record Commands(long sent, long published, long subscribed) {

    private static final Set<String> SENT =
            Set.of("eval", "evalsha", "evalsha_ro", "fcall", "subscribe", "unsubscribe", "psubscribe", "wait");
    private static final Set<String> SUBSCRIBED = Set.of("subscribe", "unsubscribe", "psubscribe");
    private static final Set<String> PUBLISHED = Set.of("publish", "spublish");

    static Commands between(Map<String, Long> before, Map<String, Long> after, String side) {
        long own = side.startsWith("set-")
                ? difference(before, after, Set.of("set"))
                : side.equals(Sides.PING) ? difference(before, after, Set.of("ping")) : 0;
        return new Commands(
                own + difference(before, after, SENT),
                difference(before, after, PUBLISHED),
                difference(before, after, SUBSCRIBED));
    }

    private static long difference(Map<String, Long> before, Map<String, Long> after, Set<String> names) {
        return names.stream()
                .mapToLong(name -> after.getOrDefault(name, 0L) - before.getOrDefault(name, 0L))
                .sum();
    }
}
