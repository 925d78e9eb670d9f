package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.examples.webflux.shop.LockUse;
import io.github.reactivelock.examples.webflux.shop.Shelf;
import io.github.reactivelock.state.LockEvent;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * The state of the page. The store pushes who holds a lock while a browser shows the page, the instances push what
 * their locks do. Safe for use from any thread: the state is replaced atomically, and readers learn that something
 * changed, not what.
 */
@Component
final class Board {

    /** A burst of changes is one message to the browser. */
    private static final Duration PAUSE = Duration.ofMillis(30);

    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final LockClient locks;
    private final Shelf shelf;
    private final AtomicReference<Fleet> fleet = new AtomicReference<>(Fleet.of(Instances.NAMES));
    private final Sinks.Many<Boolean> changes = Sinks.many().replay().latest();
    private final Flux<Integer> store;

    Board(LockClient locks, Shelf shelf) {
        this.locks = locks;
        this.shelf = shelf;
        this.store = Flux.fromIterable(Shelf.ITEMS)
                .flatMap(item -> locks.events(Shelf.lockOf(item)).concatMap(event -> told(item, event)))
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, ASK_AGAIN))
                .share();
    }

    /** The page now, and again after each change; a slow reader skips to the latest. */
    Flux<View> live() {
        return Flux.merge(changes.asFlux(), store.ignoreElements().cast(Boolean.class), Flux.just(true))
                .onBackpressureLatest()
                .concatMap(change -> Mono.delay(PAUSE).map(later -> now().view()), 0)
                .distinctUntilChanged();
    }

    private Fleet now() {
        return Objects.requireNonNull(fleet.get());
    }

    Shop shop(String name) {
        return now().shop(name);
    }

    /** If another thread tells of a change in this moment, that is enough: readers look only after the pause. */
    void change(UnaryOperator<Fleet> how) {
        fleet.updateAndGet(how);
        changes.tryEmitNext(true);
    }

    /**
     * Its process is no more. Completes when its locks are free or others': no store announces that a lease ran out.
     */
    Mono<Void> ended(String name) {
        return Mono.defer(() -> {
            long when = LockUse.now();
            change(fleet -> fleet.ended(name, when));
            return Flux.fromIterable(now().heldBy(name))
                    .flatMap(item -> {
                        String key = Shelf.lockOf(item.item());
                        return locks.awaitRelease(key)
                                .then(told(item.item(), new LockEvent.Released(key, item.token())));
                    })
                    // The page itself ends.
                    .onErrorComplete(LockClientClosedException.class)
                    .then();
        });
    }

    private Mono<Integer> told(String item, LockEvent event) {
        return Mono.defer(() -> {
            long when = LockUse.now();
            change(fleet -> fleet.told(item, event, when));
            return shelf.sold(item).doOnNext(sold -> change(fleet -> fleet.sold(item, sold)));
        });
    }
}
