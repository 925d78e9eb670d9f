package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.eventually;
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
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;

/** Several servers that speak TLS only, and ask for a password. */
class TlsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final String PASSWORD = "marker-8f3a-password";
    private static final String STORE = "javax.net.ssl.trustStore";
    private static final String STORE_PASSWORD = "javax.net.ssl.trustStorePassword";

    @TempDir
    private static Path directory;

    private static Tls tls;

    private final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    static void makeACertificateThatThisJvmTrusts() {
        tls = Tls.in(directory);
        System.setProperty(STORE, tls.trustStore().toString());
        System.setProperty(STORE_PASSWORD, Tls.STORE_PASSWORD);
    }

    @AfterAll
    static void trustWhoEverybodyTrusts() {
        System.clearProperty(STORE);
        System.clearProperty(STORE_PASSWORD);
    }

    @AfterEach
    void close() {
        Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(PATIENCE);
    }

    @Test
    void aSetWithSentinelsIsReachedAndFollowed() {
        try (RedisSentinel set = RedisSentinel.start(1, tls.redis(PASSWORD))) {
            String uri = set.uri().replace("redis-sentinel://", "rediss-sentinel://:" + PASSWORD + "@");
            LockClient one = client(LettuceLockBackend.connect(uri));
            LockClient other = client(LettuceLockBackend.connect(uri));
            oneServesTheOther(one, other);

            RedisServer first = set.primary();
            first.kill();
            eventually("a replica is the primary", PATIENCE, () -> set.primary() != first);

            oneServesTheOther(one, other);
            assertRefused(LettuceLockBackend.connect(uri.replace(PASSWORD, PASSWORD + "wrong")), "WRONGPASS");
        }
    }

    @Test
    void aClientReachesSentinelsWithAPasswordOfTheirOwn() {
        try (RedisSentinel set = RedisSentinel.start(1, tls.redis(PASSWORD))) {
            RedisURI.Builder uri = RedisURI.builder()
                    .withSentinelMasterId(RedisSentinel.NAME)
                    .withSsl(true)
                    .withPassword(PASSWORD.toCharArray());
            for (RedisServer sentinel : set.sentinels()) {
                sentinel.command("ACL", "SETUSER", "default", "resetpass", ">another");
                RedisURI known = RedisURI.create("rediss://:another@127.0.0.1:" + sentinel.port());
                uri.withSentinel(known);
            }
            RedisClient application = RedisClient.create();

            oneServesTheOther(
                    client(LettuceLockBackend.using(application, uri.build())),
                    client(LettuceLockBackend.using(application, uri.build())));
            close();
            application.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    @Test
    void aPrimaryAmongItsReplicasIsReachedAndFollowed() {
        try (RedisServer first = RedisServer.start(tls.redis(PASSWORD));
                RedisServer second = RedisServer.start(replicaOf(first))) {
            List<String> uris = encrypted(List.of(first.uri(), second.uri()));
            eventually(
                    "the replica is in step", PATIENCE, () -> ((List<?>) second.command("ROLE")).contains("connected"));
            LockClient one = client(LettuceLockBackend.connectPrimary(uris));
            LockClient other = client(LettuceLockBackend.connectPrimary(uris));
            oneServesTheOther(one, other);

            first.kill();
            second.command("REPLICAOF", "NO", "ONE");

            oneServesTheOther(one, other);
        }
    }

    @Test
    void aClusterIsReached() {
        try (RedisCluster cluster = RedisCluster.start(3, 0, tls.redis(PASSWORD))) {
            List<String> uris = encrypted(cluster.uris());

            oneServesTheOther(
                    client(LettuceLockBackend.connectCluster(uris)), client(LettuceLockBackend.connectCluster(uris)));
            assertRefused(
                    LettuceLockBackend.connectCluster(uris.stream()
                            .map(uri -> uri.replace(PASSWORD, PASSWORD + "wrong"))
                            .toList()),
                    "password");
        }
    }

    private static String[] replicaOf(RedisServer primary) {
        List<String> config = new ArrayList<>(List.of(tls.redis(PASSWORD)));
        config.addAll(List.of("--replicaof", "127.0.0.1", "" + primary.port(), "--repl-diskless-sync-delay", "0"));
        return config.toArray(String[]::new);
    }

    private static List<String> encrypted(List<String> uris) {
        return uris.stream()
                .map(uri -> uri.replace("redis://", "rediss://:" + PASSWORD + "@"))
                .toList();
    }

    private LockClient client(LettuceLockBackend backend) {
        // The first handshake of a process loads a thousand classes, which may take longer than a connection may.
        eventually(
                "the first handshake",
                PATIENCE,
                () -> Boolean.TRUE.equals(backend.inspect("warm up")
                        .map(seen -> true)
                        .onErrorReturn(false)
                        .block(PATIENCE)));
        LockClient made = RedisFixture.client(backend);
        clients.add(made);
        return made;
    }

    /** Commands go both ways, and the news of a release comes on the other connection. */
    private static void oneServesTheOther(LockClient one, LockClient other) {
        String key = "k" + System.nanoTime();
        LockHandle held = one.acquire(key).retry(3).block(PATIENCE);
        CompletableFuture<LockHandle> next = other.acquire(key).toFuture();
        eventually(
                "the other waits",
                PATIENCE,
                () -> one.inspect(key).block(PATIENCE) instanceof LockInfo.Held now && now.waiters() == 1);
        held.release().block(PATIENCE);
        next.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join().release().block(PATIENCE);
    }

    private static void assertRefused(LettuceLockBackend backend, String word) {
        LockClient refused = RedisFixture.client(backend);
        assertThatThrownBy(() -> refused.acquire("a").block(PATIENCE))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(word)
                .satisfies(error -> assertThat(error).hasMessageNotContaining(PASSWORD));
        refused.close().block(PATIENCE);
    }
}
