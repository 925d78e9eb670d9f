package io.github.reactivelock.redis;

import java.util.List;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call of a script, from its subscription to its answer; a connection extends it by what its driver needs. */
public abstract class RedisCall {

    private static final Logger log = LoggerFactory.getLogger(RedisCall.class);

    private final RedisScript script;
    private final List<String> keys;
    private final List<String> args;

    /**
     * A call that is not sent yet.
     *
     * @param script what it runs
     * @param keys the names of keys that it is about
     * @param args its arguments
     */
    protected RedisCall(RedisScript script, List<String> keys, List<String> args) {
        this.script = script;
        this.keys = keys;
        this.args = args;
    }

    /** {@return what it runs} */
    public final RedisScript script() {
        return script;
    }

    /** {@return the names of keys that it is about} */
    public final List<String> keys() {
        return keys;
    }

    /** {@return its arguments} */
    public final List<String> args() {
        return args;
    }

    /**
     * Whether the call can leave in one command with those that came directly before it, which the server then carries
     * out in this order. Never throws: one that cannot be examined goes alone, and fails alone.
     *
     * @param before not empty; those that join one another already
     * @param slots the part of the store that a key lives in, {@link RedisConnection#slot}
     * @return false if it needs a command of its own
     */
    public final boolean joins(List<? extends RedisCall> before, ToIntFunction<String> slots) {
        try {
            RedisCall first = before.get(0);
            return before.size() < RedisBatch.MOST_CALLS
                    && (before.size() > 1 || RedisBatch.takes(first.script, first.args))
                    && RedisBatch.takes(script, args)
                    && slots.applyAsInt(first.keys.get(0)) == slots.applyAsInt(keys.get(0));
        } catch (Throwable e) { // an Error too, or those before it would wait for ever
            return false;
        }
    }

    /**
     * Hands an answer to the caller. One that throws does not keep other calls of the command from their answers.
     *
     * @param news may throw
     */
    public final void tell(Runnable news) {
        try {
            news.run();
        } catch (Throwable e) {
            log.error("an answer could not be handled, about the keys {}; please report this", keys, e);
        }
    }
}
