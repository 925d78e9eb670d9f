package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.LuaRedis.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The two dozen commands of Redis that the lock's script uses, each as far as it uses it, on data in memory. */
final class RedisData {

    /** The answer that there is nothing. */
    static final Object NIL = new Object();

    private static final Set<String> GROWING = Set.of("SET", "HSET", "ZADD");
    private static final Set<String> SHRINKING = Set.of("DEL", "PEXPIRE", "HDEL", "ZREM", "ZPOPMIN");

    private static final Comparator<Map.Entry<String, Double>> BY_SCORE =
            Map.Entry.<String, Double>comparingByValue().thenComparing(Map.Entry.comparingByKey());

    private final LongSupplier micros;
    private final BiConsumer<String, String> publish;
    private final ToLongFunction<String> listeners;
    private final RedisKeys keys;
    private final long begun;
    private String runId;
    /** The script that runs has written nothing, and there is no memory. */
    private boolean refusesToGrow;

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
        this.keys = new RedisKeys(micros, remembered);
        this.publish = publish;
        this.listeners = listeners;
        this.begun = micros.getAsLong();
    }

    /**
     * A script begins.
     *
     * @param full whether there is no memory: then a write that may need some is refused, unless another one, which may
     *     not, came before it
     */
    void beginScript(boolean full) {
        refusesToGrow = full;
    }

    /** Everything written since is taken back. */
    void takeBack(long sinceMicros) {
        keys.takeBack(sinceMicros);
    }

    void clear(String newRunId) {
        keys.clear();
        runId = newRunId;
    }

    /** Keys that are there and match nothing that may be left. */
    long size(String exceptEnding) {
        return keys.size(exceptEnding);
    }

    Object command(List<String> words) {
        String name = words.get(0).toUpperCase(Locale.ROOT);
        String key = words.size() > 1 ? words.get(1) : "";
        if (refusesToGrow && GROWING.contains(name)) {
            throw new RedisKeys.Refused("OOM command not allowed when used memory > 'maxmemory'.");
        }
        refusesToGrow &= !SHRINKING.contains(name);
        return switch (name) {
            case "TIME" -> time();
            case "INFO" -> info(key);
            case "TYPE" -> new Status(keys.type(key));
            case "GET" -> orNil(keys.text(key));
            case "SET" -> set(words);
            case "DEL" -> del(key);
            case "EXISTS" -> keys.isThere(key) ? 1L : 0L;
            case "PTTL" -> pttl(key);
            case "PEXPIRE" -> pexpire(key, Long.parseLong(words.get(2)));
            case "HSET" -> hset(key, words.get(2), words.get(3));
            case "HGET" -> orNil(keys.hash(key).get(words.get(2)));
            case "HDEL" -> hdel(key, words.get(2));
            case "HGETALL" -> hgetall(key);
            case "HVALS" -> new ArrayList<>(keys.hash(key).values());
            case "ZADD" -> zadd(words);
            case "ZSCORE" -> zscore(key, words.get(2));
            case "ZCOUNT" ->
                (long) within(key, words.get(2), words.get(3), BY_SCORE).size();
            case "ZRANGEBYSCORE" -> zrangebyscore(words, words.get(2), words.get(3), BY_SCORE);
            case "ZREVRANGEBYSCORE" -> zrangebyscore(words, words.get(3), words.get(2), BY_SCORE.reversed());
            case "ZREM" -> zrem(key, words.get(2));
            case "ZPOPMIN" -> zpopmin(key);
            case "ZRANGE" -> zrange(key, words, BY_SCORE);
            case "ZREVRANGE" -> zrange(key, words, BY_SCORE.reversed());
            case "PUBLISH", "SPUBLISH" -> published(key, words.get(2));
            case "PUBSUB" -> List.of(words.get(2), listeners.applyAsLong(words.get(2)));
            default -> throw new RedisKeys.Refused("ERR unknown command " + name);
        };
    }

    private static Object orNil(@Nullable Object value) {
        return value == null ? NIL : value;
    }

    // ---- texts and expiry

    private Object set(List<String> words) {
        String key = words.get(1);
        boolean get = words.contains("GET");
        int px = words.lastIndexOf("PX");
        long end = px > 2
                ? keys.millis() + Long.parseLong(words.get(px + 1))
                : words.contains("KEEPTTL") ? keys.end(key) : RedisKeys.NEVER;
        Object before = get ? orNil(keys.text(key)) : NIL;
        if (words.contains("NX") && keys.isThere(key)) {
            return before;
        }
        keys.put(key, words.get(2), end);
        return get ? before : new Status("OK");
    }

    private long del(String key) {
        boolean was = keys.isThere(key);
        keys.delete(key);
        return was ? 1 : 0;
    }

    private long pttl(String key) {
        if (!keys.isThere(key)) {
            return -2;
        }
        long end = keys.end(key);
        return end == RedisKeys.NEVER ? -1 : end - keys.millis();
    }

    private long pexpire(String key, long millis) {
        keys.expire(key, keys.millis() + millis);
        return keys.isThere(key) ? 1 : 0;
    }

    // ---- hashes and sorted sets

    private long hset(String key, String field, String text) {
        Map<String, String> changed = new TreeMap<>(keys.hash(key));
        boolean isNew = changed.put(field, text) == null;
        keys.putOrDelete(key, changed);
        return isNew ? 1 : 0;
    }

    private long hdel(String key, String field) {
        Map<String, String> changed = new TreeMap<>(keys.hash(key));
        if (changed.remove(field) == null) {
            return 0;
        }
        keys.putOrDelete(key, changed);
        return 1;
    }

    private Object hgetall(String key) {
        List<Object> all = new ArrayList<>();
        keys.hash(key).forEach((field, text) -> {
            all.add(field);
            all.add(text);
        });
        return all;
    }

    private long zadd(List<String> words) {
        boolean onlyNew = words.contains("NX");
        String key = words.get(1);
        double score = Double.parseDouble(words.get(words.size() - 2));
        Map<String, Double> changed = new HashMap<>(keys.sorted(key));
        String member = words.get(words.size() - 1);
        boolean isNew = !changed.containsKey(member);
        if (isNew || !onlyNew) {
            changed.put(member, score);
            keys.putOrDelete(key, changed);
        }
        return isNew ? 1 : 0;
    }

    private Object zscore(String key, String member) {
        Double score = keys.sorted(key).get(member);
        return score == null ? NIL : score(score);
    }

    private List<Map.Entry<String, Double>> within(
            String key, String least, String most, Comparator<Map.Entry<String, Double>> order) {
        return keys.sorted(key).entrySet().stream()
                .filter(entry -> isPast(entry.getValue(), least) && isPast(-entry.getValue(), negated(most)))
                .sorted(order)
                .toList();
    }

    /** Whether a score is at or above a bound, or above one that begins with a parenthesis. */
    private static boolean isPast(double score, String bound) {
        boolean isOpen = bound.startsWith("(");
        double limit = bound(isOpen ? bound.substring(1) : bound);
        return isOpen ? score > limit : score >= limit;
    }

    private static String negated(String bound) {
        return bound.startsWith("(") ? "(" + -bound(bound.substring(1)) : Double.toString(-bound(bound));
    }

    private static double bound(String text) {
        return switch (text) {
            case "-inf" -> Double.NEGATIVE_INFINITY;
            case "+inf" -> Double.POSITIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    private Object zrangebyscore(
            List<String> words, String least, String most, Comparator<Map.Entry<String, Double>> order) {
        List<Map.Entry<String, Double>> found = within(words.get(1), least, most, order);
        int limit = words.indexOf("LIMIT");
        if (limit > 0) {
            int from = Math.min(Integer.parseInt(words.get(limit + 1)), found.size());
            int count = Integer.parseInt(words.get(limit + 2));
            int to = count < 0 ? found.size() : Math.min(from + count, found.size());
            found = found.subList(from, to);
        }
        List<Object> answer = new ArrayList<>();
        for (Map.Entry<String, Double> entry : found) {
            answer.add(entry.getKey());
            if (words.contains("WITHSCORES")) {
                answer.add(score(entry.getValue()));
            }
        }
        return answer;
    }

    private long zrem(String key, String member) {
        Map<String, Double> changed = new HashMap<>(keys.sorted(key));
        if (changed.remove(member) == null) {
            return 0;
        }
        keys.putOrDelete(key, changed);
        return 1;
    }

    private Object zpopmin(String key) {
        List<Map.Entry<String, Double>> first =
                keys.sorted(key).entrySet().stream().sorted(BY_SCORE).limit(1).toList();
        if (first.isEmpty()) {
            return List.of();
        }
        zrem(key, first.get(0).getKey());
        return List.of(first.get(0).getKey(), score(first.get(0).getValue()));
    }

    private Object zrange(String key, List<String> words, Comparator<Map.Entry<String, Double>> order) {
        List<Map.Entry<String, Double>> all =
                keys.sorted(key).entrySet().stream().sorted(order).toList();
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
