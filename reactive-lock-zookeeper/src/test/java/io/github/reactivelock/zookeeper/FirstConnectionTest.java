package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The first connection may take longer than a command, and a command that is late says so in time. */
class FirstConnectionTest extends ProxiedFixture {

    @Test
    void itIsWaitedForThoughACommandWouldHaveFailedByThen() {
        ZooKeeperLockBackend backend = opened(behindProxy(Duration.ofSeconds(20)));
        proxy.freeze();
        CompletableFuture<Boolean> ready = backend.ready().thenReturn(true).toFuture();

        assertThat(ZooKeepers.error(backend.inspect(key))).hasMessageContaining("is silent");
        assertThat(ready).isNotDone();
        proxy.mend();

        assertThat(ZooKeepers.get(ready)).isTrue();
        assertThat(backend.isReady()).isTrue();
    }
}
