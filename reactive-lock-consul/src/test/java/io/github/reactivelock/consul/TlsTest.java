package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.ConsulServer;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.testservers.Tls;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

/** A Consul that speaks TLS, with a certificate that is in no list. */
class TlsTest {

    @TempDir
    private static Path directory;

    private static Tls tls;
    private static ConsulServer server;
    private static String address;

    @BeforeAll
    static void start() {
        tls = Tls.in(directory);
        int port = Loopback.freePort();
        server = ConsulServer.start("-hcl=ports { https = " + port + " } cert_file = \"" + tls.certificate()
                + "\" key_file = \"" + tls.key() + "\"");
        address = "https://127.0.0.1:" + port;
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static LockClient client(ConsulLockBackend backend) {
        return LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(15))
                .build();
    }

    @Test
    void aClientOfTheApplicationThatTrustsItIsServed() throws Exception {
        SslContext trusting = SslContextBuilder.forClient()
                .trustManager(tls.certificate().toFile())
                .build();
        HttpClient users = HttpClient.create().secure(spec -> spec.sslContext(trusting));
        LockClient client = client(ConsulLockBackend.using(users, address, Consuls.patient()));

        assertThat(Consuls.get(client.withLock("a", Mono.just("done")))).isEqualTo("done");
        Consuls.done(client.close());
    }

    @Test
    void whoDoesNotTrustItIsToldSoAtOnce() {
        LockClient client = client(ConsulLockBackend.connect(address, Consuls.patient()));

        assertThat(Consuls.error(client.acquire("b")))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("Consul at " + address + " could not be asked")
                .hasMessageContaining("PKIX");
        Consuls.done(client.close());
    }
}
