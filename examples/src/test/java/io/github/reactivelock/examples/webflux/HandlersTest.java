package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.examples.webflux.shop.Receipt;
import io.github.reactivelock.examples.webflux.shop.Shop;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A till, and the switch in front of the tills, in this process, whose event loops BlockHound watches. */
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
    void noHandlerOfATillBlocksAnEventLoop() {
        List<Receipt> served = with(HandlersTest::till, http -> {
            Mono<String> acquired = stream(http, "/news", String.class)
                    .filter(news -> news.contains("ACQUIRED"))
                    .take(10)
                    .last();
            Mono<String> counted = stream(http, "/numbers", String.class)
                    .filter(numbers -> numbers.contains("\"acquired\":10"))
                    .next();
            Flux<Receipt> orders = Flux.range(1, 10)
                    .flatMap(number -> http.post()
                            .uri("/orders/bread?number={number}", number)
                            .retrieve()
                            .bodyToMono(Receipt.class));
            return Mono.zip(acquired, counted, orders.collectList()).map(all -> all.getT3());
        });

        assertThat(served).extracting(Receipt::sold).containsExactlyInAnyOrder(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        assertThat(served).extracting(Receipt::token).doesNotHaveDuplicates();
        assertThat(Blocked.CALLS).isEmpty();
    }

    @Test
    void noHandlerOfTheSwitchBlocksAnEventLoop() {
        View last = with(HandlersTest::front, http -> Flux.fromIterable(Board.TILLS)
                .flatMap(till -> post(http, "/tills/" + till + "/start"))
                .then(http.post()
                        .uri("/rushes/coffee")
                        .retrieve()
                        .bodyToFlux(Receipt.class)
                        .count())
                .flatMap(sold -> status(http, "/tills/till-9/orders/bread"))
                .doOnNext(status -> assertThat(status).isEqualTo(404))
                .then(status(http, "/tills/till-1/start"))
                .doOnNext(status -> assertThat(status).isEqualTo(503))
                .then(post(http, "/locks/bread/take-away"))
                .then(post(http, "/outages?seconds=1"))
                .then(post(http, "/tills/till-1/kill"))
                .then(stream(http, "/board", View.class)
                        .filter(view -> view.tills().get(0).state() == View.State.DOWN)
                        .next()));

        assertThat(last.lanes().get(2).sold()).isEqualTo(6);
        assertThat(last.tills().get(1).state()).isEqualTo(View.State.UP);
        assertThat(Blocked.CALLS).isEmpty();
    }

    @Test
    void aHandlerThatBlocksIsSeen() {
        int status = with(HandlersTest::till, http -> http.get()
                .uri("/sleep")
                .exchangeToMono(answer ->
                        answer.releaseBody().thenReturn(answer.statusCode().value())));

        assertThat(status).isEqualTo(500);
        assertThat(Blocked.CALLS).anyMatch(call -> call.contains("Thread.sleep") && call.contains("Sleeper"));
    }

    private static <T> Flux<T> stream(WebClient http, String path, Class<T> type) {
        return http.get()
                .uri(path)
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(type);
    }

    private static Mono<Void> post(WebClient http, String path) {
        return http.post().uri(path).retrieve().bodyToMono(Void.class);
    }

    private static Mono<Integer> status(WebClient http, String path) {
        return http.post()
                .uri(path)
                .exchangeToMono(answer ->
                        answer.releaseBody().thenReturn(answer.statusCode().value()));
    }

    private static <T> T with(
            Function<String, ConfigurableApplicationContext> service, Function<WebClient, Mono<T>> customers) {
        return new RedisOption()
                .use(uri -> Mono.usingWhen(
                        Mono.fromCallable(() -> service.apply(uri)).subscribeOn(Schedulers.boundedElastic()),
                        opened -> customers.apply(WebClient.create(
                                "http://127.0.0.1:" + opened.getEnvironment().getProperty("local.server.port"))),
                        HandlersTest::close))
                .block(Duration.ofMinutes(3));
    }

    private static Mono<Void> close(ConfigurableApplicationContext opened) {
        Mono<Void> tills = opened.getBeanProvider(Tills.class)
                .stream()
                .findFirst()
                .map(Tills::close)
                .orElse(Mono.empty());
        return tills.then(Mono.<Void>fromRunnable(opened::close).subscribeOn(Schedulers.boundedElastic()));
    }

    private static ConfigurableApplicationContext till(String redis) {
        SpringApplication application = new SpringApplication(Shop.class, Sleeper.class);
        Map<String, Object> properties = new HashMap<>(properties(redis));
        properties.put("packing", "20ms");
        properties.put("shelf", "sold");
        application.setDefaultProperties(properties);
        return application.run();
    }

    private static ConfigurableApplicationContext front(String redis) {
        SpringApplication application = new SpringApplication(Front.class);
        application.setDefaultProperties(properties(redis));
        application.addInitializers(context -> ((GenericApplicationContext) context)
                .registerBean(Settings.class, () -> new Settings(redis, Duration.ofMillis(20), true)));
        return application.run();
    }

    private static Map<String, Object> properties(String redis) {
        return Map.of("server.port", 0, "spring.data.redis.url", redis, "reactive-lock.name", "till-1");
    }
}
