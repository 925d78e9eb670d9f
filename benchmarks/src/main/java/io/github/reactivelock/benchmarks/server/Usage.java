package io.github.reactivelock.benchmarks.server;

import java.util.Map;
import java.util.Set;

/**
 * The load on Redis, by {@code INFO commandstats} and {@code INFO cpu}. These count the commands of scripts as well, so
 * the sum has only commands that no script of any side calls; {@code SET}, which scripts do call, is added for the
 * sides that send it themselves. {@code PUBLISH} comes from scripts only and is counted by itself.
 *
 * @param sent commands that clients sent
 * @param published messages to a channel, with or without a subscriber
 * @param subscribed commands among those sent that begin or end a subscription
 * @param cpuMicros processor time of the server
 * @param scriptMicros how much of it was inside scripts
 */
public record Usage(long sent, long published, long subscribed, double cpuMicros, double scriptMicros) {

    public static final Usage NONE = new Usage(0, 0, 0, 0, 0);

    private static final Set<String> SENT =
            Set.of("eval", "evalsha", "evalsha_ro", "fcall", "subscribe", "unsubscribe", "psubscribe", "wait");
    private static final Set<String> SUBSCRIBED = Set.of("subscribe", "unsubscribe", "psubscribe");
    private static final Set<String> PUBLISHED = Set.of("publish", "spublish");

    public static Usage of(Map<String, Long> calls, double cpuSeconds, double scriptMicros, String side) {
        long own = side.startsWith("set-")
                ? sum(calls, Set.of("set"))
                : side.startsWith("2-x-ping") ? sum(calls, Set.of("ping")) : 0;
        return new Usage(
                own + sum(calls, SENT),
                sum(calls, PUBLISHED),
                sum(calls, SUBSCRIBED),
                cpuSeconds * 1_000_000,
                scriptMicros);
    }

    Usage plus(Usage other) {
        return new Usage(
                sent + other.sent,
                published + other.published,
                subscribed + other.subscribed,
                cpuMicros + other.cpuMicros,
                scriptMicros + other.scriptMicros);
    }

    public Usage since(Usage before) {
        return new Usage(
                sent - before.sent,
                published - before.published,
                subscribed - before.subscribed,
                cpuMicros - before.cpuMicros,
                scriptMicros - before.scriptMicros);
    }

    private static long sum(Map<String, Long> calls, Set<String> names) {
        return names.stream().mapToLong(name -> calls.getOrDefault(name, 0L)).sum();
    }
}
