package io.github.reactivelock.examples.limits;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** A slow service of somebody else, which counts how many calls it has at once. */
final class Partner {

    private static final Duration WORK = Duration.ofMillis(150);

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();
    private final DisposableServer server;

    Partner() {
        this.server =
                HttpServer.create().host("127.0.0.1").port(0).handle(this::work).bindNow();
    }

    /** A call whose caller died is over. */
    private Mono<Void> work(HttpServerRequest request, HttpServerResponse response) {
        int with = now.incrementAndGet();
        most.accumulateAndGet(with, Math::max);
        calls.incrementAndGet();
        return Mono.delay(WORK)
                .doOnTerminate(now::decrementAndGet) // before the caller learns it and another call comes
                .doOnCancel(now::decrementAndGet)
                .then(response.sendString(Mono.just("done")).then());
    }

    String uri() {
        return "http://127.0.0.1:" + server.port() + "/";
    }

    int now() {
        return now.get();
    }

    int most() {
        return most.get();
    }

    int calls() {
        return calls.get();
    }

    Mono<Void> stop() {
        return Mono.fromRunnable(server::dispose).then(server.onDispose());
    }
}
