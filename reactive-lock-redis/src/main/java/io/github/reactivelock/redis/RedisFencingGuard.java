package io.github.reactivelock.redis;

import io.github.reactivelock.spi.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Mono;

/**
 * Lets Redis itself refuse a write by somebody whose lock has passed on. Every guarded write to a key carries the fencing
 * token of its hold; the newest token is kept beside the key, and a write with an older one changes nothing:
 *
 * <pre>{@code
 * lock.withLock("account:7", held -> guard.write("account:7", held.fencingToken(), "SET", "99"));
 * }</pre>
 *
 * <p>The token stays in {@code {KEY}:fence} for as long as nobody deletes it; without it an old token would pass again.
 * It helps only if every writer of the key goes through a guard.
 */
public final class RedisFencingGuard {

    private static final RedisScript SCRIPT = RedisScript.load("guard.lua");

    private final RedisConnection connection;

    RedisFencingGuard(RedisConnection connection) {
        this.connection = connection;
    }

    /**
     * Runs one command on a key, in one step with the look at its token. Cold; each subscription is a write of its own.
     * Cancelling does not take a command back that was sent.
     *
     * @param key the key to write to
     * @param fencingToken the token of the hold that allows it
     * @param command a command whose first argument is a key, such as {@code SET}, {@code HSET} or {@code INCRBY}
     * @param arguments what follows the key
     * @return what Redis answered, as text; empty if that was nil; {@link StaleTokenException} if a newer token was seen
     */
    public Mono<String> write(String key, long fencingToken, String command, String... arguments) {
        Objects.requireNonNull(key, "key");
        if (fencingToken <= 0) {
            throw new IllegalArgumentException("not a fencing token: " + fencingToken);
        }
        List<String> args = new ArrayList<>(List.of(Long.toString(fencingToken), command));
        args.addAll(List.of(arguments));
        return connection
                .eval(SCRIPT, List.of(key, tokenKey(key)), args)
                .onErrorMap(error -> RedisFailure.explain(connection, key, error))
                .flatMap(answer -> read(key, fencingToken, answer));
    }

    private static Mono<String> read(String key, long fencingToken, List<Object> answer) {
        if (Objects.equals(answer.get(0), 0L)) {
            long newest = Long.parseLong(String.valueOf(answer.get(1)));
            return Mono.error(new StaleTokenException("'" + key + "'", fencingToken, newest));
        }
        return answer.size() < 2
                ? Mono.empty()
                : Mono.justOrEmpty(answer.get(1)).map(String::valueOf);
    }

    /** In the same slot of a cluster as the key, whose hash tag it repeats or becomes. */
    static String tokenKey(String key) {
        int open = key.indexOf('{');
        int close = open < 0 ? -1 : key.indexOf('}', open);
        boolean isTagged = close > open + 1;
        return isTagged ? key + ":fence" : "{" + key + "}:fence";
    }
}
