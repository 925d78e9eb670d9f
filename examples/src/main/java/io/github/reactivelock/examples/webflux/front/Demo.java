package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.webflux.shop.Receipt;
import io.github.reactivelock.examples.webflux.shop.Shelf;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The demo: customers who all come at once, over HTTP like any customer, and one who gives up; then the instance that
 * holds a lock is killed, and started again.
 */
public final class Demo {

    private static final String FIRST = Instances.NAMES.get(0);
    private static final String SECOND = Instances.NAMES.get(1);
    private static final String KILLED_UNDER = "coffee";

    private static final int EACH = 5;
    private static final int CROWD = 10;
    private static final Duration PATIENCE = Duration.ofMillis(50);
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final WebClient http;
    /** By item and token: who had which lock, as the page showed it. */
    private final Map<String, View.Served> served = new ConcurrentHashMap<>();

    /**
     * A demo that has not begun.
     *
     * @param address of the page
     */
    public Demo(String address) {
        this.http = WebClient.create(address);
    }

    /**
     * Runs it.
     *
     * @return cold; 0 if everything was sold in turn and the shop went on after the kill, 1 if not
     */
    public Mono<Integer> run() {
        Flux<View> board = http.get()
                .uri("/board")
                .accept(MediaType.TEXT_EVENT_STREAM)
                .retrieve()
                .bodyToFlux(View.class)
                .replay(1)
                .refCount();
        Mono<Integer> script = when(board, Demo::allRun)
                .flatMap(view -> rush(view, board))
                .zipWhen(good -> goOn(board))
                .map(both -> both.getT1() && both.getT2() ? 0 : 1);
        return Mono.firstWithSignal(narrate(board), script).timeout(LIMIT);
    }

    private static Mono<View> when(Flux<View> board, Predicate<View> isSo) {
        return board.filter(isSo).next();
    }

    private static boolean allRun(View view) {
        return view.instances().stream().allMatch(shop -> shop.status().equals("running"));
    }

    private static View.Lane lane(View view, String item) {
        return view.lanes().stream()
                .filter(lane -> lane.item().equals(item))
                .findFirst()
                .orElseThrow();
    }

    /** Never emits; prints each hold that the page shows as over, until the demo is over. */
    private <T> Mono<T> narrate(Flux<View> board) {
        return board.flatMapIterable(View::lanes)
                .doOnNext(lane -> lane.served().stream()
                        .filter(row -> row.end().equals("released"))
                        .filter(row -> served.put(lane.item() + row.token(), row) == null)
                        .forEach(row -> Print.line("  %-7s %s", lane.item(), describe(row))))
                .then(Mono.never());
    }

    private static String describe(View.Served row) {
        String who = row.instance() + ", token " + row.token();
        if (row.after() == null) {
            return who + ": it was free";
        }
        return row.handOverMillis() == null
                ? who + ": after " + row.after()
                : who + String.format(Locale.ROOT, ": %.1f ms after %s", row.handOverMillis(), row.after());
    }

    /** As a customer of an instance, not of the page. */
    private static Mono<Receipt> order(View view, String instance, String item) {
        return view.instances().stream()
                .filter(shop -> shop.name().equals(instance))
                .map(shop -> WebClient.create(shop.address())
                        .post()
                        .uri("/orders/{item}", item)
                        .retrieve()
                        .bodyToMono(Receipt.class))
                .findFirst()
                .orElseThrow();
    }

    private Mono<Boolean> rush(View view, Flux<View> board) {
        int all = EACH * Shelf.ITEMS.size();
        Print.line("%d orders for %d items at once, at two instances in turn", all, Shelf.ITEMS.size());
        Mono<List<Receipt>> orders = Flux.fromIterable(Shelf.ITEMS)
                .flatMap(item -> Flux.range(0, EACH)
                        .flatMap(number -> order(view, Instances.NAMES.get(number % Instances.NAMES.size()), item)))
                .collectList()
                .cache();
        return Mono.zip(orders, giveUp(view, board.takeUntilOther(orders)))
                .flatMap(both -> when(board, now -> served.size() >= all).map(now -> judge(both.getT1(), now)));
    }

