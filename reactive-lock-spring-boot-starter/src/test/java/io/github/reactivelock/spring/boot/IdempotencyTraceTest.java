package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.r2dbc.Once;
import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** What a thread carries where a request arrives, as a trace under an agent, is there in its handler. */
class IdempotencyTraceTest {

    private static final String HOOK = "reactivelock.idempotency.trace";

    private final ThreadLocal<String> trace = new ThreadLocal<>();

    @BeforeEach
    void hook() {
        Hooks.onEachOperator(HOOK, Operators.lift((source, actual) -> new Keeping<>(actual)));
    }

    @AfterEach
    void unhook() {
        Hooks.resetOnEachOperator(HOOK);
        trace.remove();
    }

    /** Has again while it signals what its thread carried where it was subscribed. */
    private final class Keeping<T> implements CoreSubscriber<T> {

        private final CoreSubscriber<? super T> actual;
        private final @Nullable String kept = trace.get();

        Keeping(CoreSubscriber<? super T> actual) {
            this.actual = actual;
        }

        private void signal(Runnable signal) {
            String before = trace.get();
            trace.set(kept);
            try {
                signal.run();
            } finally {
                trace.set(before);
            }
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            signal(() -> actual.onSubscribe(subscription));
        }

        @Override
        public void onNext(T value) {
            signal(() -> actual.onNext(value));
        }

        @Override
        public void onError(Throwable failure) {
            signal(() -> actual.onError(failure));
        }

        @Override
        public void onComplete() {
            signal(actual::onComplete);
        }
    }

    private static IdempotencyFilter filter() {
        String url = "r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1";
        ConnectionFactory factory = ConnectionFactories.get(url);
        R2dbcLockBackend.using(factory, R2dbcBackendOptions.defaults())
                .createTables()
                .block(Contexts.PATIENCE);
        return new IdempotencyFilter(
                Once.using(factory, R2dbcBackendOptions.defaults().withCommandTimeout(Contexts.PATIENCE)),
                new IdempotencyProperties(
                        true,
                        List.of("/**"),
                        List.of("POST"),
                        "Idempotency-Key",
                        false,
                        Duration.ofDays(1),
                        255,
                        DataSize.ofKilobytes(1),
                        DataSize.ofKilobytes(1),
                        List.of(),
                        null),
                outcome -> {});
    }

    private static MockServerWebExchange exchange() {
        return MockServerWebExchange.from(MockServerHttpRequest.post("/orders")
                .header("Idempotency-Key", "\"a\"")
                .body("tea"));
    }

    @Test
    void theHandlerIsInTheTraceOfItsRequest() {
        IdempotencyFilter filter = filter();
        MockServerWebExchange exchange = exchange();
        AtomicReference<String> seen = new AtomicReference<>();
        WebFilterChain handler = handled -> Mono.fromRunnable(() -> {
            seen.set(trace.get());
            handled.getResponse().setStatusCode(HttpStatus.CREATED);
        });

        trace.set("the request's");
        filter.filter(exchange, handler).block(Contexts.PATIENCE);

        assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.CREATED);
        assertThat(seen).hasValue("the request's");
    }

    /** Who the user is, say; the last look at the request comes right before its work begins. */
    @Test
    void workThatBeginsAsItsClientLeavesHasTheContextOfItsRequest() {
        BaseSubscriber<Void> client = new BaseSubscriber<>() {};
        MockServerWebExchange exchange = exchange();
        ServerWebExchange leaving = exchange.mutate()
                .request(new ServerHttpRequestDecorator(exchange.getRequest()) {
                    @Override
                    public URI getURI() {
                        client.cancel();
                        return super.getURI();
                    }
                })
                .build();
        CompletableFuture<String> seen = new CompletableFuture<>();
        WebFilterChain handler = handled -> Mono.deferContextual(context -> {
            seen.complete(context.hasKey("user") ? context.<String>get("user") : "nobody");
            handled.getResponse().setStatusCode(HttpStatus.CREATED);
            return Mono.empty();
        });

        filter().filter(leaving, handler)
                .contextWrite(Context.of("user", "the request's"))
                .subscribe(client);

        assertThat(seen).succeedsWithin(Contexts.PATIENCE).isEqualTo("the request's");
    }
}
