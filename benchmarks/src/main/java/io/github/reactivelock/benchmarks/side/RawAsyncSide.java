package io.github.reactivelock.benchmarks.side;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.CompletionStage;

/** A {@link RawLock} over Lettuce's futures. */
final class RawAsyncSide implements Side {

    private static final SetArgs IF_FREE = SetArgs.Builder.nx().px(RawLock.LEASE_MILLIS);

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> redis;
    private final boolean script;
    private final String acquire;
    private final String release;

    RawAsyncSide(String uri, RawLock lock) {
        this.client = RedisClient.create(uri);
        this.connection = client.connect();
        this.redis = connection.async();
        this.script = lock.isScript();
        this.acquire = script ? connection.sync().scriptLoad(lock.acquire()) : "";
        this.release = connection.sync().scriptLoad(lock.release());
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        String[] keys = RawLock.keys(key);
        String id = Long.toString(flow);
        acquire(keys, id)
                .thenCompose(token -> {
                    cycle.entered();
                    return redis.<Long>evalsha(release, ScriptOutputType.INTEGER, new String[] {keys[0]}, id);
                })
                .whenComplete((deleted, failure) -> cycle.ended(failure));
    }

    private CompletionStage<?> acquire(String[] keys, String id) {
        return script
                ? redis.<Long>evalsha(acquire, ScriptOutputType.INTEGER, keys, id, Long.toString(RawLock.LEASE_MILLIS))
                : redis.set(keys[0], id, IF_FREE);
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
