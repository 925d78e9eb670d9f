package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class LettuceLockBackendContractTest extends LockBackendContract {

    private static RedisServer server;
    private static TcpProxy proxy;
    private static RedisClient client;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        proxy = TcpProxy.to(server.port());
        client = RedisClient.create(server.uri());
    }

    @AfterAll
    static void stop() {
        client.shutdown();
        proxy.close();
        server.close();
    }

    @Override
    protected LockBackend newBackend() {
        return LettuceLockBackend.connect(server.uri());
    }

    @Override
    protected int cancelRaces() {
        return 10_000;
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(new Lent(
                LettuceLockBackend.using(client, RedisURI.create(server.uri())),
                () -> client.connect().sync().ping().equals("PONG")));
    }

    @Override
    protected Line line() {
        return new Line(LettuceLockBackend.connect("redis://127.0.0.1:" + proxy.port()), proxy::cut, proxy::mend);
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
        assertThat(left.stream().map(String::valueOf))
                .as("only token counters and marks of watchers outlive a lock")
                .filteredOn(name -> !name.endsWith("}:token"))
                .isEmpty();
    }
}
