package io.github.reactivelock.benchmarks;

import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's lock, which blocks: every flow has a thread. */
final class SpringSide implements Side {

    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    SpringSide(String uri) {
        URI address = URI.create(uri);
        this.connections = new LettuceConnectionFactory(address.getHost(), address.getPort());
        connections.afterPropertiesSet();
        connections.start();
        this.registry = new RedisLockRegistry(connections, "spring");
        registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        threads.execute(() -> {
            Throwable failure = null;
            try {
                Lock lock = registry.obtain(key);
                lock.lock();
                try {
                    cycle.entered();
                } finally {
                    lock.unlock();
                }
            } catch (RuntimeException e) {
                failure = e;
            }
            cycle.ended(failure);
        });
    }

    @Override
    public void close() {
        threads.shutdownNow();
        registry.destroy();
        connections.destroy();
    }
}
