package io.github.reactivelock.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a Redis in memory, what they hold and when they expire. What was written of late can be taken back, as by
 * a fail-over to a replica that has not got it.
 */
final class RedisKeys {

    static final long NEVER = Long.MAX_VALUE;

    /** A command that Redis would refuse. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    /** Content is a text, a hash or a sorted set; it is never changed but replaced. */
    private record Value(Object content, long endMillis) {}

    private record Change(long at, String key, @Nullable Value before) {}

    private final LongSupplier micros;
    private final long remembered;
    private final Map<String, Value> values = new HashMap<>();
    private final Deque<Change> changes = new ArrayDeque<>();

    /**
     * @param micros the server's clock
     * @param remembered for how many microseconds a write can be taken back
     */
    RedisKeys(LongSupplier micros, long remembered) {
        this.micros = micros;
        this.remembered = remembered;
    }

    long millis() {
        return micros.getAsLong() / 1_000;
    }

    /** Everything written since is taken back. */
    void takeBack(long sinceMicros) {
        Change last = changes.peekLast();
        while (last != null && last.at() >= sinceMicros) {
            changes.removeLast();
            if (last.before() == null) {
                values.remove(last.key());
            } else {
                values.put(last.key(), last.before());
            }
            last = changes.peekLast();
        }
    }

    void clear() {
        values.clear();
        changes.clear();
    }

    /** Keys that are there and match nothing that may be left. */
    long size(String exceptEnding) {
        long now = millis();
        return values.entrySet().stream()
                .filter(entry -> entry.getValue().endMillis() >= now)
                .filter(entry -> !entry.getKey().endsWith(exceptEnding))
                .count();
    }

    boolean isThere(String key) {
        return value(key) != null;
    }

    /**
     * When the key expires, in milliseconds of the server's clock; {@link #NEVER} without an expiry, or without the
     * key.
     */
    long end(String key) {
        Value value = value(key);
        return value == null ? NEVER : value.endMillis();
    }

    String type(String key) {
        Value value = value(key);
        if (value == null) {
            return "none";
        }
        return value.content() instanceof String ? "string" : value.content() instanceof TreeMap ? "hash" : "zset";
    }

    @Nullable
    String text(String key) {
        return content(key, String.class);
    }

    @SuppressWarnings("unchecked")
    Map<String, String> hash(String key) {
        Map<String, String> hash = content(key, TreeMap.class);
        return hash == null ? Map.of() : hash;
    }

    @SuppressWarnings("unchecked")
    Map<String, Double> sorted(String key) {
        Map<String, Double> sorted = content(key, HashMap.class);
        return sorted == null ? Map.of() : sorted;
    }

    private <T> @Nullable T content(String key, Class<T> type) {
        Value value = value(key);
        if (value == null) {
            return null;
        }
        if (!type.isInstance(value.content())) {
            throw new Refused("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        return type.cast(value.content());
    }

    private @Nullable Value value(String key) {
        Value value = values.get(key);
        if (value != null && value.endMillis() < millis()) {
            delete(key);
            return null;
        }
        return value;
    }

    void put(String key, Object content, long endMillis) {
        remember(key, values.put(key, new Value(content, endMillis)));
    }

    /** Empty maps are no keys. */
    void putOrDelete(String key, Map<String, ?> content) {
        if (content.isEmpty()) {
            delete(key);
        } else {
            put(key, content, end(key));
        }
    }

    void expire(String key, long endMillis) {
        Value value = value(key);
        if (value != null) {
            put(key, value.content(), endMillis);
        }
    }

    void delete(String key) {
        remember(key, values.remove(key));
    }

    private void remember(String key, @Nullable Value before) {
        long now = micros.getAsLong();
        Change oldest = changes.peekFirst();
        while (oldest != null && oldest.at() < now - remembered) {
            changes.removeFirst();
            oldest = changes.peekFirst();
        }
        changes.addLast(new Change(now, key, before));
    }
}
