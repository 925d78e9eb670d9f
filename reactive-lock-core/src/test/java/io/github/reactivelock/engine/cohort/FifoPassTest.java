package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Flows that queue at the store each for itself, where the store says that they stand directly behind one another. */
class FifoPassTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final LockClient fifo = bench.with(o -> o.withFairness(Fairness.FIFO));

    private TestSubscriber<LockHandle> queueBehind(int claim) {
        return bench.queueBehind(fifo, bench.claimId(claim));
    }

    @Test
    void whoeverTheStoreServesNextGetsTheLockWithoutAQuestion() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        TestSubscriber<LockHandle> third = queueBehind(1);
        store.log.clear();

        subscribe(first.release());
        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(1) + 1);
        assertThat(third.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("release .1");
        subscribe(Bench.held(second).release());
        assertThat(Bench.held(third).fencingToken()).isEqualTo(token(1) + 2);
        subscribe(Bench.held(third).release());

        assertThat(store.log).containsExactly("release .1", "release .2", "release .0");
        assertThat(bench.heard.acquired).hasSize(3);
        assertThat(bench.heard.released).hasSize(3);
        bench.assertNothingIsLeft();
    }

    @Test
    void aFlowThatComesBehindAPassedGrantIsNextToo() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        subscribe(first.release());
        TestSubscriber<LockHandle> third = queueBehind(0);

        subscribe(Bench.held(second).release());

        assertThat(Bench.held(third).fencingToken()).isEqualTo(token(1) + 2);
    }

    @Test
    void aFlowBehindAnotherClientsClaimWaitsForTheStore() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = bench.queueBehind(fifo, "somebody.0");
        TestSubscriber<LockHandle> third = queueBehind(1);

        subscribe(first.release());
        assertThat(store.log).containsExactly("claim .0", "claim .1", "claim .2", "release .0");
        assertThat(second.getReceivedOnNext()).isEmpty();
        store.push(new Signal.Grant(bench.claimId(1), token(5)));
        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(5));
        subscribe(Bench.held(second).release());

        assertThat(Bench.held(third).fencingToken()).isEqualTo(token(5) + 1);
    }

    @Test
    void aFlowWhosePlaceWasLostAndMadeAnewIsNotPreferred() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        store.push(new Signal.Recheck("k"));
        store.claim().answer(new ClaimResult.Queued(Duration.ofDays(1), "somebody.0", 0));

        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void aFlowThatAsksAgainInItsPlaceKeepsTheOneBehindIt() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        TestSubscriber<LockHandle> third = queueBehind(1);
        store.push(new Signal.RecheckClaim(bench.claimId(1)));
        store.claim().answer(new ClaimResult.Queued(Duration.ofDays(1), bench.claimId(0), 0));

        subscribe(first.release());
        subscribe(Bench.held(second).release());

        assertThat(Bench.held(third).fencingToken()).isEqualTo(token(1) + 2);
    }

    @Test
    void anAnswerThatSaysNothingOfThePlaceChangesNothing() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        store.push(new Signal.Recheck("k"));
        store.claim().answer(ScriptedBackend.queued());

        subscribe(first.release());

        assertThat(Bench.held(second).isHeld()).isTrue();
    }

    @Test
    void flowsThatStandTogetherNeitherGetNorGiveAGrantInThisWay() {
        LockHandle together = bench.hold("k", 1);
        TestSubscriber<LockHandle> alone = queueBehind(0);
        subscribe(together.release());
        assertThat(alone.getReceivedOnNext()).isEmpty();
        store.push(new Signal.Grant(bench.claimId(1), token(2)));
        TestSubscriber<LockHandle> behind = bench.queueBehind(bench.client, bench.claimId(1));

        subscribe(Bench.held(alone).release());

        assertThat(behind.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("release .1");
    }

    @Test
    void theOneBehindACancelledFlowIsNext() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> cancelled = queueBehind(0);
        TestSubscriber<LockHandle> next = queueBehind(1);
        cancelled.cancel();

        subscribe(first.release());

        assertThat(Bench.held(next).fencingToken()).isEqualTo(token(1) + 1);
        subscribe(Bench.held(next).release());
        assertThat(store.log)
                .containsExactly("claim .0", "claim .1", "claim .2", "release .1", "release .2", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aPassThatMeetsACancelGivesTheLockUp() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> cancelled = queueBehind(0);
        bench.work.shut();
        subscribe(first.release());
        cancelled.cancel();

        bench.work.open();

        assertThat(cancelled.getReceivedOnNext()).isEmpty();
        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void afterALossWhoeverIsBehindWaitsForTheStore() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        subscribe(first.renew());
        Asked<RenewalResult> asked = store.renewal();

        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.TAKEN_OVER));

        assertThat(second.getReceivedOnNext()).isEmpty();
        store.push(new Signal.Grant(bench.claimId(1), token(2)));
        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(2));
    }

    @Test
    void aServedFlowGetsNoPassThoughItsGrantIsTooOld() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        bench.time.pause(Duration.ofSeconds(21));
        subscribe(first.renew());
        Asked<RenewalResult> renewal = store.renewal();
        renewal.answer(ScriptedBackend.renewed(renewal.claims()));
        store.push(new Signal.Grant(bench.claimId(1), token(2)));
        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("claim .1", "release .0");
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 2));
        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(2));
    }

    @Test
    void whatIsNoLongerFreshIsNotPassedOn() {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = queueBehind(0);
        bench.time.advance(Duration.ofSeconds(25));

        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void aFlowWithAnotherLeaseIsNotPassedTo() {
        isNotPassedTo(o -> o.withLease(Duration.ofSeconds(5)));
    }

    @Test
    void aFlowWithoutRenewalIsNotPassedTo() {
        isNotPassedTo(LockOptions::withoutRenewal);
    }

    private void isNotPassedTo(UnaryOperator<LockOptions> change) {
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second =
                bench.queueBehind(bench.with(o -> change.apply(o.withFairness(Fairness.FIFO))), bench.claimId(0));

        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void aClientThatClosesInTheMomentOfAPassLeavesNothing() {
        Runnable[] inBetween = new Runnable[1];
        Bench closing = new Bench(settings -> settings.listener(new LockListener() {
            @Override
            public void released(LockRequest request, long fencingToken, Duration held) {
                inBetween[0].run();
            }
        }));
        LockClient client = closing.with(o -> o.withFairness(Fairness.FIFO));
        inBetween[0] = () -> subscribe(client.close());
        LockHandle first = closing.hold(client, "k", 1);
        TestSubscriber<LockHandle> second = subscribe(client.acquire("k"));
        closing.store.claim().answer(new ClaimResult.Queued(Duration.ofDays(1), closing.claimId(0), 0));

        subscribe(first.release());

        assertThat(second.expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(closing.store.log).containsExactly("claim .0", "claim .1", "release .0", "release .1", "close");
        closing.assertNothingIsLeft();
    }

    @Test
    void aLongRunOfPassesTakesNoStack() {
        int flows = 10_000;
        Duration limit = Duration.ofSeconds(60);
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(Schedulers.immediate())
                .passBudget(4_095, Duration.ofMinutes(1))
                .options(LockOptions.defaults().withFairness(Fairness.FIFO))
                .build();
        LockHandle first = client.acquire("k").block(limit);
        List<Integer> served = new ArrayList<>();
        List<Mono<Void>> done = new ArrayList<>();
        for (int i = 0; i < flows; i++) {
            int number = i;
            done.add(Mono.fromFuture(client.<Void>withLock("k", Mono.fromRunnable(() -> served.add(number)))
                    .toFuture()));
        }

        first.release().block(limit);
        Mono.when(done).block(limit);

        assertThat(served).hasSize(flows).isSorted();
        client.close().block(limit);
    }
}
