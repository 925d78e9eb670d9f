package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One protocol: whoever holds a lock through one client library excludes the users of the other. */
class CrossClientTest {

    private static Fixture fixture;
    private LockClient lettuce;
    private VertxLockClient vertx;

    @BeforeAll
    static void start() {
        fixture = new Fixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @BeforeEach
    void clients() {
        lettuce = LockClient.create(LettuceLockBackend.connect(fixture.server.uri()));
        vertx = fixture.client();
    }

    @AfterEach
    void reset() {
        get(lettuce.close());
        fixture.reset();
    }

    @Test
    void aHoldThroughLettuceIsHandedToAWaiterThroughVertxAndBack() throws Exception {
        LockHandle first = get(lettuce.acquire("a"));
        assertThat(get(vertx.tryAcquire("a"))).isNull();
        Future<VertxLockHandle> waiting = vertx.acquire("a");
        awaitWaiters(1);
        assertThat(waiting.isComplete()).isFalse();

        get(first.release());
        VertxLockHandle second = get(waiting);
        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(get(lettuce.tryAcquire("a").hasElement())).isFalse();

        var again = lettuce.acquire("a").toFuture();
        awaitWaiters(1);
        assertThat(again).isNotDone();
        get(second.release());
        LockHandle third = again.get(60, TimeUnit.SECONDS);
        assertThat(third.fencingToken()).isGreaterThan(second.fencingToken());
        get(third.release());
    }

    @Test
    void theyShareOneQueueAndLoseNoUpdate() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Mono<Void> work = Mono.fromRunnable(() -> most.accumulateAndGet(inside.incrementAndGet(), Math::max))
                .then(Mono.delay(Duration.ofMillis(1)))
                .doOnTerminate(inside::decrementAndGet)
                .then();
        Flux<Void> throughLettuce = Flux.range(0, 100).flatMap(i -> lettuce.withLock("a", work), 4);
        Flux<Void> throughVertx = Flux.range(0, 100)
                .flatMap(
                        i -> Mono.fromCompletionStage(
                                () -> vertx.withLock("a", () -> Future.fromCompletionStage(work.toFuture()))
                                        .toCompletionStage()),
                        4);

        Mono.when(throughLettuce, throughVertx).block(Duration.ofSeconds(60));

        assertThat(most).hasValue(1);
    }

    @Test
    void eachSeesTheOthersHold() {
        get(lettuce.acquire("a"));
        get(vertx.acquire("b"));
        assertThat(get(vertx.inspect("a"))).isInstanceOf(LockInfo.Held.class);
        assertThat(get(lettuce.inspect("b"))).isInstanceOf(LockInfo.Held.class);
    }

    private void awaitWaiters(long number) {
        eventually(
                "a waiter is queued",
                () -> get(lettuce.inspect("a")) instanceof LockInfo.Held held && held.waiters() == number);
    }
}
