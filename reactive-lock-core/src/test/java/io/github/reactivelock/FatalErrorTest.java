package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Errors that Reactor takes for fatal, which it throws instead of signalling them, in code that gets a signal of ours. */
class FatalErrorTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final IllegalStateException FAILED = new IllegalStateException("work failed");

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final LockClient client = LockClient.create(store);

    @AfterEach
    void close() {
        client.close().block(LIMIT);
    }

    private static <T> T thrown() {
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
        THE_VALUE(client -> client.withLock("inner", Mono.just(1)).map(value -> thrown())),
        THE_VALUE_OF_THE_SAME_KEY(
                client -> client.withLock("outer", Mono.just(1)).map(value -> thrown())),
        THE_VALUE_WITH_A_FLOW_BEHIND_IT(
                client -> client.withLock("inner", Mono.just(1)).flatMap(value -> thrown())),
        THE_VALUE_WITH_A_FLOW_THAT_THROWS(
                client -> client.withLock("inner", Mono.just(1)).flatMap(value -> Mono.defer(FatalErrorTest::thrown))),
        THE_END(client -> client.withLock("inner", Mono.<Integer>empty()).then(Mono.defer(FatalErrorTest::thrown))),
        THE_FAILURE(
                client -> client.withLock("inner", Mono.<Integer>error(FAILED)).onErrorResume(e -> thrown())),
        THE_TIMEOUT(client -> client.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(1)))
                .withLock("taken", Mono.just(1))
                .onErrorResume(e -> thrown())),
        ONE_OF_MANY_VALUES(client -> client.withLock("inner", Flux.just(1, 2).publishOn(Schedulers.parallel()))
                .map(value -> FatalErrorTest.<Integer>thrown())
                .next()),
        WHAT_IS_RUN_INSTEAD(client -> client.tryWithLock("taken", Mono.just(1), Mono.defer(FatalErrorTest::thrown))),
        THE_HANDLE_THAT_IS_NOT_HAD(client -> client.tryAcquire("taken")
                .map(LockHandle::fencingToken)
                .map(Long::intValue)
                .switchIfEmpty(Mono.defer(FatalErrorTest::thrown))),
        THE_HANDLE(client -> client.acquire("inner").flatMap(held -> thrown())),
        THE_HANDLE_OF_THE_SAME_KEY(client -> client.acquire("outer").flatMap(held -> thrown()));

        private final Function<LockClient, Mono<Integer>> work;

        Between(Function<LockClient, Mono<Integer>> work) {
            this.work = work;
        }
    }

    @ParameterizedTest
    @EnumSource
    void anErrorBetweenTwoLocksEndsTheOuterOne(Between between) {
        LockHandle taken = client.acquire("taken").block(LIMIT);

        assertEnds(client.withLock("outer", between.work.apply(client)).flux());
        assertEnds(client.withLock("outer", between.work.apply(client).flux()));

        taken.release().block(LIMIT);
    }

    @ParameterizedTest
    @EnumSource
    void anErrorBehindOneLockReleasesIt(Between between) {
        LockHandle taken = client.acquire("taken").block(LIMIT);

        between.work
                .apply(client)
                .onErrorComplete()
                .subscribeOn(Schedulers.boundedElastic())
                .subscribe(TestSubscriber.create());

        assertIsReleased();
        taken.release().block(LIMIT);
    }

    /** Reactor tells it to nobody. */
    @Test
    void anErrorOfWorkOnAThreadOfItsOwnIsBoundedByTheLongestHold() {
        Mono<Integer> work =
                Mono.<Integer>fromCallable(FatalErrorTest::thrown).subscribeOn(Schedulers.boundedElastic());
        TestSubscriber<Integer> flow = TestSubscriber.create();

        client.with(LockOptions.defaults().withMaxHold(Duration.ofMillis(200)))
                .withLock("outer", work)
                .subscribe(flow);

        flow.block(LIMIT);
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertIsReleased();
    }
}
