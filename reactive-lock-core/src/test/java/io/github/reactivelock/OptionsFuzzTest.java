package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.reactivelock.text.Validation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Random options: what is in bounds is kept as it is, what is not is refused and named. */
class OptionsFuzzTest {

    private static final int ROUNDS = 20_000;
    private static final Duration LONGEST = Duration.ofDays(365);

    private final long seed = Long.getLong("reactivelock.fuzz.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** Of every order of magnitude, and often right beside a bound. */
    private Duration duration(Duration shortest) {
        return switch (random.nextInt(4)) {
            case 0 -> shortest.plusNanos(random.nextInt(5) - 2);
            case 1 -> LONGEST.plusNanos(random.nextInt(5) - 2);
            case 2 -> Duration.ofNanos(random.nextLong() >> random.nextInt(63));
            default -> Duration.ofSeconds(random.nextLong() >> random.nextInt(63), random.nextInt(1_000_000_000));
        };
    }

    private void assertBounded(Duration shortest, Function<Duration, Duration> kept) {
        for (int round = 0; round < ROUNDS; round++) {
            Duration value = duration(shortest);
            boolean inBounds = value.compareTo(shortest) >= 0 && value.compareTo(LONGEST) <= 0;
            Duration[] result = new Duration[1];

            Throwable refused = catchThrowable(() -> result[0] = kept.apply(value));

            if (inBounds) {
                assertThat(refused).as("seed %d, %s", seed, value).isNull();
                assertThat(result[0]).as("seed %d", seed).isEqualTo(value);
            } else {
                assertThat(refused)
                        .as("seed %d", seed)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(value.toString());
            }
        }
    }

    @Test
    void leasesAreKeptOrRefused() {
        assertBounded(
                Duration.ofMillis(100),
                value -> LockOptions.defaults().withLease(value).lease());
    }

    @Test
    void longestHoldsAreKeptOrRefused() {
        assertBounded(
                Duration.ofMillis(100),
                value -> LockOptions.defaults().withMaxHold(value).maxHold().orElseThrow());
    }

    @Test
    void shortestHoldsAreKeptOrRefused() {
        assertBounded(
                Duration.ofMillis(1),
                value -> LockOptions.defaults().withMinHold(value).minHold().orElseThrow());
    }

    @Test
    void lockDelaysAreKeptOrRefused() {
        assertBounded(
                Duration.ofMillis(1),
                value -> LockOptions.defaults().withLockDelay(value).lockDelay().orElseThrow());
    }

    @Test
    void retentionsAreKeptOrRefused() {
        assertBounded(
                Duration.ofMillis(1),
                value -> LockOptions.defaults().withRetention(value).retention().orElseThrow());
    }

    @Test
    void waitTimeoutsAreKeptOrRefused() {
        assertBounded(
                Duration.ofNanos(1),
                value -> LockOptions.defaults()
                        .withWaitTimeout(value)
                        .waitTimeout()
                        .orElseThrow());
    }

    @Test
    void anyTextIsAKeyAndKeptWholeOrRefusedForItsReason() {
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(random.nextBoolean() ? 10 : 600); length > 0; length--) {
                text.append((char) (random.nextInt(4) == 0 ? random.nextInt(0x10000) : random.nextInt(0x80)));
            }
            String key = text.toString();
            boolean encodable = StandardCharsets.UTF_8.newEncoder().canEncode(key);
            boolean good = encodable && !key.isBlank() && key.getBytes(StandardCharsets.UTF_8).length <= 512;
            String[] result = new String[1];

            Throwable refused = catchThrowable(() -> result[0] = Validation.key(key));

            if (good) {
                assertThat(result[0]).as("seed %d", seed).isEqualTo(key);
            } else {
                assertThat(refused)
                        .as("seed %d, '%s'", seed, key)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("key of a lock");
            }
        }
    }
}
