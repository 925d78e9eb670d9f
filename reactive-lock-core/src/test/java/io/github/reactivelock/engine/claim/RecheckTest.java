package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** When a claim that waits asks again. */
class RecheckTest {

    private static final Duration THIRD = LEASE.dividedBy(3);
    private static final Duration TICK = Duration.ofMillis(250);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final TestSubscriber<LockHandle> flow = TestSubscriber.create();

    @Test
    void aClaimThatAsksInTimeNeedsNoQuestionAfterAPush() {
        Claim claim = bench.queue(flow, "k");
        for (int i = 0; i < 9; i++) {
            bench.time.advance(THIRD);
            store.claim().answer(ScriptedBackend.queued());
        }

        store.push(claim, 5);

        assertThat(Bench.held(flow).remaining()).isEqualTo(VALID);
        assertThat(store.count("claim")).isEqualTo(10);
    }

    @Test
    void aWaitingClaimAsksAgainEveryThirdOfItsLeaseWithTheSameId() {
        bench.queue(flow, "k");

        for (int times = 2; times <= 5; times++) {
            bench.time.advance(THIRD.minus(TICK));
            assertThat(store.count("claim")).isEqualTo(times - 1);
            bench.time.advance(TICK);
            assertThat(store.count("claim .0")).isEqualTo(times);
            store.claim().answer(ScriptedBackend.queued());
        }
    }

    @Test
    void anAnswerOfALateStoreIsAwaitedForAThirdOfTheLease() {
        bench.queue(flow, "k");
        Duration late = THIRD.minusSeconds(4);
        bench.lateAnswer(late);
        bench.time.advance(THIRD.minus(late));
        assertThat(store.count("claim")).isEqualTo(1);

        bench.time.advance(THIRD.minus(TICK));
        assertThat(store.count("claim")).isEqualTo(1);
        bench.time.advance(TICK.multipliedBy(2));

        assertThat(store.count("claim")).isEqualTo(2);
        assertThat(flow.isTerminated()).isFalse();
    }

    @Test
    void aWaitingClaimAsksAgainWhenTheOwnersLeaseEnds() {
        bench.client.acquire("k").subscribe(flow);
        store.claim().answer(new ClaimResult.Queued(Duration.ofSeconds(2)));

        bench.time.advance(Duration.ofSeconds(2));

        assertThat(store.log).containsExactly("claim .0", "claim .0");
    }

    @Test
    void aRecheckAsksForItsKeyOnly() {
        bench.queue(flow, "k");
        bench.queue(TestSubscriber.create(), "l");
        bench.hold("m", 1);
        store.log.clear();

        store.push(new Signal.Recheck("k"));
        store.push(new Signal.Recheck("m"));
        store.push(new Signal.Recheck("n"));

        assertThat(store.log).containsExactly("claim .0");
    }

    @Test
    void aRecheckOfOneClaimAsksForThatOneOnly() {
        bench.queue(flow, "k");
        bench.queue(TestSubscriber.create(), "l");
        store.log.clear();

        store.push(new Signal.RecheckClaim("of nobody"));
        store.push(new Signal.RecheckClaim(store.ids.get(0)));

        assertThat(store.log).containsExactly("claim .0");
    }

    @Test
    void aRecheckThatMeetsAQuestionInFlightIsAskedBehindIt() {
        bench.client.acquire("k").subscribe(flow);
        store.push(new Signal.Recheck("k"));
        store.push(new Signal.Reconnected());
        assertThat(store.log).hasSize(1);

        store.claim().answer(ScriptedBackend.queued());

        assertThat(store.log).containsExactly("claim .0", "claim .0");
        store.claim().answer(ScriptedBackend.queued());
        assertThat(store.log).hasSize(2);
    }
}
