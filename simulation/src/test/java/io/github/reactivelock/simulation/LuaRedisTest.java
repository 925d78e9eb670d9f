package io.github.reactivelock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.RedisScript;
import io.github.reactivelock.testservers.RedisServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The Redis of the simulation beside a real one: the same random calls of the lock's script, with the same time, and
 * the same answers, messages and data. Leases are so long that none ends meanwhile.
 */
class LuaRedisTest {

    private static final int CALLS = 10_000;
    private static final int CALLS_WITHOUT_MEMORY = 2_000;
    private static final int AT_ONCE = 20;
    private static final String OOM = "OOM";
    private static final long LEASE = 600_000;
    /** What is left of a lease differs by how long the calls took. */
    private static final long TOLERANCE = 60_000;

    private static final String WHOLE = "2147483647";

    private final SplittableRandom random = new SplittableRandom(20);
    private final List<String> published = new ArrayList<>();
    private long micros = 1_800_000_000_000_000L;

    @Test
    void tenThousandCallsHaveTheSameAnswersAsAtARealServer() {
        try (RedisServer server = RedisServer.start()) {
            RedisData data = new RedisData("0", () -> micros, 0, this::publish, channel -> 0);
            LuaRedis simulated = new LuaRedis(data);
            String script = withTimeOf(RedisScript.lock())
                    .replace("'SPUBLISH' or 'PUBLISH'", "'RPUSH' or 'RPUSH'")
                    .replace("or 'RPUSH', to, message)", "or 'RPUSH', 'messages', to .. '|' .. message)");
            String sha = "" + server.command("SCRIPT", "LOAD", script);

            for (int first = 0; first < CALLS; first += AT_ONCE) {
                List<Call> calls = IntStream.range(first, first + AT_ONCE)
                        .mapToObj(i -> simulated(i, simulated))
                        .toList();
                compare(calls, server, sha);
            }

            Object messages = server.command("LRANGE", "messages", "0", "-1");
            assertThat(published).isNotEmpty().isEqualTo(messages);
            assertSameData(data, server);
            simulated.close();
        }
    }

    /** In half of the calls: it refuses the first write that may need some, and none behind a write that may not. */
    @Test
    void withoutMemoryTheSameIsRefusedAsByARealServer() {
        try (RedisServer server = RedisServer.start()) {
            RedisData data = new RedisData("0", () -> micros, 0, this::publish, channel -> 0);
            LuaRedis simulated = new LuaRedis(data);
            String sha = "" + server.command("SCRIPT", "LOAD", withTimeOf(RedisScript.lock()));
            Map<String, Integer> refused = new TreeMap<>();
            for (int number = 0; number < CALLS_WITHOUT_MEMORY; number++) {
                boolean full = random.nextBoolean();
                data.beginScript(full);
                Call call = alone(number, simulated);
                List<List<String>> words = List.of(memory(0), call.setTime(), memory(full ? 1 : 0), call.eval(sha));
                List<?> real = answer(() -> listOf(server.commands(words).get(3)));
                assertAlike(real, call.ours(), number + (full ? ", full" : "") + ": " + call.args());
                if (full) {
                    refused.merge(real.equals(List.of(OOM)) ? "refused" : "carried out", 1, Integer::sum);
                }
            }

            server.command("CONFIG", "SET", "maxmemory", "0");
            assertThat(refused).hasSize(2);
            assertSameData(data, server);
            simulated.close();
        }
    }

    private static List<String> memory(int bytes) {
        return List.of("CONFIG", "SET", "maxmemory", "" + bytes);
    }

    /** A real server says more about it. */
    private static List<?> answer(Supplier<List<?>> asked) {
        try {
            return asked.get().stream()
                    .map(part -> part instanceof String text && text.startsWith(OOM) ? OOM : part)
                    .toList();
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageStartingWith(OOM);
            return List.of(OOM);
        }
    }

    private static String withTimeOf(RedisScript script) {
        return script.body().replace("call('TIME')", "{ call('GET', 'seconds'), call('GET', 'micros') }");
    }

    private static void assertSameData(RedisData data, RedisServer server) {
        for (int lock = 0; lock < 3; lock++) {
            String key = "{lock-" + lock + "}";
            assertThat(data.command(List.of("ZRANGE", key + ":queue", "0", "-1", "WITHSCORES")))
                    .isEqualTo(server.command("ZRANGE", key + ":queue", "0", "-1", "WITHSCORES"));
            assertThat(data.command(List.of("GET", key + ":token"))).isEqualTo(server.command("GET", key + ":token"));
        }
    }

    /**
     * What both are asked, and what the simulation answered.
     *
     * @param time in microseconds
     * @param asked one call, or two in a batch
     */
    private record Call(int number, long time, List<String> keys, List<List<String>> asked, List<?> ours) {
        List<String> args() {
            return asked.size() == 1 ? asked.get(0) : batched(asked.get(0), asked.get(1));
        }

        List<String> setTime() {
            return List.of("MSET", "seconds", "" + time / 1_000_000, "micros", "" + time % 1_000_000);
        }

        List<String> eval(String sha) {
            List<String> words = new ArrayList<>(List.of("EVALSHA", sha, "" + keys.size()));
            words.addAll(keys);
            words.addAll(args());
            return words;
        }
    }

    private Call alone(int number, LuaRedis simulation) {
        micros += 1 + random.nextInt(5_000);
        List<String> args = call(number);
        List<String> keys = keysOf("{lock-" + random.nextInt(3) + "}", args.get(0), false);
        return new Call(number, micros, keys, List.of(args), answer(() -> simulation.eval(keys, args)));
    }

