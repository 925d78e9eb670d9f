package io.github.reactivelock.vertx;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisAddressContract;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import org.junit.jupiter.api.AfterAll;

class VertxAddressTest extends RedisAddressContract {

    private final Vertx vertx = Vertx.vertx();

    @AfterAll
    void closeVertx() {
        Fixture.get(vertx.close());
    }

    @Override
    protected LockBackend server(String uri) {
        return VertxLockBackend.connect(vertx, uri);
    }

    @Override
    protected LockBackend sentinel(int port, String name) {
        return VertxLockBackend.connect(
                vertx,
                new RedisOptions()
                        .setType(RedisClientType.SENTINEL)
                        .setMasterName(name)
                        .setConnectionString("redis://127.0.0.1:" + port));
    }

    @Override
    protected LockBackend cluster(String uri) {
        return VertxLockBackend.connect(
                vertx, new RedisOptions().setType(RedisClientType.CLUSTER).setConnectionString(uri));
    }
}
