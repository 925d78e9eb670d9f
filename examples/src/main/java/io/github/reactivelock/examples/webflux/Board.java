package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.state.LockEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * The state of the page. The store pushes who holds a lock while a browser shows the page; the tills report who waits
 * and how long a hand-over took. Safe for use from any thread: each lane is replaced atomically, and readers learn that
 * something changed, not what.
 */
@Component
final class Board {

    static final List<String> ITEMS = List.of("apples", "bread", "coffee");

    private static final Duration EMITTING_LIMIT = Duration.ofSeconds(1);
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final AtomicInteger orders = new AtomicInteger();
    private final Map<String, Lane> lanes =
            new ConcurrentHashMap<>(ITEMS.stream().collect(Collectors.toMap(item -> item, Lane::empty)));
    private final Map<String, Long> finishedAt = new ConcurrentHashMap<>();
    /** Remembers the latest change for slow readers: a sink without memory would fail then, for all. */
    private final Sinks.Many<String> changes = Sinks.many().replay().latest();

    private final Flux<LockEvent> store;

    Board(LockClient watcher) {
        this.store = Flux.fromIterable(ITEMS)
                .flatMap(item ->
                        watcher.events(Order.key(item)).doOnNext(event -> change(item, lane -> lane.told(event))))
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, ASK_AGAIN))
                .share();
    }

    /** The lanes now, and again after each change; a slow reader skips to the latest. */
    Flux<List<Lane>> live() {
        return Flux.merge(changes.asFlux(), store.ignoreElements().cast(String.class), Flux.just("now"))
                .onBackpressureLatest()
                .map(changed -> ITEMS.stream().map(this::lane).toList())
                .distinctUntilChanged();
    }

    Order asked(String till, String item) {
        Order order = new Order(orders.incrementAndGet(), till, item, System.nanoTime());
        change(item, lane -> lane.asked(order));
        return order;
    }

    Receipt started(Order order, long fencingToken) {
        long now = System.nanoTime();
        long finished = finishedAt.getOrDefault(order.item(), order.askedAt());
        // An order that found the lane empty took nothing over.
        Receipt before = finished - order.askedAt() > 0 ? lane(order.item()).latest() : null;
        Receipt receipt = new Receipt(
                order.number(),
                order.till(),
                "" + fencingToken,
                before == null ? null : before.till(),
                before == null ? null : (now - finished) / 1e6);
        change(order.item(), lane -> lane.started(order, receipt));
        return receipt;
    }

    void finished(Order order, int sold) {
        finishedAt.put(order.item(), System.nanoTime());
        change(order.item(), lane -> lane.sold(sold));
    }

    void left(Order order) {
        change(order.item(), lane -> lane.left(order));
    }

    private Lane lane(String item) {
        return lanes.getOrDefault(item, Lane.empty(item));
    }

    private void change(String item, UnaryOperator<Lane> how) {
        lanes.computeIfPresent(item, (same, lane) -> how.apply(lane));
        changes.emitNext(item, Sinks.EmitFailureHandler.busyLooping(EMITTING_LIMIT));
    }
}
