package io.github.reactivelock.lettuce;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisAddressContract;
import java.util.List;

class LettuceAddressTest extends RedisAddressContract {

    /**
     * What a server has to say may come late on a busy machine; the engine waits ten seconds for a first connection.
     */
    private static String patient(String uri) {
        return uri + "?timeout=9s";
    }

    @Override
    protected LockBackend server(String uri) {
        return LettuceLockBackend.connect(patient(uri));
    }

    @Override
    protected LockBackend sentinel(int port, String name) {
        return LettuceLockBackend.connect(patient("redis-sentinel://127.0.0.1:" + port) + "#" + name);
    }

    @Override
    protected LockBackend cluster(String uri) {
        return LettuceLockBackend.connectCluster(List.of(patient(uri)));
    }
}
