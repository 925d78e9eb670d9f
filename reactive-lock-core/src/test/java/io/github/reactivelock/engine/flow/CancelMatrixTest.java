package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A flow cancelled at every stage, and every answer that may still come: nothing is left, the next is served. */
class CancelMatrixTest {

    enum Form {
        ACQUIRE,
        TRY,
        TRY_MONO,
        MONO,
        FLUX
    }

    enum Stage {
        BEFORE_REQUEST,
        IN_FLIGHT,
        QUEUED,
        GRANTED_NOT_DELIVERED,
        WORKING,
        RELEASING;

        boolean isBefore(Stage other) {
            return compareTo(other) < 0;
        }
    }

    /** To a claim as the name says; to a release "was yours", "was not", an error, and nothing. */
    enum Answer {
        GRANTED,
        QUEUED,
        ERROR,
        NEVER
    }

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    static Stream<Arguments> cases() {
        return Stream.of(Form.values())
                .flatMap(form -> Stream.of(Stage.values())
                        .filter(stage -> isReachable(form, stage))
                        .flatMap(stage -> Stream.of(Answer.values()).map(answer -> Arguments.of(form, stage, answer))));
    }

    private static boolean isReachable(Form form, Stage stage) {
        return switch (form) {
            case ACQUIRE -> stage.isBefore(Stage.WORKING);
            case TRY -> stage.isBefore(Stage.WORKING) && stage != Stage.QUEUED;
            case TRY_MONO -> stage != Stage.QUEUED;
            case MONO, FLUX -> true;
        };
    }

