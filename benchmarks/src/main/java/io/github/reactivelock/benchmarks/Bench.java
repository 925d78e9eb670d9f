package io.github.reactivelock.benchmarks;

import org.jspecify.annotations.Nullable;

/** What scenarios run on: the servers, started when they are first needed, and the pace. */
final class Bench implements AutoCloseable {

    private final Pace pace;
    private @Nullable RedisServer redis;

    Bench(Pace pace) {
        this.pace = pace;
    }

    Pace pace() {
        return pace;
    }

    RedisServer redis() {
        RedisServer started = redis;
        if (started == null) {
            started = new RedisServer();
            redis = started;
        }
        return started;
    }

    @Override
    public void close() {
        if (redis != null) {
            redis.close();
        }
    }
}
