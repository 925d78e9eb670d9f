package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RedisOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The service in this process, whose event loops BlockHound watches. */
class HandlersTest {

    /** A handler as none should be. */
    @RestController
    static final class Sleeper {
        @GetMapping("/sleep")
        Mono<String> sleep() throws InterruptedException {
            Thread.sleep(1);
            return Mono.just("slept");
        }
    }

    @BeforeEach
    void forget() {
        Blocked.CALLS.clear();
    }

    @Test
    void noHandlerBlocksAnEventLoop() {
        List<Receipt> served = with(http -> {
            Mono<List<Lane>> allSold = http.get()
                    .uri("/board")
                    .accept(MediaType.TEXT_EVENT_STREAM)
                    .retrieve()
                    .bodyToFlux(new ParameterizedTypeReference<List<Lane>>() {})
                    .filter(lanes -> lanes.stream().mapToInt(Lane::sold).sum() == 10)
                    .next();
            Flux<Receipt> orders = Flux.range(1, 4)
                    .flatMap(number -> http.post()
                            .uri("/tills/till-{number}/orders/bread", 1 + number % 2)
                            .retrieve()
                            .bodyToMono(Receipt.class));
            Flux<Receipt> rush = http.post().uri("/rushes/coffee").retrieve().bodyToFlux(Receipt.class);
            Mono<Void> unknown = http.post().uri("/tills/till-9/orders/bread").exchangeToMono(answer -> {
                assertThat(answer.statusCode().value()).isEqualTo(404);
                return answer.releaseBody();
            });
            return unknown.then(Mono.zip(allSold, orders.mergeWith(rush).collectList()))
                    .map(both -> both.getT2());
        });

        assertThat(served).hasSize(10);
        assertThat(Blocked.CALLS).isEmpty();
    }

    @Test
    void aHandlerThatBlocksIsSeen() {
        int status = with(http -> http.get()
                .uri("/sleep")
                .exchangeToMono(answer ->
                        answer.releaseBody().thenReturn(answer.statusCode().value())));

        assertThat(status).isEqualTo(500);
        assertThat(Blocked.CALLS).anyMatch(call -> call.contains("Thread.sleep") && call.contains("Sleeper"));
    }

    private static <T> T with(Function<WebClient, Mono<T>> customers) {
        return new RedisOption()
                .use(uri -> Mono.usingWhen(
                        Mono.fromCallable(() -> open(uri)).subscribeOn(Schedulers.boundedElastic()),
                        service -> customers.apply(WebClient.create(
                                "http://127.0.0.1:" + service.getEnvironment().getProperty("local.server.port"))),
                        service -> Mono.<Void>fromRunnable(service::close).subscribeOn(Schedulers.boundedElastic())))
                .block(Duration.ofMinutes(1));
    }

    private static ConfigurableApplicationContext open(String redis) {
        SpringApplication application = new SpringApplication(Shop.class, Sleeper.class);
        application.setDefaultProperties(
                Map.of("server.address", "127.0.0.1", "server.port", 0, "server.shutdown", "immediate"));
        application.addInitializers(context -> ((GenericApplicationContext) context)
                .registerBean(Settings.class, () -> new Settings(redis, Duration.ofMillis(20))));
        return application.run();
    }
}
