package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.Tls;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Addresses that a text cannot say: certificates to trust, credentials that change, a password of the sentinels. */
class TypedAddressTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String PASSWORD = "marker-8f3a-password";
    private static final RedisBackendOptions OPTIONS = RedisBackendOptions.defaults();

    private static void aLockWorks(LettuceLockBackend backend) {
        LockClient client = RedisFixture.client(backend);
        try {
            assertThat(client.withLock("order:42", Mono.just("done")).block(PATIENCE))
                    .isEqualTo("done");
        } finally {
            client.close().block(PATIENCE);
        }
    }

    private static RedisURI uri(RedisServer server) {
        return RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(server.port())
                .withSsl(true)
                .withPassword(PASSWORD.toCharArray())
                .withTimeout(Duration.ofSeconds(9)) // a busy machine shakes hands slowly
                .build();
    }

    @Test
    void certificatesAreThoseThatAreGiven(@TempDir Path directory) {
        Tls tls = Tls.in(directory);
        SslOptions trusting =
                SslOptions.builder().trustManager(tls.certificate().toFile()).build();
        try (RedisServer server = RedisServer.start(tls.redis(PASSWORD));
                RedisSentinel set = RedisSentinel.start(1, tls.redis(PASSWORD));
                RedisCluster cluster = RedisCluster.start(3, 0, tls.redis(PASSWORD))) {
            aLockWorks(LettuceLockBackend.connect(uri(server), trusting, OPTIONS));
            aLockWorks(LettuceLockBackend.connectPrimary(
                    set.servers().stream().map(TypedAddressTest::uri).toList(), trusting, OPTIONS));
            aLockWorks(LettuceLockBackend.connectCluster(
                    cluster.nodes().stream().map(TypedAddressTest::uri).toList(), trusting, OPTIONS));

            assertThatThrownBy(() -> aLockWorks(LettuceLockBackend.connect(uri(server), SslOptions.create(), OPTIONS)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("certif");
        }
    }

    @Test
    void aSentinelsOwnPasswordLeavesTheAddressAsItWas() {
        try (RedisSentinel set = RedisSentinel.start(1)) {
            RedisURI uri = new RedisURI();
            uri.setSentinelMasterId(RedisSentinel.NAME);
            for (RedisServer sentinel : set.sentinels()) {
                sentinel.command("ACL", "SETUSER", "default", "resetpass", ">" + PASSWORD);
                uri.getSentinels().add(RedisURI.create("redis://:" + PASSWORD + "@127.0.0.1:" + sentinel.port()));
            }

            aLockWorks(LettuceLockBackend.connect(uri, SslOptions.create(), OPTIONS));

            assertThat(uri.getTimeout()).isEqualTo(RedisURI.DEFAULT_TIMEOUT_DURATION);
            assertThat(uri.getSentinels())
                    .hasSize(3)
                    .allSatisfy(
                            sentinel -> assertThat(sentinel.getTimeout()).isEqualTo(RedisURI.DEFAULT_TIMEOUT_DURATION));
        }
    }

    @Test
    void credentialsAreAskedForAtEveryConnection() {
        try (RedisServer server = RedisServer.start()) {
            AtomicReference<String> password = new AtomicReference<>("first");
            server.command("ACL", "SETUSER", "locks", "on", ">first", "+@all", "~*", "&*");
            RedisURI uri = RedisURI.create("127.0.0.1", server.port());
            uri.setCredentialsProvider(() -> Mono.fromSupplier(
                    () -> RedisCredentials.just("locks", password.get().toCharArray())));
            LockClient client = RedisFixture.client(LettuceLockBackend.connect(uri, SslOptions.create(), OPTIONS));
            LockHandle held = client.acquire("order:42").block(PATIENCE);
            assertThat(held).isNotNull();

            password.set("second");
            server.command("ACL", "SETUSER", "locks", "<first", ">second");
            server.command("CLIENT", "KILL", "USER", "locks");

            held.renew().block(PATIENCE);
            held.release().block(PATIENCE);
            client.close().block(PATIENCE);
        }
    }

    @Test
    void atLeastOneAddressIsNeeded() {
        assertThatThrownBy(() -> LettuceLockBackend.connectCluster(List.of(), SslOptions.create(), OPTIONS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("at least one Redis URI is needed");
    }
}
