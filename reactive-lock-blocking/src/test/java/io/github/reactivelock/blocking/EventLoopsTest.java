package io.github.reactivelock.blocking;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** Threads that many flows share may not be kept waiting. */
class EventLoopsTest extends Fixture {

    @Test
    void aThreadThatReactorMarksIsRefused() throws Exception {
        assertRefused(task -> {
            var unused = Schedulers.parallel().schedule(task);
        });
    }

    @Test
    void anEventLoopOfNettyIsRefusedAndItsExecutorsAreNot() throws Exception {
        var loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        var executors = new DefaultEventExecutorGroup(1);
        try {
            assertRefused(loops);
            assertThat(run(executors, EventLoops::isCurrent)).isFalse();
        } finally {
            assertThat(loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(1, TimeUnit.MINUTES))
                    .isTrue();
            assertThat(executors.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(1, TimeUnit.MINUTES))
                    .isTrue();
        }
    }

    @Test
    void anEventLoopOfVertxIsRefusedAndItsWorkersAreNot() throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            assertRefused(task -> vertx.runOnContext(nothing -> task.run()));
            assertThat(said(task -> {
                        var unused = vertx.executeBlocking(() -> {
                            task.run();
                            return true;
                        });
                    }))
                    .isNull();
        } finally {
            var unused = vertx.close().toCompletionStage().toCompletableFuture().get(1, TimeUnit.MINUTES);
        }
    }

    @Test
    void aHoldClosedOnAnEventLoopIsGivenBackWithoutAWait() throws Exception {
        HeldLock held = locks.acquire("a");

        Object nothing = run(
                task -> {
                    var unused = Schedulers.parallel().schedule(task);
                },
                () -> {
                    held.close();
                    return null;
                });

        assertThat(nothing).isNull();
        untilFree("a");
    }

    private void assertRefused(Executor threads) throws Exception {
        assertThat(said(threads))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lock 'a' was not asked for")
                .hasMessageContaining("must not block");
        assertThat(isHeld("a")).isFalse();
    }

    /** What a call on one of the threads throws, if it does. */
    private Throwable said(Executor threads) throws Exception {
        return run(threads, () -> {
            try {
                locks.withLock("a", () -> {});
                return null;
            } catch (Throwable e) {
                return e;
            }
        });
    }

    private static <T> T run(Executor threads, Callable<T> body) throws Exception {
        CompletableFuture<T> answer = new CompletableFuture<>();
        threads.execute(() -> {
            try {
                answer.complete(body.call());
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        return answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
}
