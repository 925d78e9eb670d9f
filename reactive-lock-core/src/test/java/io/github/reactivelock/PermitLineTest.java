package io.github.reactivelock;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.queued;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The flows of a process that want permits of a semaphore of three. */
class PermitLineTest {

    private static final int PASSES = 3;

    private final Bench bench = new Bench(settings -> settings.passBudget(PASSES, Duration.ofMillis(50)));
    private final ScriptedBackend store = bench.store;
    private final LockClient one = permits(1);

    @AfterEach
    void nothingIsLeft() {
        bench.assertNothingIsLeft();
    }

    private LockClient permits(int units) {
        return new LockClient(bench.engine, bench.client.options().withShare(Share.permits(units, 3)));
    }

    private List<TestSubscriber<LockHandle>> flows(LockClient client, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> subscribe(client.acquire("k")))
                .toList();
    }

    private List<TestSubscriber<LockHandle>> flows(int count) {
        return flows(one, count);
    }

    @CanIgnoreReturnValue
    private Claim grant(long number) {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), number));
        return asked.claim();
    }

    private void grant(long... numbers) {
        for (long number : numbers) {
            grant(number);
        }
    }

    @CanIgnoreReturnValue
    private Claim queue() {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(queued());
        return asked.claim();
    }

    private static void release(List<TestSubscriber<LockHandle>> flows) {
        flows.forEach(flow -> subscribe(held(flow).release()));
    }

    private static void release(TestSubscriber<LockHandle> flow) {
        release(List.of(flow));
    }

    private static List<Integer> served(List<TestSubscriber<LockHandle>> flows) {
        return flows.stream().map(flow -> flow.getReceivedOnNext().size()).toList();
    }

    @Test
    void flowsHaveAsManyClaimsAsThereIsRoomForAndEachIsForTheirPermits() {
        List<TestSubscriber<LockHandle>> flows = flows(5);

        assertThat(store.log).containsExactly("claim .0", "claim .1", "claim .2");
        assertThat(grant(5).share()).isEqualTo(Share.permits(1, 3));
        grant(6, 7);
        assertThat(served(flows)).containsExactly(1, 1, 1, 0, 0);
        release(flows.subList(0, 2));
        release(flows.subList(2, 5));
        assertThat(store.log).filteredOn(line -> line.startsWith("release")).hasSize(3);
    }

    @Test
    void twoPermitsOfThreeLeaveNoRoomForASecondClaim() {
        List<TestSubscriber<LockHandle>> flows = flows(permits(2), 2);

        assertThat(store.log).containsExactly("claim .0");
        grant(5);
        release(flows);
    }

    @Test
    void whatAFlowGivesBackGoesToTheNextWithoutTheStoreAndWithANewToken() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5, 6, 7);

        release(flows.get(1));
        release(flows.get(0));

        assertThat(held(flows.get(3)).fencingToken()).isEqualTo(token(6) + 1);
        assertThat(held(flows.get(4)).fencingToken()).isEqualTo(token(5) + 1);
        assertThat(store.log).hasSize(3);
        release(flows.subList(2, 5));
    }

    @Test
    void eachLaneHasABudgetOfItsOwnAndThenStandsInTheStoresQueueAgain() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5);
        bench.time.advance(Duration.ofMillis(40));
        grant(6, 7);
        bench.time.advance(Duration.ofMillis(10));

        release(flows.get(1));
        assertThat(served(flows)).as("its budget is not spent").containsExactly(1, 1, 1, 1, 0);
        release(flows.get(0));

        assertThat(served(flows)).containsExactly(1, 1, 1, 1, 0);
        assertThat(store.log).endsWith("release .0", "claim .3");
        grant(8);
        release(flows.subList(2, 5));
    }

    @Test
    void aLanePassesNoMoreOftenThanItsBudgetSays() {
        List<TestSubscriber<LockHandle>> flows = flows(permits(3), PASSES + 2);
        grant(5);
        for (int i = 0; i <= PASSES; i++) {
            release(flows.get(i));
        }

        assertThat(store.log).containsExactly("claim .0", "release .0", "claim .1");
        grant(6);
        release(flows.get(PASSES + 1));
    }

    @Test
    void aFlowThatIsServedByAnothersReleaseLeavesNoClaimBehind() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        grant(5);
        Claim waits = queue();

        release(flows.get(0));

        assertThat(held(flows.get(1)).fencingToken()).isEqualTo(token(5) + 1);
        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1");
        store.push(waits, 9); // on its way when the claim was given back
        release(flows.get(1));
        assertThat(store.log).endsWith("release .0");
    }

    @Test
    void aGrantThatComesForAClaimThatWasGivenBackIsGivenBackToo() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        grant(5);
        ScriptedBackend.Asked<ClaimResult> late = store.claim();
        release(flows.get(0));
        assertThat(store.log).endsWith("release .1");

        late.answer(granted(late.claim(), 6));

        assertThat(store.log).endsWith("release .1", "release .1");
        release(flows.get(1));
    }

    @Test
    void theYoungestClaimIsGivenBackForAFlowThatCancelsAndTheOthersKeepTheirPlaces() {
        List<TestSubscriber<LockHandle>> flows = flows(3);
        Claim first = queue();
        Claim second = queue();
        queue();

        flows.get(0).cancel();

        assertThat(store.log).endsWith("release .2");
        store.push(second, 6);
        store.push(first, 7);
        assertThat(held(flows.get(1)).fencingToken()).isEqualTo(token(6));
        assertThat(held(flows.get(2)).fencingToken()).isEqualTo(token(7));
        release(flows.subList(1, 3));
    }

    @Test
    void aFlowThatCancelsWhileAllLanesAreHeldChangesNothing() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5, 6, 7);

        flows.get(3).cancel();

        assertThat(store.log).hasSize(3);
        release(flows.get(0));
        assertThat(served(flows)).containsExactly(1, 1, 1, 0, 1);
        release(flows.subList(1, 3));
        release(flows.get(4));
    }

    @Test
    void aFlowThatWantsOtherPermitsOrAnotherLeaseOrNoRenewalHasAClaimOfItsOwn() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(1));
        flows.addAll(flows(permits(2), 1));
        flows.addAll(flows(one.with(one.options().withLease(Duration.ofSeconds(5))), 1));
        flows.addAll(flows(one.with(one.options().withoutRenewal()), 1));
        flows.addAll(flows(one.with(one.options().withFairness(Fairness.FIFO)), 1));
        assertThat(store.count("claim")).isEqualTo(5);
        grant(5);

        release(flows.get(0));

        assertThat(store.log).as("none of them gets its permit").endsWith("release .0");
        flows.get(1).cancel();
        grant(6, 7, 8, 9);
        release(flows.subList(2, 5));
    }

    @Test
    void onceNoneIsLeftTheLineIsForThoseWhoComeNext() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(1));
        grant(5);
        flows.addAll(flows(permits(3), 1));
        queue();
        release(flows.get(0));

        List<TestSubscriber<LockHandle>> next = flows(permits(3), 2);

        assertThat(store.log).as("both behind one claim").endsWith("release .0", "claim .2");
        flows.get(1).cancel();
        grant(6);
        release(next);
    }

    @Test
    void oneThatIsLostLeavesTheOthersAndThoseThatWaitAskAnew() {
        TestSubscriber<Object> work = subscribe(one.withLock("k", Mono.never()));
        Claim claim = grant(5);
        List<TestSubscriber<LockHandle>> flows = flows(3);
        grant(6, 7);

        store.push(new Signal.Suspect(claim.id(), LossReason.FORCED));
        ScriptedBackend.Asked<RenewalResult> renewal = store.renewal();
        renewal.answer(ScriptedBackend.lost(renewal.claims(), LossReason.EXPIRED));

        assertThat(work.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(store.log).contains("release .0").endsWith("claim .3");
        grant(8);
        assertThat(flows).allSatisfy(flow -> assertThat(held(flow).isHeld()).isTrue());
        release(flows);
    }

    @Test
    void eachLaneIsRenewed() {
        store.confirmsRenewals = true;
        List<TestSubscriber<LockHandle>> flows = flows(3);
        grant(5, 6, 7);

        bench.time.advance(Bench.LEASE.multipliedBy(2));

        assertThat(flows).allSatisfy(flow -> assertThat(held(flow).isHeld()).isTrue());
        release(flows);
    }

    @Test
    void whenTheStoreDoesNotAnswerAllThatWaitFailAndNoClaimIsLeft() {
        List<TestSubscriber<LockHandle>> flows = flows(4);

        bench.time.advance(Bench.LEASE);

        assertThat(flows)
                .allSatisfy(
                        flow -> assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class));
        assertThat(store.log).contains("release .0", "release .1", "release .2");
        assertThat(store.count("release")).isEqualTo(3);
    }

    @Test
    void whereOneClaimFailsNoneIsLeftOfThoseThatWaitedBesideIt() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        store.claim(); // is never answered
        queue();

        bench.time.advance(Bench.LEASE.dividedBy(2));

        assertThat(flows.get(1).expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        assertThat(store.log).contains("release .0", "release .1");
    }

    @Test
    void aWaitTimeoutEndsTheWaitOfItsFlowAlone() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(3));
        grant(5, 6, 7);
        flows.addAll(flows(one.with(one.options().withWaitTimeout(Duration.ofMillis(5))), 1));
        flows.addAll(flows(1));

        bench.time.advance(Duration.ofMillis(5));
        release(flows.get(0));

        assertThat(flows.get(3).expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        assertThat(held(flows.get(4)).isHeld()).isTrue();
        release(flows.subList(1, 3));
        release(flows.get(4));
    }

    @Test
    void closingEndsThoseThatHoldAndThoseThatWait() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5);
        queue();

        TestSubscriber<Void> closed = subscribe(bench.client.close());

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(held(flows.get(0)).isHeld()).isFalse();
        assertThat(flows.subList(1, 5))
                .allSatisfy(
                        flow -> assertThat(flow.expectTerminalError()).isInstanceOf(LockClientClosedException.class));
        assertThat(store.count("release")).isEqualTo(3);
    }

    @Test
    void aWriterOfTheSameClientIsServedByTheStore() {
        List<TestSubscriber<LockHandle>> flows = flows(1);
        grant(5);
        TestSubscriber<LockHandle> writer = subscribe(bench.client.acquire("k"));
        Claim waits = queue();

        release(flows);

        assertThat(writer.getReceivedOnNext()).isEmpty();
        store.push(waits, 9);
        release(writer);
    }
}
