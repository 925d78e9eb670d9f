package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.MonoSink;

/** One call of a script on its way: by digest at first, and by its body if the server does not know the digest. */
final class Evaluation implements BiConsumer<List<Object>, Throwable>, Disposable {

    // Commands pile up while there is no connection; what is refused then would have come too late anyway.
    private static final int MOST_UNANSWERED = 200_000;
    private static final String[] NONE = {};

    private final RedisScript script;
    private final String[] keys;
    private final String[] args;
    private final MonoSink<List<Object>> sink;
    private final AtomicInteger unanswered;
    private final Runnable demoted;
    private volatile boolean forgotten;
    private @Nullable RedisClusterAsyncCommands<String, String> commands;
    private boolean withBody;

    Evaluation(
            RedisScript script,
            List<String> keys,
            List<String> args,
            MonoSink<List<Object>> sink,
            AtomicInteger unanswered,
            Runnable demoted) {
        this.script = script;
        this.keys = keys.toArray(NONE);
        this.args = args.toArray(NONE);
        this.sink = sink;
        this.unanswered = unanswered;
        this.demoted = demoted;
    }

    <C extends StatefulConnection<String, String>> void start(
            LazyConnection<C> connection, Source<C> source, Outbox outbox) {
        if (unanswered.incrementAndGet() > MOST_UNANSWERED) {
            fail(new RedisException(MOST_UNANSWERED + " commands wait for an answer already"));
        } else {
            connection.use(
                    open -> {
                        commands = source.scripts(open);
                        outbox.send(this);
                    },
                    this::fail);
        }
    }

    /** Called by the outbox. */
    void send() {
        try {
            Objects.requireNonNull(commands)
                    .<List<Object>>evalsha(script.sha1(), ScriptOutputType.MULTI, keys, args)
                    .whenComplete(this);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    @Override
    public void accept(@Nullable List<Object> reply, @Nullable Throwable error) {
        if (error instanceof RedisNoScriptException && !withBody && commands != null) {
            withBody = true;
            commands.<List<Object>>eval(script.body(), ScriptOutputType.MULTI, keys, args)
                    .whenComplete(this);
            return;
        }
        if (error != null) {
            fail(error);
        } else {
            unanswered.decrementAndGet();
            sink.success(reply);
        }
    }

    private void fail(Throwable error) {
        unanswered.decrementAndGet();
        if (error instanceof RedisReadOnlyException) {
            demoted.run();
        }
        if (!forgotten) {
            sink.error(error);
        }
    }

    /** The subscriber lost interest; the command goes its way. */
    @Override
    public void dispose() {
        forgotten = true;
    }
}
