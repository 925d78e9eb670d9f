package io.github.reactivelock.benchmarks.side;

import java.net.URI;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's lock. */
final class SpringSide extends BlockingSide {

    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;

    SpringSide(String uri) {
        URI address = URI.create(uri);
        this.connections = new LettuceConnectionFactory(address.getHost(), address.getPort());
        connections.afterPropertiesSet();
        connections.start();
        this.registry = new RedisLockRegistry(connections, "spring");
        registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
    }

    @Override
    void locked(String key, Cycle cycle) {
        locked(registry.obtain(key), cycle);
    }

    @Override
    public void close() {
        super.close();
        registry.destroy();
        connections.destroy();
    }
}
