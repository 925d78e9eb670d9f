package io.github.reactivelock;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** How lanes of a line for permits are kept and end: by loss, silence, timeout, close. */
class PermitLineEndsTest extends PermitFlows {

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
}
