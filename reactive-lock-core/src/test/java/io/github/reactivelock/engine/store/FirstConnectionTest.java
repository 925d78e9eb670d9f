package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.engine.cohort.EngineInside;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/**
 * A client that was never answered: opening the first connection is no part of anybody's wait for a lock, and nor is
 * what it takes to ask over it for the first time.
 */
class FirstConnectionTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient patient = bench.with(o -> o.withWaitTimeout(TIMEOUT));

    @Test
    void theWaitBeginsWithTheFirstAnswer() {
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

    @Test
    void aFirstAnswerThatIsLateIsWaitedForByAll() {
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));
        TestSubscriber<LockHandle> second = subscribe(patient.acquire("k"));
        bench.time.advance(Duration.ofMillis(1_500));

        var asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
        bench.time.advance(TIMEOUT.minusNanos(1));
        assertThat(second.isTerminated()).isFalse();
        bench.time.advance(Duration.ofNanos(1));
        assertThat(second.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
    }

    /**
     * Time passes between the answer, with which the wait begins, and the grant that comes of it: classes are loaded.
     */
    @Test
    void aFirstGrantThatIsHandledForLongerThanTheWaitIsDelivered() {
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));
        var asked = store.claim();

        EngineInside.inAnEventOf(bench.engine, asked.claim().id(), inTheMiddleOfAnEvent -> {
            asked.answer(ScriptedBackend.granted(asked.claim(), 1));
            bench.time.advance(TIMEOUT.multipliedBy(2));
        });

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void aConnectionThatIsNeverAnsweredOverIsToldAfterTheCommandTimeout() {
        TestSubscriber<LockHandle> flow = subscribe(patient.acquire("k"));

        bench.time.advance(Duration.ofMillis(2_250));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void theWaitForSeveralKeysBeginsWithItToo() {
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b"), Mono.just("done")));
        bench.time.advance(Duration.ofMillis(1_500));
        for (int number = 1; number <= 2; number++) {
            var asked = store.claim();
            asked.answer(ScriptedBackend.granted(asked.claim(), number));
            bench.time.advance(TIMEOUT.minusNanos(1));
        }

        assertThat(work.expectTerminalSignal().isOnComplete()).isTrue();
    }

    @Test
    void severalKeysShareTheTimeAfterIt() {
        store.disconnect();
        TestSubscriber<String> work = subscribe(patient.withLock(List.of("a", "b"), Mono.just("done")));
        bench.time.advance(Duration.ofSeconds(3));
        store.connect();
        bench.time.advance(Duration.ofMillis(600));
        var first = store.claim();
        first.answer(ScriptedBackend.queued());
        bench.time.advance(Duration.ofMillis(600));
        store.push(first.claim(), 1);
        store.claims.get(store.claims.size() - 1).answer(ScriptedBackend.queued());
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
