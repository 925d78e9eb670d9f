package io.github.reactivelock.lettuce;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisAddressContract;
import java.util.List;

class LettuceAddressTest extends RedisAddressContract {

    @Override
    protected LockBackend server(String uri) {
        return LettuceLockBackend.connect(uri);
    }

    @Override
    protected LockBackend sentinel(int port, String name) {
        return LettuceLockBackend.connect("redis-sentinel://127.0.0.1:" + port + "#" + name);
    }

    @Override
    protected LockBackend cluster(String uri) {
        return LettuceLockBackend.connectCluster(List.of(uri));
    }
}
