package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisBatch;
import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One command on its way, for one call or a batch. It names the script by digest first, and sends its body if the
 * server does not know it.
 */
final class Dispatch implements BiConsumer<List<Object>, Throwable> {

    private final RedisClusterAsyncCommands<String, String> commands;
    private final List<Evaluation> calls;
    private final RedisScript script;
    private final RedisBatch batch;
    private final List<CountedArgs> sent = new ArrayList<>(1);
    private boolean withBody;

    /** @param calls not empty; if there are several, they all {@linkplain Evaluation#joins join} */
    Dispatch(RedisClusterAsyncCommands<String, String> commands, List<Evaluation> calls) {
        this.commands = commands;
        this.calls = calls;
        this.script = calls.get(0).script();
        this.batch = RedisBatch.of(calls);
    }

    /** The caller handles what this throws. */
    void send() {
        send(CommandType.EVALSHA, script.sha1());
    }

    private void send(CommandType command, String name) {
        CountedArgs words = new CountedArgs();
        words.add(name).add(batch.keys().size()).addKey(batch.keys().get(0)); // by which a cluster finds the server
        for (int i = 1; i < batch.keys().size(); i++) {
            words.add(batch.keys().get(i).getBytes(StandardCharsets.UTF_8));
        }
        for (String arg : batch.args()) {
            words.add(arg.getBytes(StandardCharsets.UTF_8));
        }
        sent.add(words);
        commands.dispatch(command, new NestedMultiOutput<>(Utf8.CODEC), words).whenComplete(this);
    }

    @Override
    public void accept(@Nullable List<Object> reply, @Nullable Throwable error) {
        if (error instanceof RedisNoScriptException && !withBody) {
            withBody = true;
            try {
                send(CommandType.EVAL, script.body());
            } catch (Throwable e) {
                failed(calls, e);
            }
        } else if (error != null || reply == null) {
            failed(calls, error == null ? new RedisException("no answer to a script") : error);
        } else if (calls.size() == 1) {
            calls.get(0).tell(() -> answered(calls.get(0), reply));
        } else {
            for (int i = 0; i < calls.size(); i++) {
                Evaluation call = calls.get(i);
                Object answer = i < reply.size() ? reply.get(i) : "ERR no answer to this call of several";
                call.tell(() -> answered(call, answer));
            }
        }
    }

    @SuppressWarnings("unchecked") // an array of the script's
    private void answered(Evaluation call, Object reply) {
        if (!(reply instanceof List<?>) && !(reply instanceof Long)) {
            call.failed(new RedisCommandExecutionException(String.valueOf(reply)));
            return;
        }
        List<Object> answer = reply instanceof List<?> array ? (List<Object>) array : List.of(reply);
        if (isRepeated() && RedisBatch.isOpen(call.args(), answer)) {
            call.failed(RedisBatch.open());
        } else {
            call.answered(answer);
        }
    }

    private boolean isRepeated() {
        for (CountedArgs words : sent) {
            if (words.isRepeated()) {
                return true;
            }
        }
        return false;
    }

    static void failed(List<Evaluation> calls, Throwable error) {
        calls.forEach(call -> call.tell(() -> call.failed(error)));
    }
}