    private Call simulated(int number, LuaRedis simulation) {
        micros += random.nextInt(3) == 0 ? 1 : random.nextInt(5_000);
        String lock = "{lock-" + random.nextInt(3) + "}";
        List<String> args = call(number);
        List<String> next = call(number);
        // Two at once, so that a call that reads what belongs to the next one is seen.
        boolean batch = random.nextInt(4) == 0 && takesAllKeys(args) && takesAllKeys(next);
        List<String> keys = keysOf(lock, args.get(0), batch);
        List<?> ours = simulation.eval(keys, batch ? batched(args, next) : args);
        return new Call(number, micros, keys, batch ? List.of(args, next) : List.of(args), ours);
    }

    /** They are sent together, because each way there and back takes long on a busy machine. */
    private static void compare(List<Call> calls, RedisServer server, String sha) {
        List<List<String>> words = calls.stream()
                .flatMap(call -> Stream.of(call.setTime(), call.eval(sha)))
                .toList();
        List<@Nullable Object> answers = server.commands(words);
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            Object real = answers.get(2 * i + 1);
            if (call.asked().size() == 1) {
                assertAlike(listOf(real), call.ours(), call.number() + ": " + call.args());
                continue;
            }
            for (int half = 0; half < 2; half++) {
                assertAlike(
                        listOf(((List<?>) real).get(half)),
                        listOf(call.ours().get(half)),
                        call.number() + ": " + call.asked().get(half));
            }
        }
    }

    private void publish(String channel, String message) {
        published.add(channel + "|" + message);
    }

    private static List<?> listOf(@Nullable Object answer) {
        return answer instanceof List<?> list ? list : Collections.singletonList(answer);
    }

    private static boolean takesAllKeys(List<String> args) {
        return !args.get(0).startsWith("renew");
    }

    private static List<String> batched(List<String> first, List<String> second) {
        List<String> batch = new ArrayList<>(List.of("batch"));
        for (List<String> call : List.of(first, second)) {
            batch.add("" + (call.size() - 1));
            batch.addAll(call);
        }
        return batch;
    }

    private static List<String> keysOf(String lock, String verb, boolean twice) {
        if (twice) {
            List<String> keys = new ArrayList<>(keysOf(lock, verb, false));
            keys.addAll(keysOf(lock, verb, false));
            return keys;
        }
        return switch (verb) {
            case "renew" -> List.of(lock);
            case "renew-shares" -> List.of(lock, lock + ":queue", lock + ":waiters");
            default -> List.of(lock, lock + ":token", lock + ":queue", lock + ":waiters");
        };
    }

    /** Claims whose number is even share, each always alike. */
    private List<String> call(int number) {
        int claim = random.nextInt(12);
        String id = "claim-" + claim;
        boolean shares = claim % 2 == 0;
        String units = claim % 4 == 0 ? "1" : "" + (1 + claim / 2);
        String most = claim % 4 == 0 ? WHOLE : "7";
        String who = id + " reactive-lock:0:grants:client-" + random.nextInt(3) + " owner of " + id;
        String lease = Long.toString(LEASE);
        return switch (random.nextInt(12)) {
            case 0, 1, 2 -> asks("claim", who, lease, shares ? List.of(units, most) : List.of());
            case 3 -> asks("await", who, lease, shares ? List.of(units, most) : List.of());
            case 4 -> asks("try", who, lease, shares ? List.of(units, most) : List.of());
            case 5, 6, 7 -> List.of("release", id);
            case 8 -> List.of("inspect");
            case 9 ->
                random.nextInt(6) == 0 ? List.of("watch", "reactive-lock:0:events:" + number % 2) : List.of("inspect");
            case 10 -> vote(who, lease, shares ? List.of(units, most) : List.of(WHOLE, WHOLE));
            default ->
                random.nextInt(8) == 0
                        ? List.of("raise", id, ahead(1_000_000), ahead(1_000_000))
                        : List.of(shares ? "renew-shares" : "renew", id, lease);
        };
    }

    /** A token that is so far ahead of the server's clock at most. */
    private String ahead(int most) {
        return "" + (micros - 1_577_836_800_000_000L + random.nextInt(most));
    }

    private List<String> vote(String who, String lease, List<String> share) {
        List<String> vote = new ArrayList<>(List.of("vote", who, lease));
        vote.add(random.nextBoolean() ? "QUEUE" : "TRY");
        vote.add("" + random.nextInt(1_000));
        vote.addAll(share);
        vote.add(random.nextInt(4) > 0 ? ahead(150_000) : "0");
        vote.add("0"); // no lease is longer: the server is counted at once
        return vote;
    }

    private static List<String> asks(String mode, String who, String lease, List<String> share) {
        return share.isEmpty()
                ? List.of(mode, who, lease)
                : List.of("share", who, lease, mode, share.get(0), share.get(1));
    }

    /** Equal, but for what is left of a lease and for who the server is. */
    private static void assertAlike(List<?> real, List<?> ours, String call) {
        boolean vote = call.contains("[vote,");
        assertThat(ours).as(call + ": " + real).hasSameSizeAs(real);
        for (int i = 0; i < real.size(); i++) {
            boolean server = vote && (i == 2 || i == 3);
            if (!server && !(isLeft(real.get(i)) && isLeft(ours.get(i)))) {
                assertThat(ours.get(i)).as("%s, %s beside %s", call, real, ours).isEqualTo(real.get(i));
            }
        }
    }

    /** Whether it may be what is left of a lease, which a real server takes from its own clock. */
    private static boolean isLeft(@Nullable Object answer) {
        return answer instanceof Long number && number > LEASE - TOLERANCE && number <= LEASE;
    }
}
