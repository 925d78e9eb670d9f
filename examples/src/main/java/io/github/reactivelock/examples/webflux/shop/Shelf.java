package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.redis.RedisFencingGuard;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * How many of each item were sold, in the application's Redis. A sale reads it, packs the item, then writes it: two
 * sales at once would count as one. The guard has Redis refuse what a former holder of the lock writes late.
 */
@Component
public final class Shelf {

    /** What is sold here. */
    public static final List<String> ITEMS = List.of("apples", "bread", "coffee");

    static final String LOCK = "item";

    private final ReactiveStringRedisTemplate redis;
    private final RedisFencingGuard guard;
    private final Duration packing;

    Shelf(ReactiveStringRedisTemplate redis, LockBackend locks, @Value("${shop.packing}") Duration packing) {
        this.redis = redis;
        this.guard = ((LettuceLockBackend) locks).fencingGuard();
        this.packing = packing;
    }

    /**
     * The lock of an item.
     *
     * @param item one of {@link #ITEMS}
     * @return its key, as {@code @WithLock} makes it of a name and a value
     */
    public static String lockOf(String item) {
        return LOCK + ":" + item;
    }

    /**
     * How many were sold.
     *
     * @param item one of {@link #ITEMS}
     * @return cold; zero at first
     */
    public Mono<Integer> sold(String item) {
        return redis.opsForValue().get(key(item)).map(Integer::valueOf).defaultIfEmpty(0);
    }

    /** Emits how many were sold, this one included. */
    Mono<Integer> sell(String item, long fencingToken) {
        return sold(item)
                .delayElement(packing)
                .map(sold -> sold + 1)
                .flatMap(sold -> guard.write(key(item), fencingToken, "SET", Integer.toString(sold))
                        .thenReturn(sold));
    }

    private static String key(String item) {
        return "reactive-lock-example:sold:" + item;
    }
}
