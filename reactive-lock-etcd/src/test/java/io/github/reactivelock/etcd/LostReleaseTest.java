package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release that was carried out, and whose answer was lost. */
class LostReleaseTest extends EtcdFixture {

    private TcpProxy proxy;
    private EtcdLockBackend backend;

    @BeforeEach
    void putAProxyBetween() {
        proxy = TcpProxy.to(server.port());
        backend = opened(EtcdLockBackend.connect("http://127.0.0.1:" + proxy.port()));
        Boolean unused = Etcds.get(backend.ready().retry().thenReturn(true));
    }

    @AfterEach
    void removeTheProxy() {
        proxy.close();
    }

    @Test
    void saidAgainItIsStillTheEndOfAHold() throws InterruptedException {
        Claim owner = claim();
        assertThat(Etcds.get(backend.claim(owner).retry())).isInstanceOf(ClaimResult.Granted.class);

        proxy.dropReplies();
        CompletableFuture<Boolean> unanswered = backend.release(owner).toFuture();
        Etcds.until("it is carried out", () -> Etcds.claims(etcd).isEmpty());
        assertThat(unanswered).failsWithin(Etcds.LIMIT);
        proxy.mend();

        assertThat(Etcds.get(backend.release(owner).retry())).isTrue();
        assertThat(Etcds.get(backend.release(owner).retry())).isFalse();
    }

    @Test
    void oneThatItsCallerGaveUpIsStillTheEndOfAHold() throws InterruptedException {
        Claim owner = claim();
        assertThat(Etcds.get(backend.claim(owner).retry())).isInstanceOf(ClaimResult.Granted.class);

        proxy.dropReplies();
        CompletableFuture<Boolean> unanswered =
                backend.release(owner).timeout(Duration.ofMillis(300)).toFuture();
        Etcds.until("it is carried out", () -> Etcds.claims(etcd).isEmpty());
        assertThat(unanswered).failsWithin(Etcds.LIMIT);
        proxy.mend();

        assertThat(Etcds.get(backend.release(owner).retry())).isTrue();
    }
}
