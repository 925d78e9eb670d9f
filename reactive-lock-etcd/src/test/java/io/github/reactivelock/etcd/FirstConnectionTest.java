package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.TcpProxy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The first connection may take longer than a command, and a command that is late says so in time. */
class FirstConnectionTest extends EtcdFixture {

    @Test
    void itIsWaitedForThoughACommandWouldHaveFailedByThen() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            EtcdLockBackend backend = opened(EtcdLockBackend.connect("http://127.0.0.1:" + proxy.port()));
            proxy.freeze();
            CompletableFuture<Boolean> ready = backend.ready().thenReturn(true).toFuture();

            assertThat(Etcds.error(backend.inspect(key))).hasMessageContaining("did not answer in time");
            assertThat(ready).isNotDone();
            proxy.mend();

            assertThat(Etcds.get(ready)).isTrue();
            assertThat(backend.isReady()).isTrue();
        }
    }
}
