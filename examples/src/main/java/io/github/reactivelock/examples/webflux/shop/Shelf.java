package io.github.reactivelock.examples.webflux.shop;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * How many of each item were sold. An order reads that, packs the item, and then writes it: two orders at once would lose one
 * of the two sales. Nothing here prevents that.
 */
@Component
class Shelf {

    private final ReactiveStringRedisTemplate redis;
    private final String shelf;
    private final Duration packing;

    Shelf(
            ReactiveStringRedisTemplate redis,
            @Value("${shelf}") String shelf,
            @Value("${packing}") Duration packing) {
        this.redis = redis;
        this.shelf = shelf;
        this.packing = packing;
    }

    /** Emits how many were sold, this one included. */
    Mono<Integer> sell(String item) {
        return redis.<String, String>opsForHash()
                .get(shelf, item)
                .map(Integer::parseInt)
                .defaultIfEmpty(0)
                .delayElement(packing)
                .map(before -> before + 1)
                .flatMap(sold ->
                        redis.opsForHash().put(shelf, item, Integer.toString(sold)).thenReturn(sold));
    }
}
