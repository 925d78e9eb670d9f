package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * Runs scripts on a connection of its own and makes replicas acknowledge the writes. {@code WAIT} vouches for the
 * writes of its connection: one that Lettuce sent again after a reconnection vouches for nothing, so its answer does
 * not count.
 */
final class ReplicaWait<C extends StatefulConnection<String, String>> implements RedisConnectionStateListener {

    private static final String[] NONE = {};

    private final ConnectionSource<C> source;
    private final LazyConnection<C> connection;
    private final AtomicInteger interruptions = new AtomicInteger();

    ReplicaWait(ConnectionSource<C> source) {
        this.source = source;
        this.connection = new LazyConnection<>(() -> source.commands().thenApply(open -> {
            open.addListener(this);
            return open;
        }));
    }

    Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args, int replicas, Duration timeout) {
        String[] keyArray = keys.toArray(NONE);
        String[] argArray = args.toArray(NONE);
        return Mono.create(sink -> {
            Disposable.Swap cancel = Disposables.swap();
            sink.onCancel(cancel);
            connection.use(
                    open -> {
                        if (cancel.isDisposed()) { // before anything was sent that would be in the way of others
                            return;
                        }
                        // Only this class uses the connection, so a call that gives up drops it, and Lettuce opens it
                        // anew.
                        cancel.update(() -> PingWatchdog.drop(open, source.scripts(open)));
                        RedisClusterAsyncCommands<String, String> commands = source.scripts(open);
                        int before = interruptions.get();
                        run(commands, script, keyArray, argArray)
                                .thenCompose(reply -> commands.waitForReplication(replicas, timeout.toMillis())
                                        .thenApply(have -> answer(reply, have, before)))
                                .whenComplete((answer, error) -> {
                                    if (error == null) {
                                        sink.success(answer);
                                    } else {
                                        sink.error(error);
                                    }
                                });
                    },
                    sink::error);
        });
    }

    CompletionStage<Void> close() {
        return connection.close();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
        interruptions.incrementAndGet();
    }

    private static CompletionStage<List<Object>> run(
            RedisClusterAsyncCommands<String, String> commands, RedisScript script, String[] keys, String[] args) {
        return commands.<List<Object>>evalsha(script.sha1(), ScriptOutputType.MULTI, keys, args)
                .exceptionallyCompose(error -> error instanceof RedisNoScriptException
                        ? commands.eval(script.body(), ScriptOutputType.MULTI, keys, args)
                        : CompletableFuture.failedFuture(error));
    }

    private List<Object> answer(List<Object> reply, Long have, int before) {
        if (interruptions.get() != before) {
            throw new RedisException("the connection broke while replicas were waited for");
        }
        List<Object> both = new ArrayList<>(reply);
        both.add(have);
        return both;
    }
}