    /** Emits whether a customer who joins a queue and soon hangs up got nothing. */
    private static Mono<Boolean> giveUp(View view, Flux<View> board) {
        String item = Shelf.ITEMS.get(0);
        Mono<Boolean> hangUp = Mono.fromSupplier(() -> {
            Print.line("  %-7s a customer hangs up and leaves the line", item);
            return true;
        });
        return when(board, now -> lane(now, item).waiting().size() >= 2)
                .flatMap(line -> order(view, FIRST, item).map(sold -> false).timeout(PATIENCE, hangUp))
                .defaultIfEmpty(true);
    }

    /** Two sales at once would have read the same number from the shelf, and written the same. */
    private boolean judge(List<Receipt> receipts, View view) {
        long sold = receipts.stream()
                .map(receipt -> receipt.item() + receipt.sold())
                .distinct()
                .count();
        List<View.Served> handedOver = served.values().stream()
                .filter(row -> row.handOverMillis() != null)
                .toList();
        long between = handedOver.stream()
                .filter(row -> !row.instance().equals(row.after()))
                .count();
        List<Double> millis =
                handedOver.stream().map(View.Served::handOverMillis).sorted().toList();
        Print.line(
                "orders=%d sold=%d lost=%d handovers=%d between_instances=%d p50_ms=%.1f max_ms=%.1f",
                receipts.size(),
                sold,
                receipts.size() - sold,
                handedOver.size(),
                between,
                at(millis, 50),
                at(millis, 100));
        return receipts.size() == sold
                && between > 0
                && view.lanes().stream().allMatch(lane -> lane.waiting().isEmpty());
    }

    private static double at(List<Double> sorted, int percentage) {
        return sorted.isEmpty() ? 0 : sorted.get(Math.max(1, (sorted.size() * percentage + 99) / 100) - 1);
    }

    /**
     * Emits whether the second instance serves all its customers, though the first is killed, and the first serves
     * again.
     */
    private Mono<Boolean> goOn(Flux<View> board) {
        AtomicLong killedAt = new AtomicLong();
        AtomicLong goesOnAt = new AtomicLong();
        Mono<Void> kill = when(board, view -> lane(view, KILLED_UNDER).holder().equals(FIRST))
                .doOnNext(view -> Print.line("  kill -9 %s, which holds %s", FIRST, KILLED_UNDER))
                .flatMap(view -> post("kill"))
                .doOnSuccess(done -> killedAt.set(System.nanoTime()));
        return board.next()
                .flatMap(view -> Mono.zip(
                        crowd(view, FIRST).onErrorComplete().count(),
                        crowd(view, SECOND)
                                .doOnNext(sold -> {
                                    if (killedAt.get() != 0 && goesOnAt.compareAndSet(0, System.nanoTime())) {
                                        Print.line(
                                                "  %s goes on at %s %.1f s later",
                                                KILLED_UNDER, SECOND, (goesOnAt.get() - killedAt.get()) / 1e9);
                                    }
                                })
                                .count(),
                        kill.thenReturn(true)))
                .flatMap(both -> post("start")
                        .then(when(board, Demo::allRun))
                        .flatMap(view -> order(view, FIRST, KILLED_UNDER))
                        .map(sold -> both))
                .map(both -> {
                    Print.line("killed=1 before=%d after=%d of=%d restarted=1", both.getT1(), both.getT2(), CROWD);
                    return both.getT2() == CROWD;
                });
    }

    private static Flux<Receipt> crowd(View view, String instance) {
        return Flux.range(1, CROWD).flatMap(number -> order(view, instance, KILLED_UNDER));
    }

    private Mono<Void> post(String what) {
        return http.post()
                .uri("/instances/{name}/{what}", FIRST, what)
                .retrieve()
                .toBodilessEntity()
                .then();
    }
}
