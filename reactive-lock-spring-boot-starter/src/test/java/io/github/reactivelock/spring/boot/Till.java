package io.github.reactivelock.spring.boot;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseCookie;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** An application on Netty that takes orders, a process of its own as far as its store can see. */
final class Till implements AutoCloseable {

    final Orders orders = new Orders();
    final ConfigurableApplicationContext context;

    private Till(List<String> properties, Class<?>... more) {
        SpringApplicationBuilder builder = new SpringApplicationBuilder(Shop.class)
                .web(WebApplicationType.REACTIVE)
                .sources(more)
                .initializers(made -> made.getBeanFactory().registerSingleton("orders", orders));
        String[] all = new String[properties.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = "--" + properties.get(i);
        }
        this.context = builder.run(all);
    }

    static Till open(String databaseUrl, List<String> properties, Class<?>... more) {
        List<String> all = new CopyOnWriteArrayList<>(List.of(
                "server.port=0",
                "spring.main.banner-mode=off",
                "spring.r2dbc.url=" + databaseUrl,
                "reactive-lock.store=memory",
                "reactive-lock.initialize-schema=always",
                "reactive-lock.idempotency.enabled=true"));
        all.addAll(properties);
        return new Till(all, more);
    }

    int port() {
        return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    WebTestClient client() {
        return WebTestClient.bindToServer()
                .baseUrl("http://127.0.0.1:" + port())
                .responseTimeout(Contexts.PATIENCE)
                .build();
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop {

        /** Of its own: to end the shared ones ends the servers of all others. */
        @Bean
        ReactorResourceFactory ownThreads() {
            ReactorResourceFactory own = new ReactorResourceFactory();
            own.setUseGlobalResources(false);
            return own;
        }

        /** As Spring Security would. */
        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE + 100)
        WebFilter authenticated() {
            return (exchange, chain) -> {
                String who = exchange.getRequest().getHeaders().getFirst("X-Who");
                ServerWebExchange known = who == null
                        ? exchange
                        : exchange.mutate()
                                .principal(Mono.<Principal>just(() -> who))
                                .build();
                return chain.filter(known);
            };
        }
    }

    @RestController
    static class Orders {

        final List<String> made = new CopyOnWriteArrayList<>();
        final AtomicInteger calls = new AtomicInteger();
        volatile Sinks.Empty<Void> gate = Sinks.empty();

        private ResponseEntity<String> made(String order) {
            made.add(order);
            return ResponseEntity.status(HttpStatus.CREATED)
                    .header("Location", "/orders/" + made.size())
                    .header("X-Trace", "1")
                    .header(
                            "Set-Cookie",
                            ResponseCookie.from("seen", "yes").build().toString())
                    .body("order " + made.size());
        }

        @PostMapping("/orders")
        Mono<ResponseEntity<String>> order(@RequestBody(required = false) String order) {
            return Mono.fromSupplier(() -> made(String.valueOf(order)));
        }

        @PostMapping("/slow")
        Mono<ResponseEntity<String>> slow(@RequestBody String order) {
            return Mono.defer(() -> {
                calls.incrementAndGet();
                return gate.asMono().then(Mono.fromSupplier(() -> made(order)));
            });
        }

        @PostMapping("/form")
        Mono<String> form(ServerWebExchange exchange) {
            return exchange.getFormData().map(Map::toString);
        }

        @PostMapping("/fails")
        ResponseEntity<String> fails() {
            return ResponseEntity.status(HttpStatus.BAD_GATEWAY).body("failure " + calls.incrementAndGet());
        }

        @PostMapping("/busy")
        ResponseEntity<String> busy() {
            calls.incrementAndGet();
            return ResponseEntity.status(HttpStatus.CONFLICT)
                    .header("Retry-After", "1")
                    .build();
        }

        @PostMapping("/invalid")
        ResponseEntity<String> invalid() {
            return ResponseEntity.badRequest().body("invalid " + calls.incrementAndGet());
        }

        @PostMapping("/throws")
        Mono<String> thrown() {
            return Mono.error(new ResponseStatusException(HttpStatus.NOT_FOUND, "gone " + calls.incrementAndGet()));
        }

        @PostMapping("/empty")
        ResponseEntity<Void> empty() {
            calls.incrementAndGet();
            return ResponseEntity.noContent().build();
        }

        @PostMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> events() {
            calls.incrementAndGet();
            return Flux.<String>never().startWith("one").doOnSubscribe(subscription -> made.add("streamed"));
        }

        @PostMapping(path = "/lines", produces = MediaType.APPLICATION_NDJSON_VALUE)
        Flux<Map<String, String>> lines() {
            calls.incrementAndGet();
            return Flux.<Map<String, String>>never().startWith(Map.of("a", "b"));
        }

        @PostMapping("/long")
        Mono<String> longOne() {
            calls.incrementAndGet();
            return Mono.just("a".repeat(1025));
        }

        @PostMapping("/large")
        Flux<String> large() {
            calls.incrementAndGet();
            return Flux.<String>never().startWith(Flux.range(0, 100).map(i -> "a".repeat(1000)));
        }
    }
}
