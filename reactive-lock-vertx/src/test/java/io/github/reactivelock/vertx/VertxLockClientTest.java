package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.spi.LockEvent;
import io.github.reactivelock.spi.LockInfo;
import io.github.reactivelock.spi.LossReason;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VertxLockClientTest {

    private static Fixture fixture;
    private VertxLockClient lock;
    private Context context;

    @BeforeAll
    static void start() {
        fixture = new Fixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @BeforeEach
    void client() {
        lock = fixture.client();
        context = fixture.vertx.getOrCreateContext();
    }

    @AfterEach
    void reset() {
        fixture.reset();
    }

    // ---- contexts

    @Test
    void theResultComesOnTheContextOfTheCaller() {
        for (String key : List.of("a", "a", "b")) {
            Context seen =
                    on(() -> lock.withLock(key, () -> Future.succeededFuture()).map(done -> Vertx.currentContext()));
            assertThat(seen).isSameAs(context);
        }
        Context released =
                on(() -> lock.acquire("a").compose(VertxLockHandle::release).map(done -> Vertx.currentContext()));
        assertThat(released).isSameAs(context);
        Context inspected = on(() -> lock.inspect("a").map(info -> Vertx.currentContext()));
        assertThat(inspected).isSameAs(context);
    }

    @Test
    void aFailureComesOnTheContextOfTheCaller() {
        get(lock.acquire("a"));
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(50)));

        Context seen = on(() -> impatient.acquire("a").<Context>mapEmpty().recover(error -> {
            assertThat(error).isInstanceOf(LockTimeoutException.class);
            return Future.succeededFuture(Vertx.currentContext());
        }));

        assertThat(seen).isSameAs(context);
    }

    @Test
    void theWorkRunsOnTheEventLoopOfTheCaller() {
        Thread caller = on(() -> Future.succeededFuture(Thread.currentThread()));
        Thread worker = on(() -> lock.withLock("a", () -> Future.succeededFuture(Thread.currentThread())));
        assertThat(worker).isSameAs(caller);
    }

    @Test
    void aCallerWithoutAContextGetsOneOfTheVertx() {
        Context seen = get(lock.withLock("a", () -> Future.succeededFuture(1)).map(done -> Vertx.currentContext()));
        assertThat(seen).isNotNull();
        assertThat(seen.owner()).isSameAs(fixture.vertx);
    }

    @Test
    void aWorkerVerticleStaysOnItsWorker() throws Exception {
        BlockingQueue<Boolean> seen = new LinkedBlockingQueue<>();
        var options = new io.vertx.core.DeploymentOptions().setThreadingModel(io.vertx.core.ThreadingModel.WORKER);
        get(fixture.vertx.deployVerticle(
                verticle(() -> lock.withLock("a", () -> {
                            seen.add(Context.isOnWorkerThread());
                            return Future.succeededFuture();
                        })
                        .onComplete(done -> seen.add(Context.isOnWorkerThread()))),
                options));

        assertThat(seen.poll(5, TimeUnit.SECONDS)).isTrue();
        assertThat(seen.poll(5, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void contextDataOfTheCallerIsThereUnderTheLock() {
        Object seen = on(() -> {
            Vertx.currentContext().put("tenant", "blue");
            return lock.withLock(
                    "a", () -> Future.succeededFuture(Vertx.currentContext().get("tenant")));
        });
        assertThat(seen).isEqualTo("blue");
    }

    // ---- several keys

    @Test
    void severalLocksAreHeldTogetherAndReleasedTogether() {
        List<String> keys = on(() -> lock.withLock(List.of("b", "a", "b"), held -> {
            assertThat(held).allMatch(VertxLockHandle::isHeld);
            return Future.all(lock.inspect("a"), lock.inspect("b")).map(both -> {
                assertThat(both.<LockInfo>list()).allMatch(LockInfo.Held.class::isInstance);
                return held.stream().map(VertxLockHandle::key).toList();
            });
        }));

        assertThat(keys).containsExactly("a", "b");
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
        assertThat(get(lock.inspect("b"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void eachOfSeveralKeysIsReentrantBelowThem() {
        Integer result = on(() -> lock.withLock(
                List.of("a", "b"),
                () -> lock.withLock("b", () -> lock.withLock("a", () -> Future.succeededFuture(7)))));
        assertThat(result).isEqualTo(7);
    }

    @Test
    void callersWhoNameTheSameKeysInDifferentOrdersDoNotWaitForEachOther() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Supplier<Future<Void>> work = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            return pause(5).onComplete(done -> inside.decrementAndGet());
        };
        VertxLockClient other = fixture.client();
        on(() -> Future.all(java.util.stream.IntStream.range(0, 10)
                .mapToObj(i ->
                        i % 2 == 0 ? lock.withLock(List.of("a", "b"), work) : other.withLock(List.of("b", "a"), work))
                .toList()));
        assertThat(most).hasValue(1);
    }

    @Test
    void ofSeveralKeysNoneIsKeptWhenOneIsNotGotInTime() {
        VertxLockHandle held = get(lock.acquire("b"));
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(100)));

        assertThatThrownBy(() -> get(impatient.withLock(List.of("a", "b"), () -> Future.succeededFuture())))
                .isInstanceOf(LockTimeoutException.class);

        get(lock.withLock("a", () -> Future.succeededFuture()));
        get(held.release());
        assertThatIllegalArgumentException().isThrownBy(() -> lock.withLock(List.of(), () -> Future.succeededFuture()));
    }

    // ---- who excludes whom

    @Test
    void flowsOnOneEventLoopExcludeOneAnother() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Supplier<Future<Void>> work = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            return pause(5).onComplete(done -> inside.decrementAndGet());
        };
        on(() -> Future.all(Collections.nCopies(20, work).stream()
                .map(each -> lock.withLock("a", each))
                .toList()));
        assertThat(most).hasValue(1);
    }

    @Test
    void theSameKeyBelowIsReentrantAlsoLaterInTheChain() {
        String result = on(() -> lock.withLock(
                "a",
                outer -> pause(5).compose(later -> lock.withLock("b", () -> pause(5)))
                        .compose(later -> lock.withLock("a", inner -> {
                            assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
                            return pause(5).map(done -> "nested");
                        }))
                        .eventually(() -> {
                            assertThat(outer.isHeld()).isTrue();
                            return Future.succeededFuture();
                        })));
        assertThat(result).isEqualTo("nested");
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void acquireIsReentrantUnderTheLockAndNotElsewhere() {
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(100)));
        Boolean shared = on(() -> lock.withLock(
                "a",
                held -> impatient.acquire("a").compose(again -> again.release().map(done -> held.isHeld()))));
        assertThat(shared).isTrue();

        VertxLockHandle first = get(lock.acquire("a"));
        assertThatThrownBy(() -> on(() -> impatient.acquire("a"))).isInstanceOf(LockTimeoutException.class);
        get(first.release());
    }

    @Test
    void siblingsBelowOneHoldExcludeOneAnother() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Supplier<Future<Void>> work = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            return pause(10).onComplete(done -> inside.decrementAndGet());
        };
        on(() -> lock.withLock(
                "a", () -> Future.all(lock.withLock("b", work), lock.withLock("b", work), lock.withLock("b", work))));
        assertThat(most).hasValue(1);
    }

    @Test
    void theCallersContextDoesNotGetTheHold() {
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(100)));
        Promise<Void> finish = Promise.promise();
        Future<Void> outer = on(() -> Future.succeededFuture(lock.withLock("a", () -> finish.future())));

        assertThatThrownBy(() -> on(() -> impatient.withLock("a", () -> Future.succeededFuture())))
                .isInstanceOf(LockTimeoutException.class);
        finish.complete();
        get(outer);
    }

    @Test
    void aFlowThatOutlivesItsHoldAcquiresAnew() {
        Context below = on(() -> lock.withLock("a", () -> Future.succeededFuture(Vertx.currentContext())));
        assertThat(((ContextInternal) below).isDuplicate()).isTrue();
        VertxLockHandle other = get(lock.acquire("a"));
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(100)));

        assertThatThrownBy(() -> on(below, () -> impatient.withLock("a", () -> Future.succeededFuture())))
                .isInstanceOf(LockTimeoutException.class);
        get(other.release());
    }

    // ---- outcomes

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
    void aLossIsToldAndEndsWithLock() throws Exception {
        BlockingQueue<Object> told = new LinkedBlockingQueue<>();
        Promise<Void> never = Promise.promise();
        Future<Void> work = lock.withLock("a", held -> {
            held.onLost(loss -> told.add(loss.reason()));
            return never.future();
        });
        eventually("it is held", () -> get(lock.inspect("a")) instanceof LockInfo.Held);

        assertThat(get(lock.forceRelease("a"))).isTrue();

        assertThat(told.poll(5, TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
        assertThatThrownBy(() -> get(work)).isInstanceOf(LockLostException.class);
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

    // ---- events

    @Test
    void eventsComeOnTheContextOfTheCallerAndStopWhilePaused() {
        List<Object> seen = Collections.synchronizedList(new ArrayList<>());
        List<Context> contexts = Collections.synchronizedList(new ArrayList<>());
        var stream = on(() -> Future.succeededFuture(lock.events("a")));
        stream.handler(event -> {
            seen.add(event.getClass());
            contexts.add(Vertx.currentContext());
        });
        eventually("the snapshot", () -> seen.size() == 1);
        get(lock.withLock("a", () -> Future.succeededFuture()));
        eventually("three events", () -> seen.size() == 3);

        stream.pause();
        get(lock.withLock("a", () -> Future.succeededFuture()));
        get(fixture.vertx.timer(100));
        assertThat(seen).hasSize(3);
        stream.fetch(1);
        eventually("one more", () -> seen.size() == 4);
        stream.resume();
        eventually("five events", () -> seen.size() == 5);
        stream.handler(null);

        assertThat(seen)
                .containsExactly(
                        LockEvent.Snapshot.class,
                        LockEvent.Acquired.class,
                        LockEvent.Released.class,
                        LockEvent.Acquired.class,
                        LockEvent.Released.class);
        assertThat(contexts).containsOnly(context);
    }

    // ---- the end

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
                    fixture.vertx, VertxLockBackend.connect(fixture.vertx, fixture.server.uri()));
            return made[0].acquire("a");
        })));
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Held.class);

        get(fixture.vertx.undeploy(deployment));

        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
        assertThatThrownBy(() -> get(made[0].acquire("a"))).isInstanceOf(LockClientClosedException.class);
    }

    private static VerticleBase verticle(Supplier<Future<?>> start) {
        return new VerticleBase() {
            @Override
            public Future<?> start() {
                return start.get();
            }
        };
    }

    private static Future<Void> pause(int millis) {
        return Future.future(done -> Vertx.currentContext().owner().setTimer(millis, fired -> done.complete()));
    }

    @Fixture.CanIgnoreReturnValue
    private <T> T on(Supplier<Future<T>> question) {
        return on(context, question);
    }

    @Fixture.CanIgnoreReturnValue
    private static <T> T on(Context where, Supplier<Future<T>> question) {
        Promise<T> answer = Promise.promise();
        where.runOnContext(now -> {
            try {
                question.get().onComplete(answer);
            } catch (Throwable e) {
                answer.fail(e);
            }
        });
        return get(answer.future());
    }
}