    @ParameterizedTest
    @MethodSource("cases")
    void nothingIsLeftAndTheNextIsServed(Form form, Stage stage, Answer answer) {
        TestSubscriber<Object> flow = reach(form, stage);
        store.confirmsReleases = stage.isBefore(Stage.GRANTED_NOT_DELIVERED);
        Asked<ClaimResult> inFlight = stage == Stage.IN_FLIGHT || stage == Stage.QUEUED ? store.claim() : null;

        flow.cancel();
        bench.work.open();
        if (inFlight != null) {
            assertThat(store.count("release")).isEqualTo(1);
            answerClaim(form, inFlight, answer);
        } else if (stage == Stage.BEFORE_REQUEST) {
            assertThat(store.log).isEmpty();
        } else if (!store.confirmsReleases) {
            assertThat(store.count("release")).isEqualTo(1);
            answerRelease(store.release(), answer);
        }

        store.confirmsReleases = answer != Answer.NEVER;
        LockHandle next = bench.hold("k", 9);
        subscribe(next.release());
        bench.time.advance(LEASE.plusSeconds(3));
        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(flow.isTerminated()).isFalse();
        bench.assertNothingIsLeft();
        assertThat(bench.work.waiting()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Stage.class)
    void theNextFlowOfTheProcessGetsItsTurn(Stage stage) {
        TestSubscriber<Object> flow = reach(Form.MONO, stage);
        TestSubscriber<LockHandle> next = subscribe(bench.client.acquire("k"));

        flow.cancel();
        bench.work.open();

        if (stage.isBefore(Stage.GRANTED_NOT_DELIVERED)) {
            assertThat(store.log).as("it took over the claim").doesNotContain("claim .1");
            grant();
        } else if (stage == Stage.RELEASING) {
            store.release().answer(true);
            grant();
        } else {
            assertThat(store.log).as("it was passed on").containsExactly("claim .0");
        }
        assertThat(Bench.held(next).isHeld()).isTrue();
        store.confirmsReleases = true;
        subscribe(Bench.held(next).release());
        bench.assertNothingIsLeft();
    }

    @ParameterizedTest
    @EnumSource(
            value = Stage.class,
            names = {"QUEUED", "GRANTED_NOT_DELIVERED", "WORKING"})
    void theNextProcessGetsItsTurnAtOnce(Stage stage) {
        InMemoryLockBackend shared = InMemoryLockBackend.create(bench.time::nanos);
        LockClient first = bench.over(shared).build();
        LockClient second = bench.over(shared.connect()).build();
        LockHandle blocking = Bench.held(subscribe(second.acquire("k")));
        if (stage == Stage.GRANTED_NOT_DELIVERED) {
            bench.work.shut();
        }
        TestSubscriber<Object> flow = TestSubscriber.create();
        first.withLock("k", Mono.never()).subscribe(flow);
        TestSubscriber<LockHandle> next = TestSubscriber.create();
        second.with(second.options().withFairness(Fairness.FIFO)).acquire("k").subscribe(next);
        if (stage != Stage.QUEUED) {
            subscribe(blocking.release());
        }

        flow.cancel();
        bench.work.open();
        if (stage == Stage.QUEUED) {
            subscribe(blocking.release());
        }

        subscribe(Bench.held(next).release());
        assertThat(shared.size()).isZero();
    }

    @Test
    void aCancelledFlowLeavesItsClaimOnlyToFlowsThatWantTheSame() {
        TestSubscriber<LockHandle> head = TestSubscriber.create();
        bench.queue(head, "k");
        TestSubscriber<LockHandle> next = TestSubscriber.create();
        bench.with(o -> o.withLease(Duration.ofSeconds(5))).acquire("k").subscribe(next);

        head.cancel();

        assertThat(store.log).containsExactly("claim .0", "release .0", "claim .1");
        assertThat(store.claim().claim().lease()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void aClaimThatIsAnsweredLateIsReleasedBehindItsAnswer() {
        for (Answer answer : Answer.values()) {
            TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
            Asked<ClaimResult> asked = store.claim();
            flow.cancel();
            store.log.clear();

            answerClaim(Form.ACQUIRE, asked, answer);

            boolean isAtTheStore = answer == Answer.GRANTED || answer == Answer.QUEUED;
            assertThat(store.count("release")).as("%s", answer).isEqualTo(isAtTheStore ? 1 : 0);
        }
        bench.assertNothingIsLeft();
    }

    /** A flow at a stage, with what comes next unanswered. */
    private TestSubscriber<Object> reach(Form form, Stage stage) {
        TestSubscriber<Object> flow = TestSubscriber.builder()
                .initialRequest(stage == Stage.BEFORE_REQUEST ? 0 : Long.MAX_VALUE)
                .build();
        Mono<Object> work = stage == Stage.RELEASING ? Mono.empty() : Mono.never();
        store.confirmsReleases = stage != Stage.RELEASING;
        Publisher<?> locked = switch (form) {
            case ACQUIRE -> bench.client.acquire("k");
            case TRY -> bench.client.tryAcquire("k");
            case TRY_MONO -> bench.client.tryWithLock("k", work, Mono.just("taken"));
            case MONO -> bench.client.withLock("k", work);
            case FLUX -> bench.client.withLock("k", work.flux());
        };
        if (stage == Stage.GRANTED_NOT_DELIVERED) {
            bench.work.shut();
        }
        Flux.from(locked).cast(Object.class).subscribe(flow);
        if (stage == Stage.QUEUED) {
            store.claim().answer(ScriptedBackend.queued());
            store.push(new Signal.Recheck("k"));
        } else if (!stage.isBefore(Stage.GRANTED_NOT_DELIVERED)) {
            grant();
        }
        return flow;
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }

    private static void answerClaim(Form form, Asked<ClaimResult> asked, Answer answer) {
        switch (answer) {
            case GRANTED -> asked.answer(ScriptedBackend.granted(asked.claim(), 1));
            case QUEUED ->
                asked.answer(
                        form == Form.TRY || form == Form.TRY_MONO ? new ClaimResult.Busy() : ScriptedBackend.queued());
            case ERROR -> asked.fail();
            case NEVER -> {}
        }
    }

    private static void answerRelease(Asked<Boolean> asked, Answer answer) {
        switch (answer) {
            case GRANTED -> asked.answer(true);
            case QUEUED -> asked.answer(false);
            case ERROR -> asked.fail();
            case NEVER -> {}
        }
    }
}
