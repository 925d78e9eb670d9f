package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testkit.FaultyBackend;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Work that is not begun because its lease seems over, which an answer keeps after all: it comes when the deadline has
 * been read, and before the clock is.
 */
class SkippedWorkTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final AtomicLong ahead = new AtomicLong();
    private final AtomicReference<Runnable> atNextReading = new AtomicReference<>(() -> {});
    private final FaultyBackend store =
            new FaultyBackend(InMemoryLockBackend.create(() -> time.now(TimeUnit.NANOSECONDS)));
    private final VertxLockClient lock = VertxLockClient.create(
            vertx,
            LockClient.builder(store)
                    .timing(time, this::nanos)
                    .commandTimeout(Duration.ofSeconds(20))
                    .workScheduler(Schedulers.immediate())
                    .build());

    private long nanos() {
        atNextReading.getAndSet(() -> {}).run();
        return time.now(TimeUnit.NANOSECONDS) + ahead.get();
    }

    /** Called on the context, so that the work, which begins there, has not begun. */
    private void seemsOverAtTheNextLook() {
        Sinks.Empty<Void> answer = Sinks.empty();
        store.onRenewal(renewal -> answer.asMono().then(renewal));
        time.advanceTimeBy(LEASE.minusMillis(400));
        atNextReading.set(() -> {
            answer.tryEmitEmpty().orThrow();
            ahead.set(Duration.ofSeconds(1).toNanos());
        });
    }

    @AfterEach
    void close() {
        get(lock.close());
        get(vertx.close());
    }

    @Test
    void isAnErrorAndNoEmptySuccess() {
        Queue<String> begun = new ConcurrentLinkedQueue<>();

        assertThatThrownBy(() -> ClientFixture.on(context, () -> {
                    Future<String> work = lock.withLock("a", () -> {
                        begun.add("work");
                        return Future.succeededFuture("done");
                    });
                    seemsOverAtTheNextLook();
                    return work;
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the lease of lock 'a' was over before the work under it began; acquire it again");
        assertThat(begun).isEmpty();
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void ofALeaderEndsItsTermAndTheNextOneBegins() throws Exception {
        BlockingQueue<VertxLeadership> terms = new LinkedBlockingQueue<>();

        ClientFixture.on(context, () -> {
            var unused = lock.election("leader").lead(term -> {
                terms.add(term);
                return Promise.<Void>promise().future();
            });
            seemsOverAtTheNextLook();
            return Future.succeededFuture();
        });

        VertxLeadership next = terms.poll(60, TimeUnit.SECONDS);
        assertThat(next).as("a term with work").isNotNull();
        assertThat(next.isLeader()).isTrue();
    }
}
