package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spring.WithLock;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Sells under the lock of an item: first come, first served, over all tills. */
@Component
class Till {

    private final Shelf shelf;
    private final String name;

    Till(Shelf shelf, @Value("${reactive-lock.name}") String name) {
        this.shelf = shelf;
        this.name = name;
    }

    /** Emits when one is sold. If cancelled, as when a customer hangs up, it leaves the line or puts the item back. */
    @WithLock(name = "item", key = "#item")
    public Mono<Receipt> sell(String item, int order, @Nullable LockHandle held) {
        String token = Long.toString(Objects.requireNonNull(held, "put in by @WithLock").fencingToken());
        return shelf.sell(item).map(sold -> new Receipt(order, item, name, token, sold));
    }
}
