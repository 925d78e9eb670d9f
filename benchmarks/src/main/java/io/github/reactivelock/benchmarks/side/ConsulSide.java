package io.github.reactivelock.benchmarks.side;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufMono;
import reactor.netty.http.client.HttpClient;

/**
 * What Consul's documents call a lock: acquire a key, wait for its change if another one has it, release it. No queue,
 * no renewal, no cancellation. Every flow has its own session, because flows that share one do not exclude one another;
 * it is made before the first acquisition and has no end.
 */
final class ConsulSide implements Side {

    private static final String SESSION = "{\"LockDelay\":\"0s\",\"Behavior\":\"release\",\"Checks\":[]}";

    private final HttpClient client;
    private final Map<Long, Mono<String>> sessions = new ConcurrentHashMap<>();

    ConsulSide(String uri) {
        this.client = HttpClient.create().baseUrl(uri + "/v1");
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        String name = "/kv/plain/" + key;
        session(flow)
                .flatMap(session -> acquire(name, session)
                        .then(Mono.fromRunnable(cycle::entered))
                        .then(ask(HttpMethod.PUT, name + "?release=" + session, "x")))
                .subscribe(released -> {}, cycle::ended, () -> cycle.ended(null));
    }

    private Mono<String> session(long flow) {
        return sessions.computeIfAbsent(
                flow,
                f -> ask(HttpMethod.PUT, "/session/create", SESSION)
                        .map(made -> made.replaceAll(".*\"ID\":\"([^\"]+)\".*", "$1"))
                        .cache());
    }

    private Mono<Void> acquire(String name, String session) {
        return ask(HttpMethod.PUT, name + "?acquire=" + session, "x")
                .flatMap(got -> got.startsWith("true")
                        ? Mono.empty()
                        : released(name).then(Mono.defer(() -> acquire(name, session))));
    }

    /** Looks, and if it is held still, waits for the next change. */
    private Mono<Void> released(String name) {
        return client.get()
                .uri(name)
                .responseSingle((response, body) -> body.asString()
                        .flatMap(entry -> entry.contains("\"Session\"")
                                ? ask(
                                        HttpMethod.GET,
                                        name + "?wait=10s&index="
                                                + response.responseHeaders().get("X-Consul-Index"),
                                        "")
                                : Mono.just(entry)))
                .then();
    }

    private Mono<String> ask(HttpMethod method, String path, String body) {
        return client.request(method)
                .uri(path)
                .send(ByteBufMono.fromString(Mono.just(body), StandardCharsets.UTF_8, ByteBufAllocator.DEFAULT))
                .responseSingle((response, answer) -> answer.asString());
    }

    @Override
    public void close() {
        Flux.fromIterable(sessions.values())
                .flatMap(session -> session.flatMap(id -> ask(HttpMethod.PUT, "/session/destroy/" + id, "")))
                .blockLast();
    }
}
