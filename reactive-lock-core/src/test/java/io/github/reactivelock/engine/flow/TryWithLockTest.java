package io.github.reactivelock.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/** Work that is run if its locks are free, and what is run instead if one is taken. */
class TryWithLockTest {

    private static final String TAKEN = "taken";

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    /** A form of the call over the keys "a" and "b", or "a" alone. */
    private interface Form {
        Publisher<String> of(LockClient client, Mono<String> work, Mono<String> ifTaken);
    }

    static Stream<Form> forms() {
        List<String> keys = List.of("b", "a");
        return Stream.of(
                (client, work, ifTaken) -> client.tryWithLock("a", work, ifTaken),
                (client, work, ifTaken) -> client.tryWithLock("a", work.flux(), ifTaken),
                (client, work, ifTaken) -> client.tryWithLock("a", held -> work, ifTaken),
                (client, work, ifTaken) -> client.tryWithLockMany("a", held -> work, ifTaken),
                (client, work, ifTaken) -> client.tryWithLock(keys, work, ifTaken),
                (client, work, ifTaken) -> client.tryWithLock(keys, work.flux(), ifTaken),
                (client, work, ifTaken) -> client.tryWithLock(keys, held -> work, ifTaken),
                (client, work, ifTaken) -> client.tryWithLockMany(keys, held -> work, ifTaken));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void theWorkIsRunUnderAFreeLockAndItsEmptinessIsItsOwn(Form form) {
        for (Mono<String> work : List.of(Mono.just("done"), Mono.<String>empty())) {
            TestSubscriber<String> flow = TestSubscriber.create();
            form.of(bench.client, work, Mono.just(TAKEN)).subscribe(flow);
            while (!flow.isTerminated()) {
                grant();
            }

            assertThat(flow.getReceivedOnNext())
                    .isEqualTo(work.flux().collectList().block());
            assertThat(flow.isTerminatedComplete()).isTrue();
            bench.assertNothingIsLeft();
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void ifTheLockIsTakenTheOtherIsRunAndTheWorkIsNot(Form form) {
        TestPublisher<String> work = TestPublisher.create();
        TestSubscriber<String> flow = TestSubscriber.create();
        form.of(bench.client, work.mono(), Mono.just(TAKEN)).subscribe(flow);

        Asked<ClaimResult> asked = store.claim();
        assertThat(asked.claim().mode()).isEqualTo(Claim.Mode.TRY);
        asked.answer(new ClaimResult.Busy());

        assertThat(flow.getReceivedOnNext()).containsExactly(TAKEN);
        assertThat(flow.isTerminatedComplete()).isTrue();
        work.assertWasNotSubscribed();
        assertThat(store.log).containsExactly("claim .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void keysBeforeATakenOneAreReleasedBeforeTheOtherRuns() {
        store.confirmsReleases = false;
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client
                .tryWithLock(List.of("a", "b", "c"), Mono.<String>never(), Mono.just(TAKEN))
                .subscribe(flow);
        grant();
        grant();

        store.claim().answer(new ClaimResult.Busy());

        assertThat(flow.getReceivedOnNext()).isEmpty();
        assertThat(store.count("release")).isEqualTo(2);
        store.release().answer(true);
        assertThat(flow.getReceivedOnNext()).isEmpty();
        store.release().answer(true);
        assertThat(flow.getReceivedOnNext()).containsExactly(TAKEN);
        bench.assertNothingIsLeft();
    }

    @Test
    void aCancelWhileTheReleasesAreUnderWayRunsNothing() {
        store.confirmsReleases = false;
        TestPublisher<String> instead = TestPublisher.create();
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client
                .tryWithLock(List.of("a", "b"), Mono.<String>never(), instead.mono())
                .subscribe(flow);
        grant();
        store.claim().answer(new ClaimResult.Busy());

        flow.cancel();
        store.release().answer(true);

        instead.assertWasNotSubscribed();
        bench.assertNothingIsLeft();
    }

    @Test
    void aCancelThatCrossesTheAnswerRunsNothing() {
        TestPublisher<String> instead = TestPublisher.create();
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client.tryWithLock("a", Mono.<String>never(), instead.mono()).subscribe(flow);
        bench.work.shut();
        store.claim().answer(new ClaimResult.Busy());

        flow.cancel();
        bench.work.open();

        instead.assertWasNotSubscribed();
        bench.assertNothingIsLeft();
    }

    @Test
    void cancelDemandErrorsAndContextReachWhatIsRunInstead() {
        List<String> seen = new ArrayList<>();
        Flux<String> instead = Flux.deferContextual(context -> {
            seen.add(context.get("mark"));
            return Flux.range(0, 3).map(i -> TAKEN + i).doOnRequest(n -> seen.add("request " + n));
        });
        TestSubscriber<String> flow = TestSubscriber.builder()
                .initialRequest(1)
                .contextPut("mark", "context")
                .build();
        bench.client.tryWithLock("a", Flux.<String>never(), instead).subscribe(flow);
        busy();
        assertThat(flow.getReceivedOnNext()).containsExactly(TAKEN + 0);
        flow.request(2);
        assertThat(flow.getReceivedOnNext()).hasSize(3);
        assertThat(seen).containsExactly("context", "request 1", "request 2");

        TestSubscriber<String> failing = TestSubscriber.create();
        bench.client
                .tryWithLock("a", Mono.<String>never(), Mono.error(new IllegalStateException(TAKEN)))
                .subscribe(failing);
        busy();
        assertThat(failing.expectTerminalError()).hasMessage(TAKEN);

        TestPublisher<String> endless = TestPublisher.create();
        TestSubscriber<String> cancelled = TestSubscriber.create();
        bench.client.tryWithLock("a", Flux.<String>never(), endless.flux()).subscribe(cancelled);
        busy();
        cancelled.cancel();
        endless.assertCancelled();
    }

    @Test
    void aPublisherThatThrowsIsAnError() {
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client
                .tryWithLock("a", Flux.<String>never(), subscriber -> {
                    throw new IllegalStateException("thrown");
                })
                .subscribe(flow);
        busy();

        assertThat(flow.expectTerminalError()).hasMessage("thrown");
    }

    @Test
    void aFlowThatHoldsTheLockJoinsItsHold() {
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client
                .withLock("a", bench.client.tryWithLock("a", Mono.just("inside"), Mono.just(TAKEN)))
                .subscribe(flow);
        grant();

        assertThat(flow.getReceivedOnNext()).containsExactly("inside");
        assertThat(store.count("claim")).isEqualTo(1);
    }

    @Test
    void aStoreThatCannotBeAskedIsAnErrorAndNotATakenLock() {
        TestSubscriber<String> flow = TestSubscriber.create();
        bench.client.tryWithLock("a", Mono.<String>never(), Mono.just(TAKEN)).subscribe(flow);

        store.claim().fail();

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    private void busy() {
        store.claim().answer(new ClaimResult.Busy());
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }
}
