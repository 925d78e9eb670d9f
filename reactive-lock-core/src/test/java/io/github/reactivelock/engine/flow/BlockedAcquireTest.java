package io.github.reactivelock.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code block()} where Reactor refuses it: a lock that is taken all the same would be nobody's. */
class BlockedAcquireTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final LockClient client = LockClient.create(store.connect());

    @AfterEach
    void close() {
        client.close().block(LIMIT);
    }

    private static <T> Mono<T> onNonBlockingThread(Callable<T> task) {
        return Mono.fromCallable(task).subscribeOn(Schedulers.parallel());
    }

    static Stream<Named<Function<Mono<LockHandle>, Object>>> waysToBlock() {
        return Stream.of(
                Named.of("block()", mono -> mono.block()),
                Named.of("block(Duration)", mono -> mono.block(LIMIT)),
                Named.of("blockOptional()", mono -> mono.blockOptional()),
                Named.of("blockOptional(Duration)", mono -> mono.blockOptional(LIMIT)),
                Named.of(
                        "map().filter().block()",
                        mono -> mono.map(LockHandle::key).filter(key -> true).block()));
    }

    @ParameterizedTest
    @MethodSource("waysToBlock")
    void aLockIsNotTakenForAThreadThatMayNotWaitForIt(Function<Mono<LockHandle>, Object> way) {
        Mono<Object> failing = onNonBlockingThread(() -> way.apply(client.acquire("k")));
        assertThat(failing.toFuture())
                .failsWithin(LIMIT)
                .withThrowableThat()
                .withCauseInstanceOf(IllegalStateException.class);
        Mono<Object> failingToo = onNonBlockingThread(() -> way.apply(client.tryAcquire("k")));
        assertThat(failingToo.toFuture())
                .failsWithin(LIMIT)
                .withThrowableThat()
                .withCauseInstanceOf(IllegalStateException.class);

        assertThat(store.size()).isZero();
    }

    @Test
    void aFutureOfItIsGivenOutThere() {
        LockHandle handle = onNonBlockingThread(() -> client.acquire("k").toFuture())
                .flatMap(Mono::fromFuture)
                .block(LIMIT);

        assertThat(handle.isHeld()).isTrue();
    }

    @Test
    void whoeverWaitsOnAThreadThatMayGetsItFromOneThatMayNot() {
        assertThat(client.acquire("k")
                        .subscribeOn(Schedulers.parallel())
                        .block(LIMIT)
                        .isHeld())
                .isTrue();
        assertThat(Mono.delay(Duration.ofMillis(1))
                        .flatMap(late -> client.acquire("l"))
                        .block(LIMIT)
                        .isHeld())
                .isTrue();
        assertThat(Mono.delay(Duration.ofMillis(1)).then(client.acquire("m")).blockOptional(LIMIT))
                .hasValueSatisfying(handle -> assertThat(handle.isHeld()).isTrue());
        assertThat(client.acquire("n")
                        .delaySubscription(Duration.ofMillis(1))
                        .block(LIMIT)
                        .isHeld())
                .isTrue();
        assertThat(client.inspect("n").block(LIMIT)).isInstanceOf(LockInfo.Held.class);
    }
}
