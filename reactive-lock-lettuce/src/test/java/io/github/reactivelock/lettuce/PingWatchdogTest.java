package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;

class PingWatchdogTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    /** Each close of a client that came while it asked was an error in the log. */
    @Test
    void itsEndWhileItAsksIsNoError() {
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        RedisClient client = RedisClient.create();
        try (TcpProxy proxy = TcpProxy.to(fixture.server.port());
                StatefulRedisConnection<String, String> connection =
                        client.connect(RedisURI.create("127.0.0.1", proxy.port()))) {
            proxy.freeze();
            long before = proxy.roundTrips();
            Disposable watch =
                    PingWatchdog.of(() -> List.of(CompletableFuture.completedStage(connection)), silent -> {});
            eventually("it has asked", () -> proxy.roundTrips() > before);

            Hooks.onErrorDropped(dropped::add);
            watch.dispose();

            assertThat(dropped).isEmpty();
            proxy.mend();
        } finally {
            Hooks.resetOnErrorDropped();
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }
}
