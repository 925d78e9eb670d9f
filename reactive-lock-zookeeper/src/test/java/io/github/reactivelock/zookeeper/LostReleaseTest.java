package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release that was carried out, and whose answer was lost. */
class LostReleaseTest extends ProxiedFixture {

    private ZooKeeperLockBackend backend;

    @BeforeEach
    void connect() {
        backend = opened(behindProxy(Duration.ofSeconds(20)));
        Boolean unused = ZooKeepers.get(backend.ready().retry().thenReturn(true));
    }

    @Test
    void saidAgainItIsStillTheEndOfAHold() throws InterruptedException {
        Claim owner = claim();
        assertThat(ZooKeepers.get(backend.claim(owner).retry())).isInstanceOf(ClaimResult.Granted.class);

        proxy.dropReplies();
        CompletableFuture<Boolean> unanswered = backend.release(owner).toFuture();
        ZooKeepers.until("it is carried out", () -> ZooKeepers.claims(zookeeper).isEmpty());
        assertThat(unanswered).failsWithin(ZooKeepers.LIMIT);
        proxy.mend();

        assertThat(ZooKeepers.get(backend.release(owner).retry())).isTrue();
        assertThat(ZooKeepers.get(backend.release(owner).retry())).isFalse();
    }

    @Test
    void oneThatItsCallerGaveUpIsStillTheEndOfAHold() throws InterruptedException {
        Claim owner = claim();
        assertThat(ZooKeepers.get(backend.claim(owner).retry())).isInstanceOf(ClaimResult.Granted.class);

        proxy.dropReplies();
        CompletableFuture<Boolean> unanswered =
                backend.release(owner).timeout(Duration.ofMillis(300)).toFuture();
        ZooKeepers.until("it is carried out", () -> ZooKeepers.claims(zookeeper).isEmpty());
        assertThat(unanswered).failsWithin(ZooKeepers.LIMIT);
        proxy.mend();

        assertThat(ZooKeepers.get(backend.release(owner).retry())).isTrue();
    }
}
