package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisSentinel;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A primary with a replica and three sentinels. */
class VertxSentinelContractTest extends LockBackendContract {

    private static RedisSentinel set;
    private static Vertx vertx;
    private static Redis client;

    @BeforeAll
    static void start() {
        set = RedisSentinel.start(1);
        vertx = Vertx.vertx();
        client = Redis.createClient(vertx, options());
    }

    @AfterAll
    static void stop() {
        vertx.close().await();
        set.close();
    }

    /** Connected, since some cases allow their questions little time. */
    @Override
    protected LockBackend newBackend() {
        LockBackend backend = VertxLockBackend.connect(vertx, options());
        assertThat(backend.inspect("warm up").block(Duration.ofSeconds(60))).isNotNull();
        return backend;
    }

    private static RedisOptions options() {
        RedisOptions options =
                new RedisOptions().setType(RedisClientType.SENTINEL).setMasterName(RedisSentinel.NAME);
        set.sentinels().forEach(sentinel -> options.addConnectionString(sentinel.uri()));
        return options;
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(new Lent(
                VertxLockBackend.using(vertx, client, options()),
                () -> client.send(Request.cmd(Command.PING)).await().toString().equals("PONG")));
    }

    @Override
    protected void assertStoreIsClean() {
        List<?> left = (List<?>) set.primary().command("KEYS", "*");
        assertThat(left.stream().map(String::valueOf))
                .filteredOn(name -> !name.endsWith("}:token"))
                .isEmpty();
    }
}
