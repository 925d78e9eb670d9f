package io.github.reactivelock.consul;

import io.github.reactivelock.testservers.ConsulServer;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * An agent before the agent, which can hold up questions, and carries them out when they are let go, wanted or not.
 */
final class SlowAgent implements AutoCloseable {

    private final ConsulServer server;
    private final DisposableServer own;
    private final AtomicInteger heldUp = new AtomicInteger();
    private final AtomicInteger carriedOut = new AtomicInteger();
    private final AtomicInteger watches = new AtomicInteger();
    private final Queue<String> open = new ConcurrentLinkedQueue<>();
    private final Sinks.Empty<Void> go = Sinks.empty();
    /** What stands in the questions that are held up, or nothing. */
    private volatile String heldUpWith = "";

    private volatile boolean holdsUpEnds;
    private volatile boolean holdsUpDeletions;

    SlowAgent(ConsulServer server) {
        this.server = server;
        this.own = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(this::passedOn)
                .bindNow();
    }

    String address() {
        return "127.0.0.1:" + own.port();
    }

    void holdUpClaims() {
        heldUpWith = "\"get-tree\"";
    }

    void holdUpDeletions() {
        heldUpWith = "\"delete\"";
    }

    /** Sessions are ended, and that is answered when it is let go. */
    void holdUpAnswersAboutEnds() {
        holdsUpEnds = true;
    }

    /** Claims are deleted, and that is answered when it is let go. */
    void holdUpAnswersToDeletions() {
        holdsUpDeletions = true;
    }

    void letGo() {
        heldUpWith = "";
        go.tryEmitEmpty().orThrow();
    }

    /** How many questions came to be held up. */
    int heldUp() {
        return heldUp.get();
    }

    /** How many claims that were held up the server has answered. */
    int carriedOut() {
        return carriedOut.get();
    }

    /** How often somebody asked for a change of a claim or of a queue. */
    int watches() {
        return watches.get();
    }

    /** What is watched now, each as the beginning of the names of keys. */
    List<String> watched() {
        return open.stream()
                .map(uri -> uri.substring("/v1/kv/".length(), uri.indexOf('?')))
                .toList();
    }

    private Mono<Void> passedOn(HttpServerRequest request, HttpServerResponse response) {
        return request.receive().aggregate().asString().defaultIfEmpty("").flatMap(body -> {
            String with = heldUpWith;
            if (with.isEmpty() || !body.contains(with)) {
                return asked(request, body, response);
            }
            int unused = heldUp.incrementAndGet();
            // Cached, because an agent goes on with a question whose asker has left.
            Mono<Void> late = go.asMono()
                    .then(Mono.defer(() -> asked(request, body, response)))
                    .cache();
            var unusedToo = late.subscribe(done -> {}, error -> {});
            return late;
        });
    }

    private Mono<Void> asked(HttpServerRequest request, String body, HttpServerResponse response) {
        if (request.uri().contains("index=") && !request.uri().contains("!")) {
            int unused = watches.incrementAndGet();
        }
        boolean isWatch = request.uri().contains("index=");
        if (isWatch) {
            open.add(request.uri());
        }
        boolean isHeldUp = (holdsUpEnds && request.uri().contains("session/destroy"))
                || (holdsUpDeletions && body.contains("\"delete\""));
        Mono<Void> late = isHeldUp ? go.asMono() : Mono.empty();
        boolean wasHeldUp = body.contains("\"get-tree\"") && heldUp.get() > 0;
        return HttpClient.create()
                .request(request.method())
                .uri(server.uri() + request.uri())
                .send((asking, out) -> out.sendObject(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8)))
                .responseSingle((answer, content) -> content.asString()
                        .defaultIfEmpty("")
                        .doOnNext(text -> {
                            if (wasHeldUp) {
                                int unused = carriedOut.incrementAndGet();
                            }
                        })
                        .delayUntil(text -> late)
                        .flatMap(text -> response.status(answer.status())
                                .header(
                                        "X-Consul-Index",
                                        Objects.requireNonNullElse(
                                                answer.responseHeaders().get("X-Consul-Index"), "0"))
                                .sendString(Mono.just(text))
                                .then()))
                .doFinally(signal -> {
                    if (isWatch) {
                        open.remove(request.uri());
                    }
                });
    }

    @Override
    public void close() {
        own.disposeNow();
    }
}
