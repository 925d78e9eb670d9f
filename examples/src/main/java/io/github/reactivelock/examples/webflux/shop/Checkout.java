package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spring.WithLock;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

/** Sells one item at a time, over all instances. */
@Service
class Checkout {

    private final Shelf shelf;
    private final LockActivity activity;

    Checkout(Shelf shelf, LockActivity activity) {
        this.shelf = shelf;
        this.activity = activity;
    }

    /** Under the lock "item:bread". The caller passes null for the hold, and {@code @WithLock} puts it there. */
    @WithLock(name = Shelf.LOCK, key = "#item")
    public Mono<Receipt> sell(String item, @Nullable LockHandle held) {
        long token = Objects.requireNonNull(held).fencingToken();
        // Before the end reaches the lock, which then goes to the next; doFinally would come after that.
        Runnable done = () -> activity.workEnded(held);
        return shelf.sell(item, token)
                .map(sold -> new Receipt(item, sold, Long.toString(token)))
                .doOnTerminate(done)
                .doOnCancel(done);
    }
}
