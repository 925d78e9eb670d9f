package io.github.reactivelock.engine.time;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Leases that the clock margin or the way to the store uses up. */
class ShortLeaseTest {

    private static final Duration LEASE = Duration.ofMillis(100);
    private static final Duration ROUND_TRIP = Duration.ofMillis(80);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient brief = bench.with(options -> options.withLease(LEASE));

    @Test
    void aMarginAsLongAsTheLeaseIsRefusedWhenAClientIsMade() {
        LockOptions half = LockOptions.defaults().withLease(Duration.ofMillis(500));
        LockClientBuilder builder = LockClient.builder(store).clockMargin(0.01, Duration.ofSeconds(1));

        assertThatThrownBy(builder.options(half)::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("PT0.5S", "clockMargin(0.01, PT1S)", "longer lease or a smaller margin");
    }

    @Test
    void aMarginAsLongAsTheLeaseIsRefusedWithOtherOptions() {
        Bench wide = new Bench(settings -> settings.clockMargin(0.5, Duration.ofSeconds(5)));

        assertThat(wide.with(options -> options.withLease(Duration.ofMinutes(2))))
                .isNotNull();
        assertThatThrownBy(() -> wide.with(options -> options.withLease(Duration.ofSeconds(30))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("leaves only PT10S");
    }

    @Test
    void aWayToTheStoreThatUsesUpTheLeaseEndsTheWait() {
        TestSubscriber<LockHandle> flow = subscribe(brief.acquire("k"));
        TestSubscriber<LockHandle> behind = subscribe(brief.acquire("k"));
        TestSubscriber<LockHandle> patient = subscribe(bench.client.acquire("k"));

        for (int i = 1; i <= 3; i++) {
            assertThat(flow.isTerminated()).isFalse();
            grantedLate(i);
        }

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .cause()
                .hasMessageContainingAll("3 times", "the last answer took ", "margin of 3 ms", "lease of 100 ms");
        assertThat(behind.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).containsExactly("claim .0", "claim .0", "claim .0", "release .0", "claim .1");
        Asked<ClaimResult> last = store.claim();
        last.answer(ScriptedBackend.granted(last.claim(), 4));
        subscribe(Bench.held(patient).release());
        bench.assertNothingIsLeft();
    }

    @Test
    void oneAnswerThatWasLateFailsNoFlow() {
        for (int i = 1; i <= 5; i++) {
            TestSubscriber<LockHandle> flow = subscribe(brief.acquire("k"));
            grantedLate(2 * i);
            Asked<ClaimResult> good = store.claim();
            good.answer(ScriptedBackend.granted(good.claim(), 2 * i + 1));

            subscribe(Bench.held(flow).release());
        }
        bench.assertNothingIsLeft();
    }

    /** A grant that is answered too late for anybody to work under it. */
    private void grantedLate(int number) {
        Asked<ClaimResult> asked = store.claim();
        bench.time.advance(ROUND_TRIP);
        asked.answer(ScriptedBackend.granted(asked.claim(), number));
    }
}
