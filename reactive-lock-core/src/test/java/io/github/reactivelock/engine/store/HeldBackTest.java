package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Questions that stand in a line of their backend and have not left. */
class HeldBackTest {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration TICK = Duration.ofMillis(250);

    private final Bench bench = new Bench();

    @Test
    void theirSilenceIsNotTheStoresAsLongAsItAnswersOthers() {
        bench.store.holdsBack = claim -> true;
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        var unanswered = bench.store.claim();
        assertThat(unanswered.claim().key()).isEqualTo("k");
        for (int i = 0; i < 5; i++) {
            bench.time.advance(COMMAND_TIMEOUT.dividedBy(2));
            bench.hold("another " + i, i + 1);
        }
        assertThat(flow.isTerminated()).isFalse();

        bench.store.holdsBack = claim -> false;
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK.multipliedBy(2)));
        assertThat(flow.isTerminated()).isFalse();
        bench.time.advance(TICK.multipliedBy(4));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    /**
     * The engine's thread gets no turn for longer than the store may take; one of them leaves the line at the end of
     * that.
     */
    private TestSubscriber<LockHandle> leftInAPause() {
        bench.store.holdsBack = claim -> true;
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        bench.time.advance(TICK.multipliedBy(2));

        bench.time.pause(COMMAND_TIMEOUT.multipliedBy(2));
        bench.store.holdsBack = claim -> false;
        return flow;
    }

    @Test
    void aPauseOfTheEngineIsNotTheirSilence() {
        TestSubscriber<LockHandle> flow = leftInAPause();
        bench.time.advance(TICK);
        assertThat(flow.isTerminated()).isFalse();
        var asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    /** The answer is there before the engine has looked again. */
    @Test
    void anAnswerRightAfterAPauseOfTheEngineIsNotLate() {
        TestSubscriber<LockHandle> flow = leftInAPause();
        var asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(Bench.held(flow).isHeld()).isTrue();
        assertThat(bench.engine.services.gate.window.width()).isEqualTo(Window.MOST);
    }

    @Test
    void aStoreThatAnswersNobodyFailsThem() {
        bench.hold("before", 1);
        bench.store.holdsBack = claim -> true;
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));

        bench.time.advance(COMMAND_TIMEOUT.plus(TICK.multipliedBy(2)));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }
}
