package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** When flows that queue each for itself first ask the store, while their process has the lock already. */
class ClaimBatcherTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient fifo = bench.with(o -> o.withFairness(Fairness.FIFO));

    /** A lock that was got in its turn, behind another process; its release is answered by hand. */
    private LockHandle heldInTurn() {
        TestSubscriber<LockHandle> flow = bench.queueBehind(fifo, "somebody.0");
        store.push(new Signal.Grant(bench.claimId(0), token(1)));
        store.releasedByHand = "k";
        return Bench.held(flow);
    }

    @Test
    void claimsGoToTheStoreWithWhatFollowsFromTheAnswerToTheRelease() {
        LockHandle first = heldInTurn();
        subscribe(first.release().then(fifo.acquire("k")));
        subscribe(fifo.acquire("k"));
        subscribe(fifo.acquire("k"));
        assertThat(store.log).containsExactly("claim .0", "release .0");

        store.release().answer(true);

        assertThat(store.log).containsExactly("claim .0", "release .0", "claim .1", "claim .2", "claim .3");
        assertThat(bench.time.armedTimers()).isZero();
    }

    @Test
    void noneWaitsForLongerThanAMillisecond() {
        LockHandle first = heldInTurn();
        subscribe(fifo.acquire("k"));
        bench.time.advance(Duration.ofNanos(999_999));
        subscribe(fifo.acquire("k"));
        assertThat(store.log).containsExactly("claim .0");

        bench.time.advance(Duration.ofNanos(1));

        assertThat(store.log).containsExactly("claim .0", "claim .1", "claim .2");
        subscribe(fifo.acquire("k"));
        assertThat(store.count("claim")).isEqualTo(3);
        subscribe(first.release());
        bench.time.advance(Duration.ofMillis(1));
        assertThat(store.log).containsExactly("claim .0", "claim .1", "claim .2", "release .0", "claim .3");
    }

    @Test
    void aReleaseThatFailsKeepsNobodyWaiting() {
        LockHandle first = heldInTurn();
        subscribe(fifo.acquire("k"));
        subscribe(first.release());

        store.release().fail();

        assertThat(store.log).containsExactly("claim .0", "release .0", "claim .1");
    }

    @Test
    void aLossKeepsNobodyWaiting() {
        LockHandle first = heldInTurn();
        subscribe(first.renew());
        Asked<RenewalResult> asked = store.renewal();
        subscribe(fifo.acquire("k"));

        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.TAKEN_OVER));

        assertThat(store.log).containsExactly("claim .0", "renew .0", "release .0", "claim .1");
    }

    @Test
    void afterTheEndClaimsAreAskedAtOnce() {
        LockHandle first = heldInTurn();
        TestSubscriber<LockHandle> next = subscribe(fifo.acquire("k"));
        subscribe(first.release());
        store.release().answer(true);
        Asked<?> unused = store.claim();

        subscribe(fifo.acquire("k"));

        assertThat(store.log).containsExactly("claim .0", "release .0", "claim .1", "claim .2");
        next.cancel();
    }

    @Test
    void aLockThatWasFreeKeepsNobodyWaiting() {
        bench.hold(fifo, "k", 1);

        subscribe(fifo.acquire("k"));

        assertThat(store.log).containsExactly("claim .0", "claim .1");
    }

    @Test
    void nobodyWaitsWhereTheStoreDoesNotKnowThePlace() {
        TestSubscriber<LockHandle> flow = TestSubscriber.create();
        bench.queue(fifo, flow, "k");
        store.push(new Signal.Grant(bench.claimId(0), token(1)));

        subscribe(fifo.acquire("k"));

        assertThat(store.log).containsExactly("claim .0", "claim .1");
    }

    @Test
    void whoDoesNotQueueInOrderDoesNotWait() {
        LockHandle first = heldInTurn();

        subscribe(fifo.tryAcquire("k"));
        subscribe(bench.client.acquire("k"));

        assertThat(store.log).containsExactly("claim .0", "claim .1", "claim .2");
        assertThat(first.isHeld()).isTrue();
    }

    @Test
    void aGrantThatOvertakesAReleasesAnswerHasClaimsWaitForItsOwn() {
        LockHandle first = heldInTurn();
        bench.time.advance(Duration.ofMillis(2));
        TestSubscriber<LockHandle> second = subscribe(fifo.acquire("k"));
        bench.time.advance(Duration.ofMillis(1));
        store.claim().answer(new ClaimResult.Queued(Duration.ofDays(1), "somebody.1", 0));
        subscribe(first.release());
        store.push(new Signal.Grant(bench.claimId(1), token(2)));
        subscribe(fifo.acquire("k"));

        store.release().answer(true);
        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .0");
        subscribe(Bench.held(second).release());
        store.release().answer(true);

        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .0", "release .1", "claim .2");
    }

    @Test
    void aFlowThatIsCancelledMeanwhileIsNeverAskedFor() {
        LockHandle first = heldInTurn();
        TestSubscriber<LockHandle> cancelled = subscribe(fifo.acquire("k"));
        LockClient impatient =
                bench.with(o -> o.withFairness(Fairness.FIFO).withWaitTimeout(Duration.ofNanos(500_000)));
        TestSubscriber<LockHandle> late = subscribe(impatient.acquire("k"));
        cancelled.cancel();
        bench.time.advance(Duration.ofNanos(500_000));

        subscribe(first.release());
        store.release().answer(true);

        assertThat(late.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(store.log).containsExactly("claim .0", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aFlowThatLosesASignalMeanwhileIsAskedForOnce() {
        LockHandle first = heldInTurn();
        subscribe(fifo.acquire("k"));

        store.push(new Signal.Recheck("k"));
        assertThat(store.log).containsExactly("claim .0", "claim .1");
        subscribe(first.release());
        store.release().answer(true);

        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .0");
    }

    @Test
    void aClientThatClosesMeanwhileLeavesNothing() {
        LockHandle first = heldInTurn();
        TestSubscriber<LockHandle> waiting = subscribe(fifo.acquire("k"));
        subscribe(first.release());

        subscribe(fifo.close());
        store.release().answer(true);

        assertThat(waiting.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(store.log).containsExactly("claim .0", "release .0", "close");
        bench.assertNothingIsLeft();
    }
}
