package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** Takes orders. It has its own lock client, so for the locks it is a separate process. */
final class Till {

    /** First come, first served, over both tills; a customer who waits too long gets an error. */
    private static final LockOptions OPTIONS =
            LockOptions.defaults().withFairness(Fairness.FIFO).withWaitTimeout(Duration.ofSeconds(60));

    private final String name;
    private final LockClient lock;
    private final Shelf shelf;
    private final Board board;

    Till(String name, Settings settings, Shelf shelf, Board board) {
        this.name = name;
        this.lock = LockClient.builder(LettuceLockBackend.connect(settings.redis()))
                .name(name)
                .options(OPTIONS)
                .build();
        this.shelf = shelf;
        this.board = board;
    }

    /**
     * Sells one of an item. If cancelled, as when a customer closes the page, it leaves the queue or puts the item
     * back.
     */
    Mono<Receipt> order(String item) {
        return Mono.defer(() -> {
            Order order = board.asked(name, item);
            return lock.withLock(Order.key(item), held -> sell(order, held.fencingToken()))
                    .doFinally(end -> board.left(order));
        });
    }

    private Mono<Receipt> sell(Order order, long fencingToken) {
        Receipt receipt = board.started(order, fencingToken);
        // Before the lock hears of the end and goes to the next; doFinally would come after that.
        Runnable finished = () -> board.finished(order, shelf.sold(order.item()));
        return shelf.sell(order.item(), fencingToken)
                .doOnTerminate(finished)
                .doOnCancel(finished)
                .thenReturn(receipt);
    }

    Mono<Void> close() {
        return lock.close();
    }
}
