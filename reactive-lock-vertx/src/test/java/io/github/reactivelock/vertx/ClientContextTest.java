package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.state.LockEvent;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** On which context a caller hears of the outcome, of events, and of its own data. */
class ClientContextTest extends ClientFixture {

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
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(3)));

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

        assertThat(seen.poll(60, TimeUnit.SECONDS)).isTrue();
        assertThat(seen.poll(60, TimeUnit.SECONDS)).isTrue();
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

    @Test
    void aHoldsStatesComeOnItsCallersContextAndEndWithIt() {
        List<Object> seen = Collections.synchronizedList(new ArrayList<>());
        List<Context> contexts = Collections.synchronizedList(new ArrayList<>());
        VertxLockClient brief = lock.with(
                LockOptions.defaults().withLease(Duration.ofSeconds(12)).withoutRenewal());
        VertxLockHandle held = get(brief.acquire("a"));

        var states = on(() -> Future.succeededFuture(held.states()));
        states.endHandler(end -> seen.add("end")).handler(state -> {
            seen.add(state.getClass());
            contexts.add(Vertx.currentContext());
        });

        eventually("it is lost", () -> seen.contains("end"));
        assertThat(seen).containsExactly(HoldState.Safe.class, HoldState.AtRisk.class, HoldState.Lost.class, "end");
        assertThat(contexts).containsOnly(context);
    }

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
}
