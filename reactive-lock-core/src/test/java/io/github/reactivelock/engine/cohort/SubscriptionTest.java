package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.SignalsRefusedException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** The subscription to what the store pushes: when it begins, ends, is refused, and hears what it cannot handle. */
class SubscriptionTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final TestSubscriber<LockHandle> flow = TestSubscriber.create();

    @Test
    void signalsAreSubscribedToOnceAndNotBeforeTheyAreNeeded() {
        subscribe(bench.client.inspect("k"));
        assertThat(store.signalSubscriptions).isZero();

        bench.hold("k", 1);
        bench.hold("l", 1);

        assertThat(store.signalSubscriptions).isEqualTo(1);
    }

    @Test
    void signalsThatEndOrFailAreSubscribedToAgain() {
        Claim claim = bench.queue(flow, "k");
        store.failSignals();
        assertThat(store.listeners()).isZero();

        bench.time.advance(Duration.ofSeconds(2));

        assertThat(store.listeners()).isEqualTo(1);
        store.push(claim, 5);
        assertThat(flow.getReceivedOnNext()).hasSize(1);
    }

    @Test
    void refusedSignalsFailFlowsInTheQueueAndTheOthersGoOn() {
        LockHandle held = bench.hold("held", 1);
        bench.queue(flow, "k");

        store.failSignals(new SignalsRefusedException("nobody may listen", new IllegalStateException()));

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("'k'")
                .hasMessageContaining("nobody may listen");
        assertThat(store.log).contains("release .1");
        assertThat(held.isHeld()).isTrue();
        TestSubscriber<LockHandle> later = TestSubscriber.create();
        bench.queue(later, "l");
        assertThat(later.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        subscribe(bench.hold("free", 2).release());
        subscribe(held.release());
        assertThat(bench.engine.isIdle()).isTrue();
    }

    @Test
    void whoeverComesWhenTheSignalsAreNoLongerRefusedWaits() {
        bench.queue(TestSubscriber.create(), "k");
        store.failSignals(new SignalsRefusedException("nobody may listen", new IllegalStateException()));
        bench.time.advance(Duration.ofSeconds(2));

        store.push(new Signal.Reconnected());
        Claim claim = bench.queue(flow, "k");

        assertThat(flow.isTerminated()).isFalse();
        store.push(claim, 5);
        assertThat(Bench.held(flow).isHeld()).isTrue();
    }

    @Test
    void aSignalThatCannotBeHandledDoesNotEndTheOthers() {
        Claim claim = bench.queue(flow, "k");

        store.push(new Signal.Grant(null, 0));
        bench.time.advance(Duration.ofSeconds(2));
        store.push(claim, 5);

        assertThat(flow.getReceivedOnNext()).hasSize(1);
    }
}
