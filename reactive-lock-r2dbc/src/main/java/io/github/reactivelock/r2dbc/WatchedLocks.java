package io.github.reactivelock.r2dbc;

import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Locks that this backend watches, and of each the last event that its listener has seen: an event after that keeps the
 * listener from sleeping. Safe for use from any thread.
 */
final class WatchedLocks {

    /** One lock with its watchers. */
    private static final class Mark {
        private final Set<FluxSink<Boolean>> watchers = ConcurrentHashMap.newKeySet();
        private volatile long seen = Long.MAX_VALUE;
    }

    private final Map<String, Mark> marks = new ConcurrentHashMap<>();

    /**
     * Emits when something may have happened to a lock, and once at the beginning; without end.
     *
     * @param last the number of the last event that the watcher knows
     * @param begun told when the lock is one of those that are watched
     */
    Flux<Boolean> changes(String key, long last, Runnable begun) {
        return Flux.create(
                sink -> {
                    marks.compute(key, (same, known) -> {
                        Mark mark = known == null ? new Mark() : known;
                        mark.watchers.add(sink);
                        mark.seen = Math.min(mark.seen, last);
                        return mark;
                    });
                    sink.onDispose(() -> marks.computeIfPresent(key, (same, mark) -> {
                        mark.watchers.remove(sink);
                        return mark.watchers.isEmpty() ? null : mark;
                    }));
                    begun.run();
                    sink.next(true);
                },
                FluxSink.OverflowStrategy.LATEST);
    }

    boolean isEmpty() {
        return marks.isEmpty();
    }

    int size() {
        return marks.size();
    }

    /** What a listener asks for: of each lock the key in hexadecimal digits and the number, as JSON. */
    String asked() {
        return marks.entrySet().stream()
                .map(each -> "[\"" + HexFormat.of().formatHex(KeyLayout.bytes(each.getKey())) + "\","
                        + each.getValue().seen + "]")
                .collect(Collectors.joining(",", "[", "]"));
    }

    /** The listener has seen an event; whether that is news. */
    boolean happened(String key, long number) {
        Mark mark = marks.get(key);
        if (mark == null || number <= mark.seen) {
            return false;
        }
        mark.seen = number;
        mark.watchers.forEach(watcher -> watcher.next(true));
        return true;
    }

    /** This backend has changed a lock itself. */
    void changed(String key) {
        Mark mark = marks.get(key);
        if (mark != null) {
            mark.watchers.forEach(watcher -> watcher.next(true));
        }
    }

    /** To be called when what was to be heard has to be looked for now. */
    void lookSoon() {
        marks.keySet().forEach(this::changed);
    }
}
