package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.Tls;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;

/** Several servers that speak TLS only, and ask for a password. */
class SeveralServersTlsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String PASSWORD = "marker-8f3a-password";

    @TempDir
    private static Path directory;

    private static Tls tls;

    private final Vertx vertx = Vertx.vertx();
    private final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    static void makeACertificate() {
        tls = Tls.in(directory);
    }

    @AfterEach
    void close() {
        Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(PATIENCE);
        vertx.close().await();
    }

    @Test
    void aSetWithSentinelsIsReachedAndFollowed() {
        try (RedisSentinel set = RedisSentinel.start(1, tls.redis(PASSWORD))) {
            RedisOptions options =
                    options(RedisClientType.SENTINEL, set.sentinels(), PASSWORD).setMasterName(RedisSentinel.NAME);
            LockClient one = client(options);
            LockClient other = client(options);
            oneServesTheOther(one, other);

            RedisServer first = set.primary();
            first.kill();
            eventually("a replica is the primary", () -> set.primary() != first);

            oneServesTheOther(one, other);
            assertRefused(new RedisOptions(options).setPassword(PASSWORD + "wrong"));
        }
    }

    @Test
    void aPrimaryAmongItsReplicasIsReached() {
        try (RedisServer first = RedisServer.start(tls.redis(PASSWORD));
                RedisServer second = RedisServer.start(replicaOf(first))) {
            eventually("the replica is in step", () -> ((List<?>) second.command("ROLE")).contains("connected"));
            RedisOptions options = options(RedisClientType.REPLICATION, List.of(first, second), PASSWORD);

            oneServesTheOther(client(options), client(options));
        }
    }

    @Test
    void aClusterIsReached() {
        try (RedisCluster cluster = RedisCluster.start(3, 0, tls.redis(PASSWORD))) {
            RedisOptions options = options(RedisClientType.CLUSTER, cluster.nodes(), PASSWORD);

            oneServesTheOther(client(options), client(options));
            assertRefused(new RedisOptions(options).setPassword(PASSWORD + "wrong"));
        }
    }

    private static String[] replicaOf(RedisServer primary) {
        List<String> config = new ArrayList<>(List.of(tls.redis(PASSWORD)));
        config.addAll(List.of("--replicaof", "127.0.0.1", "" + primary.port(), "--repl-diskless-sync-delay", "0"));
        return config.toArray(String[]::new);
    }

    private static RedisOptions options(RedisClientType type, List<RedisServer> servers, String password) {
        RedisOptions options = new RedisOptions()
                .setType(type)
                .setPassword(password)
                .setNetClientOptions(new NetClientOptions()
                        .setTrustOptions(new PemTrustOptions()
                                .addCertPath(tls.certificate().toString()))
                        .setHostnameVerificationAlgorithm("HTTPS"));
        servers.forEach(server -> options.addConnectionString("rediss://127.0.0.1:" + server.port()));
        return options;
    }

    private LockClient client(RedisOptions options) {
        VertxLockBackend backend = VertxLockBackend.connect(vertx, options);
        // The first handshake of a process loads a thousand classes, which may take longer than a connection may.
        eventually(
                "the first handshake",
                () -> Boolean.TRUE.equals(backend.inspect("warm up")
                        .map(seen -> true)
                        .onErrorReturn(false)
                        .block(PATIENCE)));
        LockClient made = Fixture.client(backend);
        clients.add(made);
        return made;
    }

    /** Commands go both ways, and the news of a release comes on the other connection. */
    private static void oneServesTheOther(LockClient one, LockClient other) {
        String key = "k" + System.nanoTime();
        LockHandle held = one.acquire(key).retry(20).block(PATIENCE);
        CompletableFuture<LockHandle> next = other.acquire(key).retry(20).toFuture();
        eventually(
                "the other waits",
                () -> one.inspect(key).block(PATIENCE) instanceof LockInfo.Held now && now.waiters() == 1);
        held.release().block(PATIENCE);
        next.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join().release().block(PATIENCE);
    }

    private void assertRefused(RedisOptions options) {
        LockClient refused = Fixture.client(VertxLockBackend.connect(vertx, options));
        assertThatThrownBy(() -> refused.acquire("a").block(PATIENCE))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("WRONGPASS")
                .satisfies(error -> assertThat(Fixture.stackTrace(error)).doesNotContain(PASSWORD));
        refused.close().block(PATIENCE);
    }
}
