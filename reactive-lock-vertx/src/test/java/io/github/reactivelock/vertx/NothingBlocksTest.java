package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;

/** BlockHound watches every event loop here, and so does the checker of Vert.x, with
 * a limit that is shorter than the server is stopped for, and that a busy machine does not reach. */
class NothingBlocksTest {

    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private RedisServer server;
    private Vertx vertx;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(1)
                .setBlockedThreadCheckInterval(50)
                .setMaxEventLoopExecuteTime(TimeUnit.SECONDS.toNanos(6)));
    }

    @AfterEach
    void stop() {
        get(vertx.close());
        server.close();
    }

    @Test
    void bothWatchersSeeWhatBlocks() throws Exception {
        watch();
        Promise<Integer> spun = Promise.promise();
        vertx.runOnContext(now -> {
            int spins = 0;
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (warnings.isEmpty() && System.nanoTime() - until < 0) {
                spins++;
            }
            spun.complete(spins);
        });
        get(spun.future());
        assertThat(warnings).isNotEmpty();

        assertThatThrownBy(() -> onEventLoop(() -> {
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return Future.succeededFuture();
                }))
                .hasRootCauseInstanceOf(BlockingOperationError.class);
    }

    @Test
    void clientsMayBeMadeOnAnEventLoop() {
        // So many that the random numbers they take have to be read from the system.
        for (int i = 0; i < 60; i++) {
            onEventLoop(() -> VertxLockClient.create(vertx, VertxLockBackend.connect(vertx, server.uri()))
                    .close());
        }
    }

    @Test
    void noCallBlocksTheEventLoopEvenWhileTheServerIsStopped() {
        onEventLoop(() -> VertxLockClient.create(vertx, VertxLockBackend.connect(vertx, server.uri()))
                .close());
        VertxLockClient lock = onEventLoop(() -> Future.succeededFuture(
                VertxLockClient.create(vertx, Fixture.client(VertxLockBackend.connect(vertx, server.uri())))));
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(300)));
        // What comes first loads classes, which is slow once.
        onEventLoop(() -> everything(lock));
        watch();

        for (int i = 0; i < 20; i++) {
            onEventLoop(() -> everything(lock));
        }
        server.pause();
        onEventLoop(() -> impatient
                .withLock("a", () -> Future.succeededFuture())
                .otherwiseEmpty()
                .eventually(() -> vertx.timer(7, TimeUnit.SECONDS)));
        server.resume();
        onEventLoop(() -> everything(lock));
        onEventLoop(() -> lock.close());

        assertThat(warnings).isEmpty();
    }

    private static Future<Void> everything(VertxLockClient lock) {
        return lock.withLock("a", () -> lock.withLock("a", () -> lock.inspect("a")))
                .compose(done -> lock.acquire("b"))
                .compose(held -> lock.tryAcquire("b")
                        .compose(none -> held.renew())
                        .compose(done -> {
                            Future<Void> next = lock.acquire("b").compose(VertxLockHandle::release);
                            return held.release().compose(released -> next);
                        }))
                .compose(done -> lock.acquire("c"))
                .compose(held -> lock.forceRelease("c"))
                .mapEmpty();
    }

    private void watch() {
        ((VertxInternal) vertx)
                .blockedThreadChecker()
                .setThreadBlockedHandler(event -> warnings.add(event.thread().getName() + " for " + event.duration()));
    }

    @Fixture.CanIgnoreReturnValue
    private <T> T onEventLoop(Supplier<Future<T>> question) {
        Promise<T> answer = Promise.promise();
        vertx.runOnContext(now -> {
            try {
                question.get().onComplete(answer);
            } catch (Throwable e) {
                answer.fail(new IllegalStateException(e));
            }
        });
        return get(answer.future());
    }
}
