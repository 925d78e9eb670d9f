package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A lock that is passed on among the flows of one process. */
class CohortTest {

    private static final Duration LONG = Duration.ofDays(1);

    private Bench bench = new Bench();

    @Test
    void aPassSendsNoCommandAndRaisesTheToken() {
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> second = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> third = subscribe(bench.client.acquire("k"));

        subscribe(first.release());
        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(1) + 1);
        assertThat(third.getReceivedOnNext()).isEmpty();
        assertThat(first.isHeld()).isFalse();
        subscribe(Bench.held(second).release());
        assertThat(Bench.held(third).fencingToken()).isEqualTo(token(1) + 2);
        assertThat(bench.store.log).containsExactly("claim .0");
        subscribe(Bench.held(third).release());

        assertThat(bench.store.log).containsExactly("claim .0", "release .0");
        assertThat(bench.heard.acquired).hasSize(3);
        assertThat(bench.heard.released).hasSize(3);
        bench.assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 4_095})
    void afterItsBudgetOfPassesTheProcessQueuesAnew(int passes) {
        bench = new Bench(settings -> settings.passBudget(passes, LONG));
        LockHandle handle = bench.hold("k", 1);
        List<Long> tokens = new ArrayList<>(List.of(handle.fencingToken()));
        TestSubscriber<LockHandle> next = null;
        for (int pass = 0; pass <= passes; pass++) {
            next = subscribe(bench.client.acquire("k"));
            subscribe(handle.release());
            if (pass < passes) {
                handle = Bench.held(next);
                tokens.add(handle.fencingToken());
            }
        }

        assertThat(next.getReceivedOnNext()).isEmpty();
        assertThat(bench.store.log).containsExactly("claim .0", "release .0", "claim .1");
        Asked<ClaimResult> asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 2));
        tokens.add(Bench.held(next).fencingToken());
        assertThat(tokens).hasSize(passes + 2).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void afterItsBudgetOfTimeTheProcessQueuesAnew() {
        bench = new Bench(settings -> settings.passBudget(1_000, Duration.ofMillis(50)));
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> second = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> third = subscribe(bench.client.acquire("k"));

        bench.time.advance(Duration.ofMillis(49));
        subscribe(first.release());
        assertThat(Bench.held(second).isHeld()).isTrue();
        bench.time.advance(Duration.ofMillis(1));
        subscribe(Bench.held(second).release());

        assertThat(third.getReceivedOnNext()).isEmpty();
        assertThat(bench.store.log).containsExactly("claim .0", "release .0", "claim .1");
    }

    @Test
    void aFlowWithAnotherLeaseIsNotPassedTo() {
        isNotPassedTo(o -> o.withLease(Duration.ofSeconds(5)));
    }

    @Test
    void aFlowWithoutRenewalIsNotPassedTo() {
        isNotPassedTo(LockOptions::withoutRenewal);
    }

    @Test
    void whatWasClaimedWithoutRenewalIsNotPassedToAFlowThatIsRenewed() {
        LockHandle first = bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        TestSubscriber<LockHandle> second = subscribe(bench.client.acquire("k"));

        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(bench.store.claim().claim().keeping()).isEqualTo(Claim.Keeping.RENEWED);
    }

    @Test
    void aFlowWithoutRenewalDoesNotInheritAClaimThatIsRenewed() {
        TestSubscriber<LockHandle> head = TestSubscriber.create();
        bench.queue(head, "k");
        subscribe(bench.with(LockOptions::withoutRenewal).acquire("k"));

        head.cancel();

        assertThat(bench.store.log).containsExactly("claim .0", "release .0", "claim .1");
        assertThat(bench.store.claim().claim().keeping()).isEqualTo(Claim.Keeping.ONCE);
    }

    private void isNotPassedTo(UnaryOperator<LockOptions> change) {
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> second = subscribe(bench.with(change).acquire("k"));

        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(bench.store.log).containsExactly("claim .0", "release .0", "claim .1");
        assertThat(bench.store.claim().claim().lease())
                .isEqualTo(change.apply(LockOptions.defaults()).lease());
    }

    @Test
    void withFifoEveryFlowStandsInTheStoresQueueItself() {
        LockClient fifo = bench.with(o -> o.withFairness(Fairness.FIFO));
        LockHandle first = bench.hold(fifo, "k", 1);
        TestSubscriber<LockHandle> second = TestSubscriber.create();
        var claim = bench.queue(fifo, second, "k");
        TestSubscriber<LockHandle> third = TestSubscriber.create();
        bench.queue(fifo, third, "k");

        subscribe(first.release());
        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(bench.store.log).containsExactly("claim .0", "claim .1", "claim .2", "release .0");
        bench.store.push(claim, 2);

        assertThat(Bench.held(second).fencingToken()).isEqualTo(token(2));
        assertThat(third.getReceivedOnNext()).isEmpty();
    }

    @Test
    void flowsAreServedInOrderAndACancelledOneSwallowsNoPass() {
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> cancelled = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> second = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> third = subscribe(bench.client.acquire("k"));
        cancelled.cancel();

        subscribe(first.release());

        assertThat(Bench.held(second).isHeld()).isTrue();
        assertThat(third.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aPassThatMeetsACancelGoesOnToTheNext() {
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> cancelled = subscribe(bench.client.acquire("k"));
        TestSubscriber<LockHandle> next = subscribe(bench.client.acquire("k"));
        bench.work.shut();
        subscribe(first.release());
        cancelled.cancel();

        bench.work.open();

        assertThat(cancelled.getReceivedOnNext()).isEmpty();
        assertThat(Bench.held(next).isHeld()).isTrue();
        assertThat(bench.store.log).containsExactly("claim .0");
    }

    @Test
    void aGrantOfAClaimForAnotherLeaseIsNotHandedOut() {
        TestSubscriber<LockHandle> head =
                subscribe(bench.with(o -> o.withLease(Duration.ofSeconds(1))).acquire("k"));
        TestSubscriber<LockHandle> next = subscribe(bench.client.acquire("k"));
        Asked<ClaimResult> first = bench.store.claim();
        head.cancel();
        first.answer(ScriptedBackend.granted(first.claim(), 1));
        assertThat(next.getReceivedOnNext()).isEmpty();

        Asked<ClaimResult> asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 2));

        assertThat(asked.claim().lease()).isEqualTo(LEASE);
        assertThat(Bench.held(next).remaining()).isEqualTo(Bench.VALID);
    }

    @Test
    void whatIsNoLongerFreshIsNotPassedOn() {
        bench = new Bench(settings -> settings.passBudget(1_000, LONG));
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> second = subscribe(bench.client.acquire("k"));
        bench.time.advance(Duration.ofSeconds(25));

        subscribe(first.release());

        assertThat(second.getReceivedOnNext()).isEmpty();
        assertThat(bench.store.log).contains("release .0", "claim .1");
    }

    @Test
    void whenTheHoldIsLostTheNextFlowClaimsAnew() {
        LockHandle first = bench.hold("k", 1);
        TestSubscriber<LockHandle> second = subscribe(bench.client.acquire("k"));
        subscribe(first.renew());
        Asked<RenewalResult> asked = bench.store.renewal();

        asked.answer(ScriptedBackend.lost(asked.claims(), LossReason.TAKEN_OVER));

        assertThat(bench.store.log).containsExactly("claim .0", "renew .0", "release .0", "claim .1");
        assertThat(second.isTerminated()).isFalse();
        TestSubscriber<Void> late = subscribe(first.release());
        assertThat(late.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(bench.store.count("release")).isEqualTo(1);
    }

    @Test
    void differentKeysDoNotWaitForOneAnother() {
        LockHandle first = bench.hold("k", 1);
        LockHandle second = bench.hold("l", 2);

        assertThat(first.isHeld() && second.isHeld()).isTrue();
    }

    @Test
    void subscribingTwiceIsAcquiringTwice() {
        Mono<LockHandle> acquire = bench.client.acquire("k");
        TestSubscriber<LockHandle> first = subscribe(acquire);
        TestSubscriber<LockHandle> second = subscribe(acquire);
        Asked<ClaimResult> asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(second.getReceivedOnNext()).isEmpty();
        subscribe(Bench.held(first).release());

        assertThat(Bench.held(second).fencingToken())
                .isGreaterThan(Bench.held(first).fencingToken());
    }
}
