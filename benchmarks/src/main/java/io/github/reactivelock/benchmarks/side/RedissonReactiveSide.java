package io.github.reactivelock.benchmarks.side;

import org.redisson.Redisson;
import org.redisson.api.RLockReactive;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import reactor.core.publisher.Mono;

/** Redisson's lock through its publishers. */
final class RedissonReactiveSide implements Side {

    private final RedissonClient redisson;
    private final RedissonReactiveClient reactive;

    RedissonReactiveSide(String uri) {
        this.redisson = Redisson.create(RedissonAsyncSide.config(uri));
        this.reactive = redisson.reactive();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        RLockReactive lock = reactive.getLock("reactive:" + key);
        lock.lock(flow)
                .then(Mono.defer(() -> {
                    cycle.entered();
                    return lock.unlock(flow);
                }))
                .subscribe(nothing -> {}, cycle::ended, () -> cycle.ended(null));
    }

    @Override
    public void close() {
        redisson.shutdown();
    }
}
