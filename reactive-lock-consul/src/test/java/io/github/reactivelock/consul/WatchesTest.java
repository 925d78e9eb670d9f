package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Questions that are to be answered when something changes, where something in between spoils that. */
class WatchesTest {

    @Test
    void withoutAnIndexInTheAnswersThereIsAPauseBetweenTheQuestions() {
        AtomicInteger asked = new AtomicInteger();
        DisposableServer stripping = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> {
                    if (request.uri().contains("index=")) {
                        int unused = asked.incrementAndGet();
                    }
                    return response.sendString(Mono.just("[]"));
                })
                .bindNow();
        Agents agents = new Agents("127.0.0.1:" + stripping.port(), null, Consuls.patient());
        KeyLayout names = new KeyLayout("reactivelock");
        Watches watches = new Watches(agents, new ClaimKeys(agents, names), names);

        long begun = System.nanoTime();
        Disposable watch = watches.below(names.lock("k")).subscribe(found -> {}, error -> {});
        Consuls.until("it is asked a few times", () -> asked.get() >= 4);

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(2));
        watch.dispose();
        Consuls.done(agents.close());
        stripping.disposeNow();
    }
}
