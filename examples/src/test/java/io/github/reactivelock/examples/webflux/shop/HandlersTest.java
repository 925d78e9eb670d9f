package io.github.reactivelock.examples.webflux.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.examples.webflux.Blocked;
import io.github.reactivelock.spring.boot.LockClientCustomizer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Two instances of the shop in this process, whose event loops BlockHound watches. */
class HandlersTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final String WAITING = "reactive.lock.waiting";

    /** A handler as none should be. */
    @RestController
    static final class Sleeper {
        @GetMapping("/sleep")
        Mono<String> sleep() throws InterruptedException {
            Thread.sleep(1);
            return Mono.just("slept");
        }
    }

    /** A busy machine may take long for the first question to the store. */
    @Configuration(proxyBeanMethods = false)
    static class Patience {
        @Bean
        LockClientCustomizer patience() {
            return builder -> {
                var unused = builder.commandTimeout(LIMIT);
            };
        }
    }

    @BeforeEach
    void forget() {
        Blocked.CALLS.clear();
    }

    @Test
    void noHandlerBlocksAnEventLoopAndEachSaleCounts() {
        List<Receipt> served = with(shops -> {
            Mono<List<Activity>> allReleased = Flux.fromIterable(shops)
                    .flatMap(shop -> until(shop, now -> released(now) == 5))
                    .collectList();
            Flux<Receipt> orders =
                    Flux.range(0, 10).flatMap(number -> order(shops.get(number % 2), number < 4 ? "bread" : "coffee"));
            return Mono.zip(allReleased, orders.collectList()).map(both -> both.getT2());
        });

        assertThat(served)
                .extracting(receipt -> receipt.item() + receipt.sold())
                .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 10)
                        .mapToObj(number -> number <= 4 ? "bread" + number : "coffee" + (number - 4))
                        .toList());
        assertThat(Blocked.CALLS).isEmpty();
    }

    @Test
    void aHandlerThatBlocksIsSeen() {
        int status = with(shops -> shops.get(0)
                .get()
                .uri("/sleep")
                .exchangeToMono(answer ->
                        answer.releaseBody().thenReturn(answer.statusCode().value())));

        assertThat(status).isEqualTo(500);
        assertThat(Blocked.CALLS).anyMatch(call -> call.contains("Thread.sleep") && call.contains("Sleeper"));
    }

    @Test
    void aCustomerWhoHangsUpLeavesTheQueue() {
        Activity end = with("10m", shops -> {
            Disposable holder = order(shops.get(0), "bread").subscribe(sold -> {}, gone -> {});
            return until(shops.get(0), now -> now.uses().stream().anyMatch(LockUse::isHeld))
                    .then(Mono.firstWithSignal(
                            order(shops.get(1), "bread").then(Mono.<Activity>empty()),
                            until(shops.get(1), now -> !now.uses().isEmpty())))
                    .then(until(
                            shops.get(1),
                            now -> now.uses().isEmpty()
                                    && Objects.equals(now.metrics().get(WAITING), 0.0)))
                    .doFinally(signal -> holder.dispose());
        });

        assertThat(end.metrics()).containsEntry(WAITING, 0.0);
    }

    @Test
    void anItemThatIsNotThereIsNotFoundAndNothingIsLocked() {
        int status = with(shops -> shops.get(0)
                .post()
                .uri("/orders/nothing")
                .exchangeToMono(answer ->
                        answer.releaseBody().thenReturn(answer.statusCode().value())));

        assertThat(status).isEqualTo(404);
    }

    @Test
    void whatTheLocksDoIsInTheActuatorToo() {
        List<String> told = with(shops -> order(shops.get(0), "apples")
                .thenMany(Flux.just("/health", "/locks", "/metrics/reactive.lock.acquire", "/prometheus"))
                .concatMap(path ->
                        shops.get(0).get().uri("/actuator" + path).retrieve().bodyToMono(String.class))
                .collectList());

        assertThat(told.get(0)).contains("\"status\":\"UP\"");
        assertThat(told.get(1)).contains("\"held\":[]");
        assertThat(told.get(2)).contains("\"statistic\":\"COUNT\",\"value\":1.0");
        assertThat(told.get(3)).containsPattern("reactive_lock_acquire_seconds_count\\{.*lock=\"item\".*} 1");
    }

    private static Mono<Receipt> order(WebClient shop, String item) {
        return shop.post().uri("/orders/{item}", item).retrieve().bodyToMono(Receipt.class);
    }

    private static Flux<Activity> activity(WebClient shop) {
        return shop.get()
                .uri("/activity")
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(Activity.class);
    }

    private static Mono<Activity> until(WebClient shop, Predicate<Activity> isSo) {
        return activity(shop).filter(isSo).next();
    }

    private static long released(Activity now) {
        return now.uses().stream()
                .filter(use -> use.state() == LockUse.State.RELEASED)
                .count();
    }

    private static <T> T with(Function<List<WebClient>, Mono<T>> customers) {
        return with("20ms", customers);
    }

    private static <T> T with(String packing, Function<List<WebClient>, Mono<T>> customers) {
        return new RedisOption()
                .use(redis -> Mono.usingWhen(
                        Flux.just("shop-1", "shop-2")
                                .concatMap(name -> Mono.fromCallable(() -> open(redis, name, packing))
                                        .subscribeOn(Schedulers.boundedElastic()))
                                .collectList(),
                        shops -> customers.apply(shops.stream()
                                .map(shop -> WebClient.create("http://127.0.0.1:"
                                        + shop.getEnvironment().getProperty("local.server.port")))
                                .toList()),
                        shops -> Mono.<Void>fromRunnable(() -> shops.forEach(ConfigurableApplicationContext::close))
                                .subscribeOn(Schedulers.boundedElastic())))
                .block(LIMIT);
    }

    private static ConfigurableApplicationContext open(String redis, String name, String packing) {
        return new SpringApplication(ShopApplication.class, Sleeper.class, Patience.class)
                .run(
                        "--reactive-lock.lease=30s",
                        "--spring.data.redis.url=" + redis,
                        "--reactive-lock.name=" + name,
                        "--shop.packing=" + packing);
    }
}
