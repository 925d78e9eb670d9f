package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Prints what a lock that is taken once leaves behind. */
class OneTimeKeysTest {

    private static final int KEYS = 20_000;
    /** More and the server's memory for messages under way would count. */
    private static final int AT_ONCE = 16;
    /** For more than a thousand round trips, one after the other. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    @Test
    void aLockTakenOnceLeavesUnderTwoHundredBytesForTenMinutes() {
        LockBackend backend = fixture.backend();
        assertThat(takenOnce(backend, claim("warm up")).block(RedisFixture.PATIENCE))
                .isTrue();
        long before = used();

        List<Claim> claims =
                IntStream.range(0, KEYS).mapToObj(i -> claim("order:" + i)).toList();
        long taken = Flux.fromIterable(claims)
                .flatMap(claim -> takenOnce(backend, claim), AT_ONCE)
                .count()
                .block(LIMIT);

        long bytes = (used() - before) / KEYS;
        long seconds = fixture.redis.ttl("{reactivelock:order:" + (KEYS - 1) + "}:token");
        System.out.println("Redis: a lock taken once leaves " + bytes + " bytes for " + seconds + " s");
        assertThat(taken).isEqualTo(KEYS);
        assertThat(bytes).isLessThan(200);
        assertThat(seconds).isBetween(500L, 600L);
    }

    private static Mono<Boolean> takenOnce(LockBackend backend, Claim claim) {
        return backend.claim(claim)
                .cast(ClaimResult.Granted.class)
                .then(backend.release(claim))
                .filter(released -> released);
    }

    private static long used() {
        return fixture.redis
                .info("memory")
                .lines()
                .filter(line -> line.startsWith("used_memory:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
    }
}
