package io.github.reactivelock.benchmarks.side;

import java.util.List;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's lock over several servers, a majority of which decides, through its futures. */
final class RedLockSide implements Side {

    private final List<RedissonClient> nodes;

    RedLockSide(String uris) {
        this.nodes = Stream.of(uris.split(",", -1))
                .map(uri -> Redisson.create(RedissonAsyncSide.config(uri)))
                .toList();
    }

    @Override
    @SuppressWarnings("deprecation") // what it deprecates has no other form over several servers
    public void cycle(String key, long flow, Cycle cycle) {
        RedissonRedLock lock = new RedissonRedLock(
                nodes.stream().map(node -> node.getLock("red:" + key)).toArray(RLock[]::new));
        lock.lockAsync(flow)
                .thenCompose(nothing -> {
                    cycle.entered();
                    return lock.unlockAsync(flow);
                })
                .whenComplete((nothing, failure) -> cycle.ended(failure));
    }

    @Override
    public void close() {
        nodes.forEach(RedissonClient::shutdown);
    }
}
