package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.Print;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The demo: customers who all come at once, over HTTP like any customer, and one who gives up. */
final class Rush {

    private static final int EACH = 5;
    private static final Duration PATIENCE = Duration.ofMillis(50);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final ParameterizedTypeReference<List<Lane>> LANES = new ParameterizedTypeReference<>() {};

    private final WebClient http;

    Rush(String address) {
        this.http = WebClient.create(address);
    }

    /** Emits 0 if everything was sold in turn, 1 if not. */
    Mono<Integer> run() {
        int all = EACH * Board.ITEMS.size();
        Print.line("%d orders for %d items at once, through two tills in turn", all, Board.ITEMS.size());
        Flux<List<Lane>> board = board().share();
        Mono<Map<String, List<Receipt>>> orders = board.next()
                .thenMany(Flux.fromIterable(Board.ITEMS))
                .flatMap(item -> Flux.range(1, EACH)
                        .flatMap(number -> order("till-" + (1 + number % 2), item))
                        .collectList()
                        .map(receipts -> Map.entry(item, receipts)))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue)
                .cache();
        Mono<Integer> outcome = Mono.zip(orders, giveUp(board.takeUntilOther(orders)))
                .flatMap(both -> board().next().map(lanes -> judge(both.getT1(), both.getT2(), lanes)));
        return Mono.firstWithSignal(narrate(board), outcome).timeout(LIMIT);
    }

    private Mono<Receipt> order(String till, String item) {
        return http.post()
                .uri("/tills/{till}/orders/{item}", till, item)
                .retrieve()
                .bodyToMono(Receipt.class);
    }

    private Flux<List<Lane>> board() {
        return http.get()
                .uri("/board")
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(LANES);
    }

    /** Never emits; prints the page's changes until the demo is over. */
    private <T> Mono<T> narrate(Flux<List<Lane>> board) {
        return board.flatMapIterable(lanes -> lanes)
                .flatMapIterable(lane -> lane.served().stream()
                        .map(receipt -> Map.entry(lane.item(), receipt))
                        .toList())
                .distinct(served -> served.getValue().order())
                .doOnNext(served -> Print.line("  %-7s %s", served.getKey(), describe(served.getValue())))
                .then(Mono.never());
    }

    private static String describe(Receipt receipt) {
        String who = "order " + receipt.order() + " at " + receipt.till() + ", token " + receipt.token();
        return receipt.handOverMillis() == null
                ? who + ": it was free"
                : who + String.format(Locale.ROOT, ": %.1f ms after %s", receipt.handOverMillis(), receipt.after());
    }

    /**
     * Emits how many orders were served to a customer who joins a queue and soon hangs up: 0 unless time stood still.
     */
    private Mono<Integer> giveUp(Flux<List<Lane>> board) {
        Mono<Integer> hangUp = Mono.fromRunnable(() -> Print.line("  apples  a customer hangs up and leaves the line"));
        return board.filter(lanes -> lanes.get(0).waiting().size() >= 2)
                .next()
                .flatMap(line ->
                        order("till-1", Board.ITEMS.get(0)).map(served -> 1).timeout(PATIENCE, hangUp))
                .defaultIfEmpty(0);
    }

    private static int judge(Map<String, List<Receipt>> receipts, int others, List<Lane> lanes) {
        int orders = receipts.values().stream().mapToInt(List::size).sum();
        int sold = lanes.stream().mapToInt(Lane::sold).sum() - others;
        long distinct = receipts.values().stream()
                .mapToLong(some -> some.stream().map(Receipt::token).distinct().count())
                .sum();
        List<Receipt> handedOver = receipts.values().stream()
                .flatMap(List::stream)
                .filter(receipt -> receipt.handOverMillis() != null)
                .toList();
        long between = handedOver.stream()
                .filter(receipt -> !receipt.till().equals(receipt.after()))
                .count();
        List<Double> millis =
                handedOver.stream().map(Receipt::handOverMillis).sorted().toList();
        Print.line(
                "orders=%d sold=%d lost=%d handovers=%d between_tills=%d p50_ms=%.1f max_ms=%.1f",
                orders, sold, orders - sold, handedOver.size(), between, at(millis, 50), at(millis, 100));
        boolean good = orders == sold
                && distinct == orders
                && between > 0
                && lanes.stream().allMatch(lane -> lane.waiting().isEmpty());
        return good ? 0 : 1;
    }

    private static double at(List<Double> sorted, int percentage) {
        return sorted.isEmpty() ? 0 : sorted.get(Math.max(1, (sorted.size() * percentage + 99) / 100) - 1);
    }
}
