package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.reliability.simulation.LuaRedis.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The data of a Redis in memory, and the two dozen commands of it that the lock's script uses, each as far as it uses it.
 * What was written of late can be taken back, as by a fail-over to a replica that has not got it.
 */
final class RedisData {

    /** A command that Redis would refuse. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    /** The answer that there is nothing. */
    static final Object NIL = new Object();

    private static final Comparator<Map.Entry<String, Double>> BY_SCORE =
            Map.Entry.<String, Double>comparingByValue().thenComparing(Map.Entry.comparingByKey());

    /** Content is a text, a hash or a sorted set. */
    private record Value(Object content, long endMillis) {
        static final long NEVER = Long.MAX_VALUE;
    }

    private record Change(long at, String key, @Nullable Value before) {}

    private final LongSupplier micros;
    private final BiConsumer<String, String> publish;
    private final ToLongFunction<String> listeners;
    private final Map<String, Value> values = new HashMap<>();
    private final Deque<Change> changes = new ArrayDeque<>();
    private final long remembered;
    private final long begun;
    private String runId;

    /**
     * @param micros the server's clock
     * @param remembered for how many microseconds a write can be taken back
     * @param publish takes a channel and a message
     * @param listeners how many listen to a channel
     */
    RedisData(
            String runId,
            LongSupplier micros,
            long remembered,
            BiConsumer<String, String> publish,
            ToLongFunction<String> listeners) {
        this.runId = runId;
        this.micros = micros;
        this.remembered = remembered;
        this.publish = publish;
        this.listeners = listeners;
        this.begun = micros.getAsLong();
    }

