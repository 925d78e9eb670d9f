package io.github.reactivelock;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A client that was never connected: opening the first connection is no part of anybody's wait for a lock. */
class FirstConnectionTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient patient = bench.with(o -> o.withWaitTimeout(TIMEOUT));

    @Test
    void theWaitBeginsWithTheFirstConnection() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));
        bench.time.advance(Duration.ofSeconds(3));
        assertThat(flow.isTerminated()).isFalse();

        store.connect();
        store.claim().answer(ScriptedBackend.queued());
        bench.time.advance(TIMEOUT.minusNanos(1));
        assertThat(flow.isTerminated()).isFalse();
        bench.time.advance(Duration.ofNanos(1));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        bench.assertNothingIsLeft();
    }

    /** Where a driver does not say whether it is connected. */
    @Test
    void theFirstAnswerIsTheFirstConnection() {
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));
        bench.time.advance(Duration.ofMillis(1_500));

        var asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void severalKeysShareTheTimeAfterIt() {
        store.disconnect();
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b"), Mono.just("done")));
        bench.time.advance(Duration.ofSeconds(3));
        store.connect();
        bench.time.advance(Duration.ofMillis(600));
        var first = store.claim();
        first.answer(ScriptedBackend.granted(first.claim(), 1));
        store.claim().answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofMillis(399));
        assertThat(work.isTerminated()).isFalse();

        bench.time.advance(Duration.ofMillis(1));

        assertThat(work.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void oneThatIsRefusedIsTold() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));

        store.refuseConnection();

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        bench.time.advance(TIMEOUT);
        bench.assertNothingIsLeft();
    }

    @Test
    void oneThatIsNeverThereIsToldAfterItsOwnTime() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));

        bench.time.advance(Opening.LONGEST.plusSeconds(1));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void whoCancelsMeanwhileLeavesNothing() {
        store.disconnect();
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));
        flow.cancel();

        store.connect();

        assertThat(bench.time.armedTimers()).isZero();
        assertThat(store.log).isEmpty();
    }
}
