package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.support.SilenceClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Response;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

class LinkTest {

    private static final Duration PATIENCE = Duration.ofMillis(100);
    private static final Duration BEAT = Duration.ofMillis(50);
    // So many tries take longer than the patience by the machine's clock.
    private static final int TRIES_WITHOUT_A_TURN = 8;

    private final Vertx vertx = Vertx.vertx();
    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final AtomicLong clock = new AtomicLong();
    private final SilenceClock silenceClock = new SilenceClock(clock::get, timer);
    private final AtomicInteger tries = new AtomicInteger();
    private final CompletableFuture<Integer> triesUntilRefused = new CompletableFuture<>();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    void aPauseOfTheProcessIsNoPartOfAnInterruption() throws Exception {
        ContextInternal context = (ContextInternal) vertx.getOrCreateContext();
        Link[] link = new Link[1];
        link[0] = new Link(context, new Opener(this::next, false), PATIENCE, new BreaksAtOnce(link), silenceClock);
        context.runOnContext(now -> link[0].want());

        assertThat(triesUntilRefused.get(60, TimeUnit.SECONDS))
                .as("given up once the server had its time, and not before")
                .isGreaterThan(TRIES_WITHOUT_A_TURN);
    }

    /** The first one is open; of the others each is refused, and time goes on by beats after the pause only. */
    private Opening next() {
        int mine = tries.getAndIncrement();
        if (mine == 0) {
            return new Opening(Future.succeededFuture(anyConnection()), Future::succeededFuture);
        }
        if (mine == 1) {
            clock.addAndGet(Duration.ofSeconds(30).toNanos());
        } else if (mine > TRIES_WITHOUT_A_TURN) {
            for (int beats = 0; beats < 10; beats++) {
                clock.addAndGet(BEAT.toNanos());
                timer.advanceTimeBy(BEAT);
            }
        }
        return new Opening(Future.failedFuture(new IOException("refused")), Future::succeededFuture);
    }

    private static RedisConnection anyConnection() {
        return (RedisConnection) Proxy.newProxyInstance(
                LinkTest.class.getClassLoader(), new Class<?>[] {RedisConnection.class}, (self, method, arguments) -> {
                    return switch (method.getName()) {
                        case "equals" -> self == arguments[0];
                        case "hashCode" -> 1;
                        default -> self;
                    };
                });
    }

    private final class BreaksAtOnce implements Link.User {

        private final Link[] link;

        BreaksAtOnce(Link[] link) {
            this.link = link;
        }

        @Override
        public void opened(RedisConnection connection) {
            link[0].broken(connection);
        }

        @Override
        public void received(Response push) {}

        @Override
        public void interrupted() {}

        @Override
        public void stillInterrupted(Throwable error) {}

        @Override
        public void refused(Throwable error) {
            triesUntilRefused.complete(tries.get());
        }
    }
}
