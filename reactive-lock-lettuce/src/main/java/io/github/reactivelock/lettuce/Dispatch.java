package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisBatch;
import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One command on its way, for one call or a batch: by digest at first, and by the script's body if the server does not know it. */
final class Dispatch implements BiConsumer<List<Object>, Throwable> {

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

    void send() {
        try {
            commands.<List<Object>>evalsha(script.sha1(), ScriptOutputType.MULTI, keys, args)
                    .whenComplete(this);
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    @Override
    public void accept(@Nullable List<Object> reply, @Nullable Throwable error) {
        if (error instanceof RedisNoScriptException && !withBody) {
            withBody = true;
            commands.<List<Object>>eval(script.body(), ScriptOutputType.MULTI, keys, args)
                    .whenComplete(this);
        } else if (error != null || reply == null) {
            failed(error == null ? new RedisException("no answer to a script") : error);
        } else if (calls.size() == 1) {
            calls.get(0).answered(reply);
        } else {
            for (int i = 0; i < calls.size(); i++) {
                answered(calls.get(i), reply.get(i));
            }
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
        String error = String.valueOf(reply);
        call.failed(
                error.startsWith("READONLY")
                        ? new RedisReadOnlyException(error)
                        : new RedisCommandExecutionException(error));
    }

    private void failed(Throwable error) {
        calls.forEach(call -> call.failed(error));
    }
}
