package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** How the flows of a process that want permits get them. */
class PermitQueueTest extends PermitFlows {

    @Test
    void flowsHaveAClaimForTheirPermitsAsFarAsThereIsRoom() {
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
    void returnedPermitsGoToTheNextWithoutTheStoreWithANewToken() {
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
    void eachLaneHasItsOwnBudgetAndThenQueuesAtTheStoreAgain() {
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
    void aGrantForAReturnedClaimIsGivenBackToo() {
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
    void aCancelGivesTheYoungestClaimBackAndTheOthersKeepTheirPlaces() {
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
    void otherPermitsAnotherLeaseOrNoRenewalNeedAClaimOfTheirOwn() {
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

    @Test
    void eachClaimHasTheNameOfAFlowOfItsOwn() {
        List<TestSubscriber<LockHandle>> flows = Stream.of("a", "b", "c")
                .map(owner -> subscribe(one.with(one.options().withOwner(owner)).acquire("k")))
                .toList();

        assertThat(List.of(grant(5), grant(6), grant(7)))
                .extracting(Claim::owner)
                .containsExactly("a", "b", "c");
        assertThat(served(flows)).containsOnly(1);
        release(flows);
    }
}
