package io.github.reactivelock.examples.flashsale;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import java.util.Locale;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/**
 * One sale as the holder of one fencing token sees it: a hash with the stock that is left and a receipt for each buyer
 * who got a ticket. Every command first shows the token. The sale refuses a token lower than the highest it has seen,
 * so that a write that was under way when its lock was lost cannot arrive after the next holder has read.
 */
final class Sale {

    static final String LEFT = "left";
    static final String RECEIPT = "receipt:";

    /**
     * Knows nothing about stock: it only tells early from late. It compares tokens as strings of equal length, because
     * Lua's numbers are too small for them.
     */
    private static final String GUARD = """
            if (redis.call('HGET', KEYS[1], 'token') or '') > ARGV[1] then
              return redis.error_reply('STALE a later holder was here')
            end
            redis.call('HSET', KEYS[1], 'token', ARGV[1])
            return redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
            """;

    private final RedisReactiveCommands<String, String> redis;
    private final String[] key;
    private final String token;

    Sale(RedisReactiveCommands<String, String> redis, String key, long fencingToken) {
        this.redis = redis;
        this.key = new String[] {key};
        this.token = String.format(Locale.ROOT, "%019d", fencingToken);
    }

    Mono<Integer> left() {
        return this.<String>guarded(ScriptOutputType.VALUE, "HGET", LEFT).map(Integer::valueOf);
    }

    Mono<Boolean> hasReceipt(int buyer) {
        return this.<String>guarded(ScriptOutputType.VALUE, "HGET", RECEIPT + buyer)
                .hasElement();
    }

    /** One atomic write of stock and receipt: a process that is killed leaves both or neither. */
    Mono<Void> write(int left, int buyer, int ticket) {
        return this.<Long>guarded(ScriptOutputType.INTEGER, "HSET", LEFT, "" + left, RECEIPT + buyer, "" + ticket)
                .then();
    }

    private <T> Mono<T> guarded(ScriptOutputType type, String command, String... arguments) {
        String[] all =
                Stream.concat(Stream.of(token, command), Stream.of(arguments)).toArray(String[]::new);
        return redis.<T>eval(GUARD, type, key, all).next();
    }
}
