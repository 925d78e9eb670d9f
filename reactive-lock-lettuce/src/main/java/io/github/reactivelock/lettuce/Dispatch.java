package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisBatch;
import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One command on its way, for one call or a batch. It names the script by digest first, and sends its body if the
 * server does not know it.
 */
final class Dispatch implements BiConsumer<List<Object>, Throwable> {

    private static final Logger log = LoggerFactory.getLogger(Dispatch.class);
    private static final String[] NONE = {};

    private final RedisClusterAsyncCommands<String, String> commands;
    private final List<Evaluation> calls;
    private final RedisScript script;
    private final String[] keys;
    private final String[] args;
    private boolean withBody;

    /** @param calls not empty; if there are several, they all {@linkplain Evaluation#joins join} and share a slot */
    Dispatch(RedisClusterAsyncCommands<String, String> commands, List<Evaluation> calls) {
        this.commands = commands;
        this.calls = calls;
        Evaluation first = calls.get(0);
        this.script = first.script;
        if (calls.size() == 1) {
            this.keys = first.keys.toArray(NONE);
            this.args = first.args.toArray(NONE);
        } else {
            RedisBatch batch = new RedisBatch();
            calls.forEach(call -> batch.add(call.keys, call.args));
            this.keys = batch.keys().toArray(NONE);
            this.args = batch.args().toArray(NONE);
        }
    }

    /** The caller handles what this throws. */
    void send() {
        commands.<List<Object>>evalsha(script.sha1(), ScriptOutputType.MULTI, keys, args)
                .whenComplete(this);
    }

    @Override
    public void accept(@Nullable List<Object> reply, @Nullable Throwable error) {
        if (error instanceof RedisNoScriptException && !withBody) {
            withBody = true;
            try {
                commands.<List<Object>>eval(script.body(), ScriptOutputType.MULTI, keys, args)
                        .whenComplete(this);
            } catch (Throwable e) {
                failed(calls, e);
            }
        } else if (error != null || reply == null) {
            failed(calls, error == null ? new RedisException("no answer to a script") : error);
        } else if (calls.size() == 1) {
            tell(calls.get(0), () -> calls.get(0).answered(reply));
        } else {
            for (int i = 0; i < calls.size(); i++) {
                Evaluation call = calls.get(i);
                Object answer = i < reply.size() ? reply.get(i) : "ERR no answer to this call of several";
                tell(call, () -> answered(call, answer));
            }
        }
    }

    /** A caller that throws does not keep the others from their answers. */
    private static void tell(Evaluation call, Runnable news) {
        try {
            news.run();
        } catch (Throwable e) {
            log.error("an answer could not be handled, about the keys {}; please report this", call.keys, e);
        }
    }

    @SuppressWarnings("unchecked") // an array of the script's
    private static void answered(Evaluation call, Object reply) {
        if (reply instanceof List<?> answer) {
            call.answered((List<Object>) answer);
            return;
        }
        if (reply instanceof Long number) {
            call.answered(List.of(number));
            return;
        }
        call.failed(new RedisCommandExecutionException(String.valueOf(reply)));
    }

    static void failed(List<Evaluation> calls, Throwable error) {
        calls.forEach(call -> tell(call, () -> call.failed(error)));
    }
}
