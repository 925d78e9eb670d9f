package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
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
import reactor.core.publisher.Flux;

/** Three primaries, each with a replica. */
class VertxClusterContractTest extends LockBackendContract {

    private static RedisCluster cluster;
    private static Vertx vertx;
    private static Redis client;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(3, 1);
        vertx = Vertx.vertx();
        client = Redis.createClient(vertx, options());
    }

    @AfterAll
    static void stop() {
        vertx.close().await();
        cluster.close();
    }

    /** Connected to every primary, since some cases allow their questions little time. */
    @Override
    protected LockBackend newBackend() {
        LockBackend backend = VertxLockBackend.connect(vertx, options());
        assertThat(Flux.range(0, 12)
                        .flatMap(i -> backend.inspect("warm up " + i))
                        .blockLast(Duration.ofSeconds(60)))
                .isNotNull();
        assertThat(backend.signals().blockFirst(Duration.ofSeconds(60))).isNotNull();
        return backend;
    }

    private static RedisOptions options() {
        RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
        cluster.uris().forEach(options::addConnectionString);
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
        for (RedisServer primary : cluster.nodes().subList(0, 3)) {
            List<?> left = (List<?>) primary.command("KEYS", "*");
            assertThat(left.stream().map(String::valueOf))
                    .filteredOn(name -> !name.endsWith("}:token"))
                    .isEmpty();
        }
    }
}
