package io.github.reactivelock.benchmarks.side;

import org.redisson.Redisson;
import org.redisson.api.RLockAsync;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks through its futures. It passes a flow's number where Redisson expects a thread id. */
public final class RedissonAsyncSide implements Side {

    /** Which of its locks. */
    enum Kind {
        PLAIN,
        FAIR,
        FENCED
    }

    private final RedissonClient redisson;
    private final Kind kind;

    RedissonAsyncSide(String uri, Kind kind) {
        this.redisson = Redisson.create(config(uri));
        this.kind = kind;
    }

    /** All other settings keep their defaults. */
    public static Config config(String uri) {
        Config config = new Config();
        config.useSingleServer().setAddress(uri);
        return config;
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        RLockAsync lock = lock(key);
        lock.lockAsync(flow)
                .thenCompose(nothing -> {
                    cycle.entered();
                    return lock.unlockAsync(flow);
                })
                .whenComplete((nothing, failure) -> cycle.ended(failure));
    }

    @Override
    public void hold(String key, long flow, Cycle cycle) {
        lock(key).lockAsync(flow).whenComplete((nothing, failure) -> {
            if (failure == null) {
                cycle.entered();
            } else {
                cycle.ended(failure);
            }
        });
    }

    private RLockAsync lock(String key) {
        return switch (kind) {
            case PLAIN -> redisson.getLock("plain:" + key);
            case FAIR -> redisson.getFairLock("fair:" + key);
            case FENCED -> redisson.getFencedLock("fenced:" + key);
        };
    }

    @Override
    public void close() {
        redisson.shutdown();
    }
}
