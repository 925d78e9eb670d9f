package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class VertxLockBackendContractTest extends LockBackendContract {

    private static RedisServer server;
    private static TcpProxy proxy;
    private static Vertx vertx;
    private static RedisOptions options;
    private static Redis client;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        proxy = TcpProxy.to(server.port());
        vertx = Vertx.vertx();
        options = new RedisOptions().setConnectionString(server.uri());
        client = Redis.createClient(vertx, options);
        Fixture.warmUp(vertx, server.uri());
        server.command("FLUSHALL");
    }

    @AfterAll
    static void stop() {
        vertx.close().await();
        proxy.close();
        server.close();
    }

    @Override
    protected LockBackend newBackend() {
        return VertxLockBackend.connect(vertx, server.uri());
    }

    @Override
    protected int cancelRaces() {
        return 10_000;
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(new Lent(
                VertxLockBackend.using(vertx, client, options),
                () -> client.send(Request.cmd(Command.PING)).await().toString().equals("PONG")));
    }

    @Override
    protected Line line() {
        return new Line(VertxLockBackend.connect(vertx, "redis://127.0.0.1:" + proxy.port()), proxy::cut, proxy::mend);
    }

    /** Something else stands in the place of the owner and of the queue. */
    @Override
    protected Runnable spoil(String key) {
        String owner = "{reactivelock:" + key + "}";
        server.command("DEL", owner, owner + ":queue");
        server.command("RPUSH", owner, "x");
        server.command("SET", owner + ":queue", "x");
        return () -> server.command("DEL", owner, owner + ":queue", owner + ":waiters");
    }

    @Override
    protected void assertStoreIsClean() {
        List<?> left = (List<?>) server.command("KEYS", "*");
        assertThat(left)
                .as("only token counters and the marks of watchers outlive a lock, for a while")
                .allSatisfy(name -> assertThat((String) name).matches(".*}:(token|watch)"));
    }
}
