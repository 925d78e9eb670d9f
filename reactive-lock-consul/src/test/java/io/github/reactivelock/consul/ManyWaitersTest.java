package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** A crowd of claims of one client on one lock: what leaves for the agent at a time. */
class ManyWaitersTest extends Fixture {

    private static final int MANY = 400;

    private final AtomicInteger heldUp = new AtomicInteger();
    private final Sinks.Empty<Void> go = Sinks.empty();
    private volatile boolean holdsUp;

    /** An agent before the agent, which holds up claims. */
    private Mono<Void> passedOn(HttpServerRequest request, HttpServerResponse response) {
        return request.receive().aggregate().asString().defaultIfEmpty("").flatMap(body -> {
            boolean isHeldUp = holdsUp && body.contains("\"lock\"");
            if (isHeldUp) {
                int unused = heldUp.incrementAndGet();
            }
            return (isHeldUp ? go.asMono() : Mono.<Void>empty()).then(asked(request, body, response));
        });
    }

    private Mono<Void> asked(HttpServerRequest request, String body, HttpServerResponse response) {
        return HttpClient.create()
                .request(request.method())
                .uri(server.uri() + request.uri())
                .send((asking, out) -> out.sendObject(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8)))
                .responseSingle((answer, content) -> content.asString()
                        .defaultIfEmpty("")
                        .flatMap(text -> response.status(answer.status())
                                .header(
                                        "X-Consul-Index",
                                        Objects.requireNonNullElse(
                                                answer.responseHeaders().get("X-Consul-Index"), "0"))
                                .sendString(Mono.just(text))
                                .then()));
    }

    @Test
    void aCrowdLeavesALittleAtATimeAndARenewalBeforeIt() {
        DisposableServer agent = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(this::passedOn)
                .bindNow();
        try {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect(
                    "127.0.0.1:" + agent.port(), Consuls.patient().withCommandTimeout(Duration.ofMinutes(1))));
            Claim owner = claim();
            granted(Consuls.get(backend.claim(owner)));
            holdsUp = true;
            List<Claim> waiting = Stream.generate(this::claim).limit(MANY).toList();

            List<CompletableFuture<ClaimResult>> answers = waiting.stream()
                    .map(claim -> backend.claim(claim).toFuture())
                    .toList();
            Consuls.until("claims have left", () -> heldUp.get() >= Agents.COMMANDS);
            assertThat(Consuls.get(backend.renew(List.of(owner))).renewed()).isEqualTo(Set.of(owner.id()));
            assertThat(heldUp.get()).as("of %d claims", MANY).isEqualTo(Agents.COMMANDS);
            assertThat(backend.holdsBack(waiting.get(MANY - 1))).isTrue();

            holdsUp = false;
            go.tryEmitEmpty().orThrow();
            assertThat(answers.stream().map(CompletableFuture::join)).allMatch(ClaimResult.Queued.class::isInstance);
            assertThat(backend.holdsBack(waiting.get(MANY - 1))).isFalse();
            closeAll();
        } finally {
            agent.disposeNow();
        }
    }
}
