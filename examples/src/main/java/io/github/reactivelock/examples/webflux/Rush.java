package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.webflux.shop.Receipt;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The demo: customers who all come at once, over HTTP like any customer, and one who gives up. Then a till is killed while it has
 * a lock, and the other one gets that when the lease is over.
 */
final class Rush {

    private static final int EACH = 5;
    private static final Duration PATIENCE = Duration.ofMillis(50);
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final String FIRST = Board.TILLS.get(0);
    private static final String SECOND = Board.TILLS.get(1);
    private static final String APPLES = Board.ITEMS.get(0);
    private static final String COFFEE = Board.ITEMS.get(2);

    private final WebClient http;

    Rush(String address) {
        this.http = WebClient.create(address);
    }

    /** Emits 0 if everything was sold in turn, 1 if not. */
    Mono<Integer> run() {
        Flux<View> board = board().share();
        Mono<Integer> outcome = rush(board).flatMap(code -> crash(board).thenReturn(code));
        return Mono.firstWithSignal(narrate(board), outcome).timeout(LIMIT);
    }

    private Mono<Integer> rush(Flux<View> board) {
        Print.line(
                "%d orders for %d items at once, through two tills in turn",
                EACH * Board.ITEMS.size(), Board.ITEMS.size());
        Mono<List<Receipt>> orders = board.next()
                .thenMany(Flux.fromIterable(Board.ITEMS))
                .flatMap(item -> Flux.range(1, EACH).flatMap(number -> order(number % 2 == 0 ? FIRST : SECOND, item)))
                .collectList()
                .cache();
        return Mono.zip(orders, giveUp(board.takeUntilOther(orders)))
                .flatMap(both -> settled().map(view -> judge(both.getT1(), both.getT2(), view)));
    }

    /** Kills a till under its lock; the order behind it waits for the rest of the lease. */
    private Mono<Void> crash(Flux<View> board) {
        Mono<Void> killed = board.filter(view -> isHeldBy(view, FIRST))
                .next()
                .doOnNext(view -> Print.line("  %-7s %s is killed while it has the lock", COFFEE, FIRST))
                .then(post("/tills/{till}/kill", FIRST));
        Mono<Void> victim =
                order(FIRST, COFFEE).then().onErrorComplete().and(killed);
        return victim.then(order(SECOND, COFFEE)).then(board().filter(view -> view.lanes().get(2).served().stream()
                        .anyMatch(one -> one.till().equals(SECOND) && one.outcome().equals("done")))
                .next())
                .doOnNext(view -> Print.line("crash: %s has the lock after the lease of %s", SECOND, FIRST))
                .then();
    }

    private static boolean isHeldBy(View view, String till) {
        Served holder = view.lanes().get(2).holder();
        return holder != null && holder.till().equals(till);
    }

    private Mono<Receipt> order(String till, String item) {
        return http.post()
                .uri("/tills/{till}/orders/{item}", till, item)
                .retrieve()
                .bodyToMono(Receipt.class);
    }

    private Mono<Void> post(String path, String till) {
        return http.post().uri(path, till).retrieve().bodyToMono(Void.class);
    }

    private Flux<View> board() {
        return http.get()
                .uri("/board")
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(View.class);
    }

    /** The board when word of the last order has come. */
    private Mono<View> settled() {
        Predicate<Lane> isQuiet = lane -> !lane.taken() && lane.waiting().isEmpty();
        return board().filter(view -> view.lanes().stream().allMatch(isQuiet)).next();
    }

    /** Never emits; prints the page's changes until the demo is over. */
    private <T> Mono<T> narrate(Flux<View> board) {
        return board.flatMapIterable(View::lanes)
                .flatMapIterable(lane -> lane.served().stream()
                        .map(one -> Map.entry(lane.item(), one))
                        .toList())
                .distinct(one -> one.getValue().order())
                .doOnNext(one -> Print.line("  %-7s %s", one.getKey(), describe(one.getValue())))
                .then(Mono.never());
    }

    private static String describe(Served one) {
        String who = "order " + one.order() + " at " + one.till() + ", token " + one.token();
        return one.handOverMillis() == null
                ? who + ": it was free"
                : who + String.format(Locale.ROOT, ": %.1f ms after %s", one.handOverMillis(), one.before());
    }

    /** Emits how many orders were served to a customer who joins a line and soon hangs up: 0 unless time stood still. */
    private Mono<Integer> giveUp(Flux<View> board) {
        Mono<Integer> hangUp =
                Mono.fromRunnable(() -> Print.line("  %-7s a customer hangs up and leaves the line", APPLES));
        return board.filter(view -> view.lanes().get(0).waiting().size() >= 2)
                .next()
                .flatMap(line -> order(FIRST, APPLES).map(served -> 1).timeout(PATIENCE, hangUp))
                .defaultIfEmpty(0);
    }

    private static int judge(List<Receipt> receipts, int others, View view) {
        int sold = view.lanes().stream().mapToInt(Lane::sold).sum() - others;
        long tokens = receipts.stream()
                .map(receipt -> receipt.item() + receipt.token())
                .distinct()
                .count();
        List<Served> takenOver = view.lanes().stream()
                .flatMap(lane -> lane.served().stream())
                .filter(one -> one.handOverMillis() != null)
                .toList();
        long between = takenOver.stream()
                .filter(one -> !one.till().equals(one.before()))
                .count();
        List<Double> millis =
                takenOver.stream().map(Served::handOverMillis).sorted().toList();
        Print.line(
                "orders=%d sold=%d lost=%d handovers=%d between_tills=%d p50_ms=%.1f max_ms=%.1f",
                receipts.size(), sold, receipts.size() - sold, takenOver.size(), between, at(millis, 50), at(millis, 100));
        boolean good = receipts.size() == EACH * Board.ITEMS.size()
                && receipts.size() == sold
                && tokens == receipts.size()
                && between > 0;
        return good ? 0 : 1;
    }

    private static double at(List<Double> sorted, int percentage) {
        return sorted.isEmpty() ? 0 : sorted.get(Math.max(1, (sorted.size() * percentage + 99) / 100) - 1);
    }
}
