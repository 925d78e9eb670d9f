package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Prints what a lock that is taken once leaves behind. */
class OneTimeKeysTest {

    private static final int KEYS = 20_000;

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    @Test
    void aLockThatIsTakenOnceLeavesLessThanTwoHundredBytesForTenMinutes() {
        LockBackend backend = fixture.backend();
        takeOnce(backend, "warm up");
        long before = used();

        for (int i = 0; i < KEYS; i++) {
            takeOnce(backend, "order:" + i);
        }

        long bytes = (used() - before) / KEYS;
        long seconds = fixture.redis.ttl("{reactivelock:order:" + (KEYS - 1) + "}:token");
        System.out.println("Redis: a lock taken once leaves " + bytes + " bytes for " + seconds + " s");
        assertThat(bytes).isLessThan(200);
        assertThat(seconds).isBetween(500L, 600L);
    }

    private static void takeOnce(LockBackend backend, String key) {
        Claim claim = claim(key);
        take(backend, claim);
        release(backend, claim);
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
