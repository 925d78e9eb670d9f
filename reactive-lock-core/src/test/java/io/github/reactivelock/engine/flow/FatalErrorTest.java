package io.github.reactivelock.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/**
 * Errors that Reactor takes for fatal, which it throws instead of signalling them, in code that gets a signal of ours.
 */
class FatalErrorTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final LockClient client = LockClient.create(store);

    @AfterEach
    void close() {
        client.close().block(LIMIT);
    }

    private static int thrown(int value) {
        throw new StackOverflowError("a planted one, at " + value);
    }

    private static Mono<Integer> thrownInstead() {
        throw new StackOverflowError("a planted one");
    }

    private void assertEnds(Flux<Integer> work) {
        TestSubscriber<Integer> flow = TestSubscriber.create();
        work.subscribeOn(Schedulers.boundedElastic()).subscribe(flow);
        flow.block(LIMIT);
        assertThat(flow.expectTerminalError()).isInstanceOf(StackOverflowError.class);
        assertIsReleased();
    }

    private void assertIsReleased() {
        assertThat(client.withLock("outer", Mono.just(1)).block(LIMIT)).isEqualTo(1);
        assertThat(client.withLock("inner", Mono.just(1)).block(LIMIT)).isEqualTo(1);
    }

    /** What stands between two locks, and throws when the inner one signals. */
    enum Between {
        THE_VALUE,
        THE_VALUE_OF_THE_SAME_KEY,
        THE_VALUE_WITH_A_FLOW_BEHIND_IT,
        THE_VALUE_WITH_A_FLOW_THAT_THROWS,
        THE_END,
        THE_FAILURE,
        THE_TIMEOUT,
        ONE_OF_MANY_VALUES,
        WHAT_IS_RUN_INSTEAD,
        THE_HANDLE_THAT_IS_NOT_HAD,
        THE_HANDLE,
        THE_HANDLE_OF_THE_SAME_KEY;

        Mono<Integer> work(LockClient client) {
            Mono<Integer> one = Mono.just(1);
            Mono<Integer> thrown = Mono.defer(FatalErrorTest::thrownInstead);
            return switch (this) {
                case THE_VALUE -> client.withLock("inner", one).map(FatalErrorTest::thrown);
                case THE_VALUE_OF_THE_SAME_KEY -> client.withLock("outer", one).map(FatalErrorTest::thrown);
                case THE_VALUE_WITH_A_FLOW_BEHIND_IT ->
                    client.withLock("inner", one).flatMap(value -> thrownInstead());
                case THE_VALUE_WITH_A_FLOW_THAT_THROWS ->
                    client.withLock("inner", one).flatMap(value -> thrown);
                case THE_END -> client.withLock("inner", Mono.empty()).then(thrown);
                case THE_FAILURE ->
                    client.withLock("inner", Mono.<Integer>error(new IllegalStateException("failed")))
                            .onErrorResume(failure -> thrownInstead());
                case THE_TIMEOUT ->
                    client.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(1)))
                            .withLock("taken", one)
                            .onErrorResume(failure -> thrownInstead());
                case ONE_OF_MANY_VALUES ->
                    client.withLock("inner", Flux.just(1, 2).publishOn(Schedulers.parallel()))
                            .map(FatalErrorTest::thrown)
                            .next();
                case WHAT_IS_RUN_INSTEAD -> client.tryWithLock("taken", one, thrown);
                case THE_HANDLE_THAT_IS_NOT_HAD ->
                    client.tryAcquire("taken").map(held -> 1).switchIfEmpty(thrown);
                case THE_HANDLE -> client.acquire("inner").flatMap(held -> thrownInstead());
                case THE_HANDLE_OF_THE_SAME_KEY -> client.acquire("outer").flatMap(held -> thrownInstead());
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void anErrorBetweenTwoLocksEndsTheOuterOne(Between between) {
        LockHandle taken = client.acquire("taken").block(LIMIT);

        assertEnds(client.withLock("outer", between.work(client)).flux());
        assertEnds(client.withLock("outer", between.work(client).flux()));

        taken.release().block(LIMIT);
    }

    @ParameterizedTest
    @EnumSource
    void anErrorBehindOneLockReleasesIt(Between between) {
        LockHandle taken = client.acquire("taken").block(LIMIT);

        between.work(client).onErrorComplete().subscribe(TestSubscriber.create());

        assertIsReleased();
        taken.release().block(LIMIT);
    }

    /** Reactor tells it to nobody. */
    @Test
    void theLongestHoldBoundsAnErrorOnAWorksOwnThread() {
        Mono<Integer> work = Mono.fromCallable(() -> thrown(1)).subscribeOn(Schedulers.boundedElastic());
        TestSubscriber<Integer> flow = TestSubscriber.create();

        client.with(LockOptions.defaults().withMaxHold(Duration.ofMillis(200)))
                .withLock("outer", work)
                .subscribe(flow);

        flow.block(LIMIT);
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertIsReleased();
    }
}
