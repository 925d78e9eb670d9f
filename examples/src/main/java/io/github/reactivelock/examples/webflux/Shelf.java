package io.github.reactivelock.examples.webflux;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * How many of each item were sold; stands for a database. An order reads it, packs the item, then writes it: two orders
 * at once lose one of the two sales. It is safe for use from any thread, which does not prevent that.
 */
@Component
final class Shelf {

    private final Duration packing;
    private final Map<String, Count> counts = new ConcurrentHashMap<>();

    Shelf(Settings settings) {
        this.packing = settings.packing();
    }

    /** Emits how many were sold, this one included. */
    Mono<Integer> sell(String item, long fencingToken) {
        return Mono.fromSupplier(() -> sold(item)).delayElement(packing).map(sold -> {
            write(item, new Count(sold + 1, fencingToken));
            return sold + 1;
        });
    }

    int sold(String item) {
        return counts.getOrDefault(item, Count.NONE).sold();
    }

    private void write(String item, Count count) {
        counts.merge(item, count, (seen, now) -> {
            if (now.fencingToken() < seen.fencingToken()) {
                throw new IllegalStateException("a later holder has written already: " + item);
            }
            return now;
        });
    }

    private record Count(int sold, long fencingToken) {
        static final Count NONE = new Count(0, 0);
    }
}
