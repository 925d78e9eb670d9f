package io.github.reactivelock.testkit.history;

import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** When faults were active, for how much longer they excuse delay and disorder, and when clients were killed. */
final class Times {

    private record Span(long from, long to) {}

    private final List<Span> faults = new ArrayList<>();
    private final List<Span> pushesCut = new ArrayList<>();
    private final Map<String, Long> killed = new HashMap<>();
    private final long last;

    /** From events in the order of their times. */
    Times(List<HistoryEvent> events, long grace) {
        last = events.isEmpty() ? 0 : events.get(events.size() - 1).at();
        Map<String, Long> began = new HashMap<>();
        for (HistoryEvent event : events) {
            if (event.kind() == Kind.FAULT_BEGAN) {
                began.put(event.id(), event.at());
            } else if (event.kind() == Kind.FAULT_ENDED) {
                Long from = began.remove(event.id());
                faults.add(new Span(from == null ? 0 : from, event.at() + grace));
            } else if (event.kind() == Kind.KILLED) {
                killed.put(event.id(), event.at());
                faults.add(new Span(event.at(), event.at() + grace));
            } else if (event.kind() == Kind.PUSHES_CUT) {
                pushesCut.add(new Span(event.at(), event.at() + grace));
            } else if (event.kind() == Kind.STALLED) {
                faults.add(new Span(event.at(), event.until()));
            }
        }
        began.values().forEach(from -> faults.add(new Span(from, Long.MAX_VALUE)));
    }

    boolean isKilled(String client) {
        return killed.containsKey(client);
    }

    /** The last moment at which a client ran. */
    long lastOf(String client) {
        return killed.getOrDefault(client, last);
    }

    /** Whether a fault meanwhile may have changed the order of service. */
    boolean excuseDisorder(long from, long to) {
        return Stream.of(faults, pushesCut).flatMap(List::stream).anyMatch(span -> span.from < to && span.to > from);
    }

    /** The longest piece without a fault. */
    long longestCalm(long from, long to) {
        if (to <= from) {
            return 0;
        }
        for (Span fault : faults) {
            if (fault.from < to && fault.to > from) {
                return Math.max(longestCalm(from, fault.from), longestCalm(fault.to, to));
            }
        }
        return to - from;
    }
}
