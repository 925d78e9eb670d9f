package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.VALID;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/** How a withLock over a Flux ends: the rows of the table in LockClient, demand, and the values' fate. */
class WithLockFluxTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final List<Object> discarded = new ArrayList<>();
    private final IllegalStateException own = new IllegalStateException("the work's own");

    @Test
    void valuesComeAtOnceAndCompletionAfterTheRelease() {
        store.confirmsReleases = false;
        TestSubscriber<Integer> flow = locked(Flux.range(0, 3));
        assertThat(flow.getReceivedOnNext()).containsExactly(0, 1, 2);
        assertThat(flow.isTerminated()).isFalse();

        store.release().answer(true);

        assertThat(flow.isTerminatedComplete()).isTrue();
    }

    @Test
    void completionComesAlsoWhenTheReleaseFails() {
        store.confirmsReleases = false;
        TestSubscriber<Integer> flow = locked(Flux.just(1));

        store.release().fail();

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(bench.heard.unreleased).hasSize(1);
    }

    @Test
    void theWorksOwnErrorComesAfterTheReleaseWasTried() {
        store.confirmsReleases = false;
        TestSubscriber<Integer> flow = locked(Flux.concat(Flux.just(1), Flux.error(own)));
        assertThat(flow.isTerminated()).isFalse();

        store.release().fail();

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertThat(flow.expectTerminalError()).isSameAs(own);
    }

    @Test
    void demandIsTheSubscribersFromBeforeTheGrantOn() {
        AtomicLong requested = new AtomicLong();
        TestSubscriber<Integer> flow =
                TestSubscriber.builder().initialRequest(2).build();
        bench.client
                .withLock("k", Flux.range(0, 10).hide().doOnRequest(requested::addAndGet))
                .subscribe(flow);
        flow.request(1);
        assertThat(requested).hasValue(0);
        grant();

        assertThat(flow.getReceivedOnNext()).containsExactly(0, 1, 2);
        flow.request(2);
        assertThat(flow.getReceivedOnNext()).hasSize(5);
        assertThat(requested).hasValue(5);
        flow.cancel();
        bench.assertNothingIsLeft();
    }

    @Test
    void nothingIsAcquiredBeforeThereIsDemand() {
        TestSubscriber<Integer> flow =
                TestSubscriber.builder().initialRequest(0).build();
        bench.client.withLock("k", Flux.just(1)).subscribe(flow);

        assertThat(store.log).isEmpty();
        flow.request(1);
        assertThat(store.log).hasSize(1);
    }

    @Test
    void takingTheFirstFewReleases() {
        TestSubscriber<Integer> flow = TestSubscriber.create();
        bench.client.withLock("k", Flux.range(0, 10)).take(2).subscribe(flow);
        grant();

        assertThat(flow.getReceivedOnNext()).containsExactly(0, 1);
        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(store.count("release")).isEqualTo(1);
        bench.assertNothingIsLeft();
    }

    @Test
    void aLossEndsTheFlowAfterWhatWasEmittedBefore() {
        Sinks.Many<Integer> work = Sinks.many().unicast().onBackpressureBuffer();
        TestSubscriber<Integer> flow = locked(work.asFlux());
        work.emitNext(1, Sinks.EmitFailureHandler.FAIL_FAST);

        bench.time.advance(LEASE);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(work.currentSubscriberCount()).isZero();
        bench.assertNothingIsLeft();
    }

    @Test
    void noValueGetsThroughAfterTheDeadlineThoughNoTimerRan() {
        TestPublisher<Integer> work = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        TestSubscriber<Integer> flow = locked(work.flux());
        work.next(1);
        bench.time.pause(VALID.minusNanos(1));
        work.next(2);
        bench.time.pause(VALID);
        work.next(3);
        work.next(4);

        assertThat(flow.getReceivedOnNext()).containsExactly(1, 2);
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(discarded).containsExactly(3, 4);
        assertThat(work.wasCancelled()).isTrue();
    }

    @Test
    void completionAfterTheDeadlineIsALoss() {
        Sinks.Many<Integer> work = Sinks.many().unicast().onBackpressureBuffer();
        TestSubscriber<Integer> flow = locked(work.asFlux());
        bench.time.pause(VALID);

        work.emitComplete(Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void workThatIsNotReactorsMayThrowWhenSubscribedTo() {
        Publisher<Integer> throwing = subscriber -> {
            throw own;
        };
        TestSubscriber<Integer> flow = TestSubscriber.create();
        bench.client.withLockMany("k", held -> throwing).subscribe(flow);
        grant();

        assertThat(flow.expectTerminalError()).isSameAs(own);
        bench.assertNothingIsLeft();
    }

    /** A flow whose lock is granted at once. */
    private TestSubscriber<Integer> locked(Flux<Integer> work) {
        TestSubscriber<Integer> flow = TestSubscriber.create();
        bench.client
                .withLock("k", work)
                .doOnDiscard(Object.class, discarded::add)
                .subscribe(flow);
        grant();
        return flow;
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }
}
