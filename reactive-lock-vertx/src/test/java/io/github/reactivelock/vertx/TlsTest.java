package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.claim;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.redis.client.RedisOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class TlsTest {

    @Test
    void trustingClientsReachAServerWithTlsAndAPassword(@TempDir Path directory) throws Exception {
        String certificate = directory.resolve("redis.crt").toString();
        String key = directory.resolve("redis.key").toString();
        Process openssl = new ProcessBuilder(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis"
                                + " -addext subjectAltName=IP:127.0.0.1 -keyout " + key + " -out " + certificate)
                        .split(" "))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        assertThat(openssl.waitFor()).as("openssl").isZero();
        int port = Loopback.freePort();
        Vertx vertx = Vertx.vertx();
        try (RedisServer server = RedisServer.start(
                "--requirepass",
                "secret",
                "--tls-port",
                "" + port,
                "--tls-auth-clients",
                "no",
                "--tls-cert-file",
                certificate,
                "--tls-key-file",
                key)) {
            Fixture.warmUp(vertx, "redis://:secret@127.0.0.1:" + server.port());
            String uri = "rediss://:secret@127.0.0.1:" + port;
            LockBackend trusting = VertxLockBackend.connect(
                    vertx,
                    new RedisOptions()
                            .setConnectionString(uri)
                            .setNetClientOptions(new NetClientOptions()
                                    .setTrustOptions(new PemTrustOptions().addCertPath(certificate))
                                    .setHostnameVerificationAlgorithm("HTTPS")));
            LockBackend strange = VertxLockBackend.connect(vertx, uri);

            // The first handshake of a process loads a thousand classes, which may take longer than a connection may.
            Fixture.eventually(
                    "the first handshake",
                    () -> get(trusting.inspect("a").map(seen -> true).onErrorReturn(false)));
            assertThat(get(trusting.claim(claim("a")))).isInstanceOf(ClaimResult.Granted.class);
            assertThat(trusting.signals().blockFirst(Duration.ofSeconds(30))).isInstanceOf(Signal.Reconnected.class);
            Fixture.eventually("the certificate is refused", () -> {
                Throwable error = get(
                        strange.claim(claim("a")).<Throwable>then(Mono.empty()).onErrorResume(Mono::just));
                assertThat(error).hasMessageContaining("127.0.0.1:" + port);
                assertThat(Fixture.stackTrace(error)).doesNotContain("secret");
                return error.getMessage().contains("TLS");
            });
            get(trusting.close());
            get(strange.close());
        } finally {
            get(vertx.close());
        }
    }
}
