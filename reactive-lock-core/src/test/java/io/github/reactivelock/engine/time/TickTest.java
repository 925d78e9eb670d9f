package io.github.reactivelock.engine.time;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The one tick of a client is as fast as what is in use needs, and no faster. */
class TickTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Bench bench = new Bench();
    private final AtomicInteger looks = new AtomicInteger();

    /** How often the clock is looked at for holds, which ticks alone do here. */
    private int looksInASecond() {
        looks.set(0);
        bench.time.advance(SECOND);
        return looks.get();
    }

    @Test
    void aShortLeaseMakesItFastForAsLongAsItIsInUse() {
        bench.time.whileReadingWall = looks::incrementAndGet;
        bench.store.confirmsRenewals = true;
        LockHandle other = bench.hold("other", 1);
        int slow = looksInASecond();
        LockClient brief = bench.with(options -> options.withLease(Duration.ofMillis(100)));

        for (int i = 2; i < 5; i++) {
            LockHandle held = bench.hold(brief, "brief", i);
            assertThat(looksInASecond()).isGreaterThan(10 * slow);
            assertThat(held.isHeld()).isTrue();
            subscribe(held.release());
            bench.time.advance(SECOND.multipliedBy(2));
            assertThat(looksInASecond()).isBetween(slow - 2, slow + 2);
        }
        assertThat(other.isHeld()).isTrue();
    }
}