    private long millis() {
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

    void clear(String newRunId) {
        values.clear();
        changes.clear();
        runId = newRunId;
    }

    /** Keys that are there and match nothing that may be left. */
    long size(String exceptEnding) {
        long now = millis();
        return values.entrySet().stream()
                .filter(entry -> entry.getValue().endMillis() >= now)
                .filter(entry -> !entry.getKey().endsWith(exceptEnding))
                .count();
    }

    Object command(List<String> words) {
        String name = words.get(0).toUpperCase(Locale.ROOT);
        String key = words.size() > 1 ? words.get(1) : "";
        return switch (name) {
            case "TIME" -> time();
            case "INFO" -> info(key);
            case "TYPE" -> new Status(type(key));
            case "GET" -> orNil(text(key));
            case "SET" -> set(words);
            case "DEL" -> put(key, null) ? 1L : 0L;
            case "EXISTS" -> value(key) == null ? 0L : 1L;
            case "PTTL" -> pttl(key);
            case "PEXPIRE" -> pexpire(key, Long.parseLong(words.get(2)));
            case "HSET" -> hset(key, words.get(2), words.get(3));
            case "HGET" -> orNil(hash(key).get(words.get(2)));
            case "HDEL" -> hdel(key, words.get(2));
            case "HVALS" -> new ArrayList<>(hash(key).values());
            case "ZADD" -> zadd(key, Double.parseDouble(words.get(3)), words.get(4));
            case "ZREM" -> zrem(key, words.get(2));
            case "ZPOPMIN" -> zpopmin(key);
            case "ZRANGE" -> zrange(key, words, BY_SCORE);
            case "ZREVRANGE" -> zrange(key, words, BY_SCORE.reversed());
            case "PUBLISH", "SPUBLISH" -> published(key, words.get(2));
            case "PUBSUB" -> List.of(words.get(2), listeners.applyAsLong(words.get(2)));
            default -> throw new Refused("ERR unknown command " + name);
        };
    }

    // ---- values

    private @Nullable Value value(String key) {
        Value value = values.get(key);
        if (value != null && value.endMillis() < millis()) {
            boolean unused = put(key, null);
            return null;
        }
        return value;
    }

    /** True if there was another. */
    private boolean put(String key, @Nullable Value value) {
        long now = micros.getAsLong();
        Change oldest = changes.peekFirst();
        while (oldest != null && oldest.at() < now - remembered) {
            changes.removeFirst();
            oldest = changes.peekFirst();
        }
        Value before = value == null ? values.remove(key) : values.put(key, value);
        changes.addLast(new Change(now, key, before));
        return before != null && before.endMillis() >= now / 1_000;
    }

    private static Object orNil(@Nullable Object value) {
        return value == null ? NIL : value;
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

    private @Nullable String text(String key) {
        return content(key, String.class);
    }

    @SuppressWarnings("unchecked")
    private Map<String, String> hash(String key) {
        Map<String, String> hash = content(key, TreeMap.class);
        return hash == null ? Map.of() : hash;
    }

    @SuppressWarnings("unchecked")
    private Map<String, Double> sorted(String key) {
        Map<String, Double> sorted = content(key, HashMap.class);
        return sorted == null ? Map.of() : sorted;
    }

    private String type(String key) {
        Value value = value(key);
        if (value == null) {
            return "none";
        }
        return value.content() instanceof String ? "string" : value.content() instanceof TreeMap ? "hash" : "zset";
    }

    private long end(String key) {
        Value value = value(key);
        return value == null ? Value.NEVER : value.endMillis();
    }

    // ---- texts and expiry

    private Object set(List<String> words) {
        String key = words.get(1);
        boolean ifFree = words.contains("NX");
        boolean get = words.contains("GET");
        int px = words.lastIndexOf("PX");
        long end = px > 2
                ? millis() + Long.parseLong(words.get(px + 1))
                : words.contains("KEEPTTL") ? end(key) : Value.NEVER;
        Object before = get ? orNil(text(key)) : NIL;
        if (ifFree && value(key) != null) {
            return before;
        }
        boolean unused = put(key, new Value(words.get(2), end));
        return get ? before : new Status("OK");
    }

    private long pttl(String key) {
        Value value = value(key);
        if (value == null) {
            return -2;
        }
        return value.endMillis() == Value.NEVER ? -1 : value.endMillis() - millis();
    }

    private long pexpire(String key, long millis) {
        Value value = value(key);
        if (value == null) {
            return 0;
        }
        boolean unused = put(key, new Value(value.content(), millis() + millis));
        return 1;
    }

    // ---- hashes and sorted sets, whose contents are never changed but replaced

    private long hset(String key, String field, String text) {
        Map<String, String> changed = new TreeMap<>(hash(key));
        boolean isNew = changed.put(field, text) == null;
        boolean unused = put(key, new Value(changed, end(key)));
        return isNew ? 1 : 0;
    }

    private long hdel(String key, String field) {
        Map<String, String> changed = new TreeMap<>(hash(key));
        if (changed.remove(field) == null) {
            return 0;
        }
        boolean unused = put(key, changed.isEmpty() ? null : new Value(changed, end(key)));
        return 1;
    }

    private long zadd(String key, double score, String member) {
        Map<String, Double> changed = new HashMap<>(sorted(key));
        if (changed.putIfAbsent(member, score) != null) {
            return 0;
        }
        boolean unused = put(key, new Value(changed, end(key)));
        return 1;
    }

    private long zrem(String key, String member) {
        Map<String, Double> changed = new HashMap<>(sorted(key));
        if (changed.remove(member) == null) {
            return 0;
        }
        boolean unused = put(key, changed.isEmpty() ? null : new Value(changed, end(key)));
        return 1;
    }

    private Object zpopmin(String key) {
        List<Map.Entry<String, Double>> first =
                sorted(key).entrySet().stream().sorted(BY_SCORE).limit(1).toList();
        if (first.isEmpty()) {
            return List.of();
        }
        long unused = zrem(key, first.get(0).getKey());
        return List.of(first.get(0).getKey(), score(first.get(0).getValue()));
    }

    private Object zrange(String key, List<String> words, Comparator<Map.Entry<String, Double>> order) {
        List<Map.Entry<String, Double>> all =
                sorted(key).entrySet().stream().sorted(order).toList();
        int from = index(words.get(2), all.size());
        int to = Math.min(index(words.get(3), all.size()), all.size() - 1);
        List<Object> found = new ArrayList<>();
        for (int i = Math.max(0, from); i <= to; i++) {
            found.add(all.get(i).getKey());
            if (words.contains("WITHSCORES")) {
                found.add(score(all.get(i).getValue()));
            }
        }
        return found;
    }

    private static int index(String word, int size) {
        int index = Integer.parseInt(word);
        return index < 0 ? size + index : index;
    }

    private static String score(double score) {
        return Long.toString((long) score);
    }

    // ---- the server

    private Object time() {
        long now = micros.getAsLong();
        return List.of(Long.toString(now / 1_000_000), Long.toString(now % 1_000_000));
    }

    private String info(String section) {
        if (section.equals("memory")) {
            return "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
        }
        long uptime = micros.getAsLong() / 1_000_000 - begun / 1_000_000;
        return "run_id:" + runId + "\r\nuptime_in_seconds:" + uptime + "\r\n";
    }

    private long published(String channel, String message) {
        publish.accept(channel, message);
        return listeners.applyAsLong(channel);
    }
}
