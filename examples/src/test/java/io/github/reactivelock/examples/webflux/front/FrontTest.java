package io.github.reactivelock.examples.webflux.front;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.examples.webflux.Blocked;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The page's service in this process, whose event loops BlockHound watches, with instances as processes of their own.
 */
class FrontTest {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Longer than any test: who has a lock keeps it until something happens to its instance. */
    private static final int FOR_EVER = 600_000;

    @BeforeEach
    void forget() {
        Blocked.CALLS.clear();
    }

    @Test
    void theOtherInstanceGetsAKilledOnesLockAndTheKilledOneRestarts() {
        View moved = with((http, board) -> whoHoldsAndWho(http, board)
                .then(post(http, "/instances/shop-1/kill"))
                .then(when(board, view -> instance(view, "shop-1").status().equals("ended")))
                .then(when(
                        board,
                        view -> bread(view).holder().equals("shop-2")
                                && bread(view).served().size() == 2))
                .delayUntil(view -> post(http, "/instances/shop-1/start"))
                .delayUntil(view ->
                        when(board, later -> instance(later, "shop-1").status().equals("running"))));

        View.Lane bread = bread(moved);
        assertThat(bread.moves()).isEqualTo(1);
        assertThat(bread.waiting()).isEmpty();
        View.Served second = bread.served().get(0);
        View.Served first = bread.served().get(1);
        assertThat(first.instance()).isEqualTo("shop-1");
        assertThat(first.end()).isEqualTo("killed");
        assertThat(second.instance()).isEqualTo("shop-2");
        assertThat(second.end()).isEqualTo("holds");
        assertThat(second.after()).isEqualTo("shop-1");
        assertThat(second.handOverMillis()).isPositive();
        assertThat(Long.parseLong(second.token())).isGreaterThan(Long.parseLong(first.token()));
        assertThat(moved.news())
                .extracting(View.News::text)
                .contains("shop-1 has ended while it held bread")
                .anyMatch(text -> text.matches("shop-2 has bread, \\d+\\.\\d s after shop-1 was killed"));
        assertThat(Blocked.CALLS).isEmpty();
    }

    @Test
    void anInstanceThatSleepsPastItsLeaseLearnsOfTheLossOnWaking() {
        View lost = with((http, board) -> whoHoldsAndWho(http, board)
                .then(post(http, "/instances/shop-1/pause"))
                .then(when(board, view -> bread(view).holder().equals("shop-2")))
                .then(post(http, "/instances/shop-1/resume"))
                .then(when(
                        board,
                        view -> instance(view, "shop-1").lost() == 1
                                && bread(view).served().get(1).end().startsWith("lost"))));

        assertThat(bread(lost).holder()).isEqualTo("shop-2");
        assertThat(instance(lost, "shop-1").holding()).isZero();
        assertThat(instance(lost, "shop-1").metrics().get("reactive.lock.at.risk"))
                .isEqualTo(1);
        assertThat(lost.news()).extracting(View.News::text).anyMatch(text -> text.startsWith("shop-1 lost bread: "));
    }

    @Test
    void missingPagesAreReportedAndAStoppedInstanceIsAskedNothing() {
        String said = with((http, board) -> when(board, FrontTest::allRun)
                .then(post(http, "/instances/shop-2/kill"))
                .then(when(board, view -> instance(view, "shop-2").status().equals("ended")))
                .thenMany(Flux.just(
                        "/instances/shop-2/orders/bread",
                        "/instances/shop-1/orders/nothing",
                        "/instances/shop-9/kill",
                        "/rushes/nothing",
                        "/instances/shop-2/kill",
                        "/instances/shop-2/pause"))
                .concatMap(path -> post(http, path))
                .map(HttpStatusCode::value)
                .collectList()
                .map(Object::toString));

        assertThat(said).isEqualTo("[409, 404, 404, 404, 200, 200]");
    }

    private static Mono<View> whoHoldsAndWho(WebClient http, Flux<View> board) {
        return when(board, FrontTest::allRun)
                .then(post(http, "/instances/shop-1/orders/bread"))
                .then(when(
                        board,
                        view -> bread(view).holder().equals("shop-1")
                                && instance(view, "shop-1").holding() == 1))
                .then(post(http, "/instances/shop-2/orders/bread"))
                .then(when(board, view -> bread(view).waiting().size() == 1));
    }

    private static boolean allRun(View view) {
        return view.instances().stream().allMatch(shop -> shop.status().equals("running"));
    }

    private static View.Instance instance(View view, String name) {
        return view.instances().stream()
                .filter(shop -> shop.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static View.Lane bread(View view) {
        return view.lanes().get(1);
    }

    private static Mono<View> when(Flux<View> board, Predicate<View> isSo) {
        return board.filter(isSo).next();
    }

    private static Mono<HttpStatusCode> post(WebClient http, String path) {
        return http.post()
                .uri(path)
                .exchangeToMono(answer -> answer.releaseBody().thenReturn(answer.statusCode()));
    }

    private static <T> T with(BiFunction<WebClient, Flux<View>, Mono<T>> customers) {
        return new RedisOption()
                .use(redis -> Mono.usingWhen(
                        Mono.fromCallable(() -> FrontApplication.open(redis, 0, FOR_EVER))
                                .subscribeOn(Schedulers.boundedElastic()),
                        front -> {
                            WebClient http = WebClient.create(
                                    "http://127.0.0.1:" + front.getEnvironment().getProperty("local.server.port"));
                            Flux<View> board = http.get()
                                    .uri("/board")
                                    .accept(MediaType.TEXT_EVENT_STREAM)
                                    .retrieve()
                                    .bodyToFlux(View.class)
                                    .replay(1)
                                    .refCount();
                            return Mono.firstWithSignal(board.then(Mono.never()), customers.apply(http, board));
                        },
                        FrontApplication::close))
                .block(LIMIT);
    }
}
