package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class VertxLockClientTest extends ClientFixture {

    @Test
    void theResultOfTheWorkIsTheResultAlsoWhenItIsNull() {
        assertThat(on(() -> lock.withLock("a", () -> Future.succeededFuture("done"))))
                .isEqualTo("done");
        assertThat(on(() -> lock.<String>withLock("a", () -> Future.succeededFuture())))
                .isNull();
    }

    @Test
    void workThatFailsOrThrowsOrReturnsNoFutureReleasesTheLock() {
        assertThatThrownBy(() -> on(() -> lock.withLock("a", () -> Future.failedFuture("broken"))))
                .hasMessageContaining("broken");
        assertThatThrownBy(() -> on(() -> lock.withLock("a", () -> {
                    throw new IllegalStateException("thrown");
                })))
                .hasMessageContaining("thrown");
        assertThatThrownBy(() -> on(() -> lock.withLock("a", () -> null))).hasMessageContaining("must not be null");
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void tryAcquireIsNullWhenSomebodyHoldsTheLock() {
        VertxLockHandle held = get(lock.tryAcquire("a"));
        assertThat(held.key()).isEqualTo("a");
        assertThat(held.remaining()).isPositive();
        assertThat(get(lock.tryAcquire("a"))).isNull();
        get(held.renew());
        get(held.release());
        get(held.release());
        assertThat(held.isHeld()).isFalse();
    }

    @Test
    void viewsThatShareAreHeldTogetherAndNotWithTheWhole() {
        VertxLockHandle one = get(lock.shared().acquire("a"));
        VertxLockHandle two = get(lock.shared().acquire("a"));
        assertThat(get(lock.tryAcquire("a"))).isNull();
        get(one.release());
        get(two.release());

        VertxLockHandle permits = get(lock.permits(2, 3).acquire("a"));
        assertThat(get(lock.permits(2, 3).tryAcquire("a"))).isNull();
        get(permits.release());
    }

    @Test
    void tryWithLockRunsTheWorkOnAFreeLockElseTheOther() {
        assertThat(on(() -> lock.tryWithLock("a", () -> done("work"), () -> done("taken"))))
                .isEqualTo("work");
        VertxLockHandle held = get(lock.acquire("a"));
        assertThat(on(() -> lock.tryWithLock("a", () -> done("work"), () -> done("taken"))))
                .isEqualTo("taken");
        assertThat(on(() -> lock.tryWithLock(List.of("b", "a"), () -> done("work"), () -> done("taken"))))
                .isEqualTo("taken");
        get(held.release());

        assertThat(on(() -> lock.tryWithLock(
                        List.of("b", "a"), handles -> done(handles.get(1).key()), () -> done("taken"))))
                .isEqualTo("b");
        assertThat(on(() -> lock.tryWithLock("a", hold -> done(hold.key()), () -> done("taken"))))
                .isEqualTo("a");
    }

    @Test
    void whatIsRunInsteadMayFailAndThrowAndRunsOnTheCallersContext() {
        VertxLockHandle held = get(lock.acquire("a"));
        assertThatThrownBy(() ->
                        on(() -> lock.tryWithLock("a", () -> done("work"), () -> Future.failedFuture("it is taken"))))
                .hasMessageContaining("it is taken");
        assertThatThrownBy(() -> on(() -> lock.tryWithLock("a", () -> done("work"), () -> {
                    throw new IllegalStateException("thrown");
                })))
                .hasMessageContaining("thrown");
        assertThat(on(() -> {
                    Context caller = Vertx.currentContext();
                    return lock.tryWithLock("a", () -> done(false), () -> done(Vertx.currentContext() == caller));
                }))
                .isTrue();
        get(held.release());
    }

    private static <T> Future<T> done(T value) {
        return Future.succeededFuture(value);
    }

    @Test
    void aLossIsToldAndEndsWithLock() throws Exception {
        BlockingQueue<Object> told = new LinkedBlockingQueue<>();
        Promise<Void> never = Promise.promise();
        Future<Void> work = lock.withLock("a", held -> {
            held.onLost(loss -> told.add(loss.reason()));
            return never.future();
        });
        eventually("it is held", () -> get(lock.inspect("a")) instanceof LockInfo.Held);

        assertThat(get(lock.forceRelease("a"))).isTrue();

        assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
        assertThatThrownBy(() -> get(work)).isInstanceOf(LockLostException.class);
    }

    @Test
    void aForcedReleaseByTokenEndsThatGrantOnly() {
        VertxLockHandle held = get(lock.acquire("a"));

        assertThat(get(lock.forceRelease("a", held.fencingToken() - (1L << LockBackend.PASS_BITS))))
                .isFalse();
        assertThat(get(lock.isCurrent("a", held.fencingToken()))).isTrue();
        assertThat(get(lock.forceRelease("a", held.fencingToken()))).isTrue();
        assertThat(get(lock.isCurrent("a", held.fencingToken()))).isFalse();
        assertThat(get(lock.forceRelease("a", held.fencingToken()))).isFalse();
    }

    @Test
    void aMinimumKeepsTheLockAfterTheWork() {
        VertxLockClient jobs = lock.with(LockOptions.defaults().withMinHold(Duration.ofMinutes(1)));
        assertThat(get(jobs.withLock("a", () -> Future.succeededFuture("done"))))
                .isEqualTo("done");

        assertThat(get(jobs.tryWithLock(
                        "a", () -> Future.succeededFuture("again"), () -> Future.succeededFuture("taken"))))
                .isEqualTo("taken");
        assertThat(get(lock.forceRelease("a"))).isTrue();
    }

    @Test
    void aReleaseIsNotALoss() {
        AtomicBoolean told = new AtomicBoolean();
        VertxLockHandle held = get(lock.acquire("a"));
        held.onLost(loss -> told.set(true));
        get(held.release());
        get(lock.withLock("a", () -> Future.succeededFuture()));
        assertThat(told).isFalse();
    }

    @Test
    void badArgumentsThrowAtOnce() {
        assertThatIllegalArgumentException().isThrownBy(() -> lock.acquire(" "));
        assertThatIllegalArgumentException().isThrownBy(() -> lock.withLock("", () -> Future.succeededFuture()));
    }

    @Test
    void closingReleasesWhatIsHeldAndFailsWhatWaits() {
        VertxLockClient other = fixture.client();
        get(other.acquire("a"));
        get(lock.acquire("b"));
        Future<VertxLockHandle> waiting = lock.acquire("a");
        eventually("it waits", () -> get(other.inspect("a")) instanceof LockInfo.Held held && held.waiters() == 1);

        get(lock.close());

        assertThatThrownBy(() -> get(waiting)).isInstanceOf(LockClientClosedException.class);
        assertThat(get(other.inspect("b"))).isInstanceOf(LockInfo.Free.class);
        assertThatThrownBy(() -> get(lock.acquire("b"))).isInstanceOf(LockClientClosedException.class);
    }

    @Test
    void undeployingTheVerticleThatMadeAClientClosesIt() {
        VertxLockClient[] made = new VertxLockClient[1];
        String deployment = get(fixture.vertx.deployVerticle(verticle(() -> {
            made[0] = VertxLockClient.create(
                    fixture.vertx, Fixture.client(VertxLockBackend.connect(fixture.vertx, fixture.server.uri())));
            return made[0].acquire("a");
        })));
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Held.class);

        get(fixture.vertx.undeploy(deployment));

        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
        assertThatThrownBy(() -> get(made[0].acquire("a"))).isInstanceOf(LockClientClosedException.class);
    }
}
