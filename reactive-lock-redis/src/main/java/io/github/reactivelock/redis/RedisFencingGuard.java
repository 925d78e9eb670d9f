package io.github.reactivelock.redis;

import io.github.reactivelock.state.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;

/**
 * Lets Redis itself refuse a write by a former holder. Every guarded write to a key carries the fencing
 * token of its hold; the newest token is kept beside the key, and a write with an older one changes nothing:
 *
 * <pre>{@code
 * lock.withLock("account:7", held -> guard.write("account:7", held.fencingToken(), "SET", "99"));
 * }</pre>
 *
 * <p>The token stays in a key of its own in the same slot, {@code {KEY}:fence} for a key without braces, until that is
 * deleted; then an old token would pass again. Where {@linkplain RedisBackendOptions#withPrefix the prefix} has a
 * colon, the prefix and {@code !fence:} stand before that. It helps only if every writer of the key goes through a
 * guard.
 */
public final class RedisFencingGuard {

    private static final RedisScript SCRIPT = RedisScript.load("guard.lua");
    private static final Pattern TOKEN_KEY =
            Pattern.compile("([A-Za-z0-9._:-]+!fence:)?\\{[^}]+}:fence(:.*)?", Pattern.DOTALL);

    private final RedisConnection connection;
    private final String prefix;

    /** @param prefix of the backend's names */
    RedisFencingGuard(RedisConnection connection, String prefix) {
        this.connection = connection;
        this.prefix = prefix;
    }

    /**
     * Runs one command on a key, in one step with the look at its token. Cold; each subscription is a write of its own.
     * Cancelling does not take a command back that was sent.
     *
     * @param key the key to write to; not one of the form in which tokens are kept
     * @param fencingToken the token of the hold that allows it
     * @param command a command whose first argument is a key, such as {@code SET}, {@code HSET} or {@code INCRBY}
     * @param arguments what follows the key
     * @return what Redis answered, as text; empty if that was nil; {@link StaleTokenException} if a newer token was
     *     seen
     */
    public Mono<String> write(String key, long fencingToken, String command, String... arguments) {
        return run(key, fencingToken, "", command, arguments);
    }

    /**
     * As {@link #write}, by one of several that share the lock. It is refused if the token of a later hold of the whole
     * was seen, and is not remembered itself, so that those who share do not refuse one another.
     *
     * @param key the key to write to; not one of the form in which tokens are kept
     * @param fencingToken the token of the hold that allows it
     * @param command a command whose first argument is a key
     * @param arguments what follows the key
     * @return what Redis answered, as text; empty if that was nil; {@link StaleTokenException} if a newer token was
     *     seen
     */
    public Mono<String> writeShared(String key, long fencingToken, String command, String... arguments) {
        return run(key, fencingToken, "=", command, arguments);
    }

    private Mono<String> run(String key, long fencingToken, String kind, String command, String... arguments) {
        Objects.requireNonNull(key, "key");
        if (TOKEN_KEY.matcher(key).matches()) {
            throw new IllegalArgumentException(
                    "'" + key + "' has the form of a key in which a guard keeps tokens; write to another key");
        }
        if (fencingToken <= 0) {
            throw new IllegalArgumentException("not a fencing token: " + fencingToken);
        }
        List<String> args = new ArrayList<>(List.of(kind + fencingToken, command));
        args.addAll(List.of(arguments));
        String token = KeyLayout.fences(prefix) + tokenKey(key);
        return connection
                .eval(SCRIPT, List.of(key, token), args)
                .onErrorMap(error -> RedisFailure.guarded(connection, key, token, command, error))
                .flatMap(answer -> read(key, fencingToken, answer))
                .onErrorStop();
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

    /**
     * A key for each key, in the same slot of a cluster: beside the key's own hash tag, or with the key as its tag. A
     * key without a tag that cannot be one, because it has a closing brace, gets a number that hashes to its slot.
     */
    static String tokenKey(String key) {
        String tag = HashSlot.tag(key);
        if (tag == null && key.indexOf('}') < 0) {
            return "{" + key + "}:fence";
        }
        String inSlot = tag == null ? numberIn(HashSlot.of(key)) : tag;
        return "{" + inSlot + "}:fence:" + KeyLayout.escape(key);
    }

    private static String numberIn(int slot) {
        int number = 0;
        while (HashSlot.of(Integer.toString(number)) != slot) {
            number++;
        }
        return Integer.toString(number);
    }
}
