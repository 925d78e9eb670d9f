package io.github.reactivelock.benchmarks.side;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;

/** Two round trips and nothing else: no lock with a confirmed release can be faster. */
final class PingSide implements Side {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisAsyncCommands<String, String> redis;

    PingSide(String uri) {
        this.client = RedisClient.create(uri);
        this.connection = client.connect();
        this.redis = connection.async();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        redis.ping()
                .thenCompose(pong -> {
                    cycle.entered();
                    return redis.ping();
                })
                .whenComplete((pong, failure) -> cycle.ended(failure));
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
