package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.vertx.VertxLockBackend;
import io.github.reactivelock.vertx.VertxLockClient;
import io.github.reactivelock.vertx.VertxLockHandle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
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

/**
 * One protocol: a holder that uses one client library excludes the users of the other. Each test has a key of its own.
 */
class CrossClientTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static RedisServer server;
    private static Vertx engine;
    private LockClient lettuce;
    private VertxLockClient vertx;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        engine = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        get(engine.close());
        server.close();
    }

    @BeforeEach
    void connect() {
        lettuce = patient(LettuceLockBackend.connect(server.uri()));
        vertx = VertxLockClient.create(engine, patient(VertxLockBackend.connect(engine, server.uri())));
    }

    private static LockClient patient(LockBackend backend) {
        return LockClient.builder(backend).commandTimeout(PATIENCE).build();
    }

    @AfterEach
    void close() {
        get(vertx.close());
        lettuce.close().block(PATIENCE);
    }

    @Test
    void aHoldThroughLettuceIsHandedToAWaiterThroughVertxAndBack() throws Exception {
        LockHandle first = lettuce.acquire("a").block(PATIENCE);
        assertThat(get(vertx.tryAcquire("a"))).isNull();
        Future<VertxLockHandle> waiting = vertx.acquire("a");
        awaitWaiter("a");
        assertThat(waiting.isComplete()).isFalse();

        first.release().block(PATIENCE);
        VertxLockHandle second = get(waiting);
        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(lettuce.tryAcquire("a").hasElement().block(PATIENCE)).isFalse();

        var again = lettuce.acquire("a").toFuture();
        awaitWaiter("a");
        assertThat(again).isNotDone();
        get(second.release());
        LockHandle third = again.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(third.fencingToken()).isGreaterThan(second.fencingToken());
        third.release().block(PATIENCE);
    }

    @Test
    void theyShareOneQueueAndLoseNoUpdate() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Mono<Void> work = Mono.fromRunnable(() -> most.accumulateAndGet(inside.incrementAndGet(), Math::max))
                .then(Mono.delay(Duration.ofMillis(1)))
                .doOnTerminate(inside::decrementAndGet)
                .then();
        Flux<Void> throughLettuce = Flux.range(0, 100).flatMap(i -> lettuce.withLock("b", work), 4);
        Flux<Void> throughVertx = Flux.range(0, 100)
                .flatMap(
                        i -> Mono.fromCompletionStage(
                                () -> vertx.withLock("b", () -> Future.fromCompletionStage(work.toFuture()))
                                        .toCompletionStage()),
                        4);

        Mono.when(throughLettuce, throughVertx).block(PATIENCE);

        assertThat(most).hasValue(1);
    }

    @Test
    void eachSeesTheOthersHold() throws Exception {
        assertThat(lettuce.acquire("c").block(PATIENCE)).isNotNull();
        assertThat(get(vertx.acquire("d"))).isNotNull();
        assertThat(get(vertx.inspect("c"))).isInstanceOf(LockInfo.Held.class);
        assertThat(lettuce.inspect("d").block(PATIENCE)).isInstanceOf(LockInfo.Held.class);
    }

    private void awaitWaiter(String key) {
        eventually(
                "a waiter is queued",
                () -> lettuce.inspect(key).block(PATIENCE) instanceof LockInfo.Held held && held.waiters() == 1);
    }

    private static <T> T get(Future<T> future) {
        return Mono.fromCompletionStage(future.toCompletionStage()).block(PATIENCE);
    }
}
