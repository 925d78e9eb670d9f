package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.micrometer.LockObservation;
import io.github.reactivelock.micrometer.LockObservationContext;
import io.github.reactivelock.micrometer.LockObservations;
import io.github.reactivelock.testservers.RedisServer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import io.vertx.micrometer.backends.BackendRegistries;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** Locks in the metrics and traces of a Vert.x application, which gets them by giving a listener to its client. */
class MetricsTest {

    private RedisServer server;
    private Vertx vertx;
    private MeterRegistry registry;
    private final List<VertxLockClient> clients = new CopyOnWriteArrayList<>();

    @BeforeEach
    void start() {
        server = RedisServer.start();
        vertx = Vertx.builder()
                .with(new VertxOptions().setMetricsOptions(new MicrometerMetricsOptions().setEnabled(true)))
                .withMetrics(new MicrometerMetricsFactory(new SimpleMeterRegistry()))
                .build();
        registry = BackendRegistries.getDefaultNow();
        Fixture.warmUp(vertx, server.uri());
    }

    @AfterEach
    void stop() {
        clients.forEach(client -> get(client.close()));
        get(vertx.close());
        server.close();
    }

    private VertxLockClient client(LockListener listener) {
        VertxLockClient client = VertxLockClient.create(
                vertx,
                LockClient.builder(VertxLockBackend.connect(vertx, server.uri()))
                        .commandTimeout(Duration.ofSeconds(20))
                        .workScheduler(Schedulers.immediate())
                        .listener(listener)
                        .build());
        clients.add(client);
        return client;
    }

    @Test
    void theLocksOfAVerticleAreInTheRegistryOfItsVertx() {
        get(vertx.deployVerticle(ClientFixture.verticle(() -> client(
                        LockObservations.of(BackendRegistries.getDefaultNow()).withStore("orders"))
                .withLock("order:42", () -> Future.succeededFuture("done")))));

        eventually("the release is told", () -> timed("reactive.lock.hold", "released") == 1);
        assertThat(timed("reactive.lock.acquire", "acquired")).isEqualTo(1);
        assertThat(registry.getMeters())
                .anyMatch(meter -> meter.getId().getName().startsWith("vertx."))
                .filteredOn(meter -> meter.getId().getName().startsWith("reactive.lock."))
                .isNotEmpty()
                .allMatch(meter -> "order".equals(meter.getId().getTag("lock")))
                .allMatch(meter -> "orders".equals(meter.getId().getTag("store")));
    }

    @Test
    void holdsAndWaitsAreCountedAndSoAreTheirOutcomes() {
        VertxLockClient lock = client(LockObservations.of(registry));
        get(lock.acquire("order:42"));
        Promise<Void> end = Promise.promise();
        Future<Void> waiter = lock.withLock("order:42", end::future);

        eventually("one waits", () -> gauge("reactive.lock.waiting") == 1);
        assertThat(gauge("reactive.lock.held")).isEqualTo(1);
        assertThat(get(lock.tryWithLock(
                        "order:42", () -> Future.succeededFuture("free"), () -> Future.succeededFuture("taken"))))
                .isEqualTo("taken");
        get(lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(3)))
                .acquire("order:42")
                .mapEmpty()
                .recover(timeout -> {
                    assertThat(timeout).isInstanceOf(LockTimeoutException.class);
                    return Future.succeededFuture();
                }));
        get(lock.forceRelease("order:42"));
        end.complete();
        get(waiter);

        eventually("the release is told", () -> timed("reactive.lock.hold", "released") == 1);
        eventually("the loss is told", () -> timed("reactive.lock.hold", "lost") == 1);
        // Of one event, one meter is counted after another.
        eventually("none is held", () -> gauge("reactive.lock.held") == 0);
        eventually("none waits", () -> gauge("reactive.lock.waiting") == 0);
        eventually("it is counted by its reason", () -> lostByForce() == 1);
        assertThat(timed("reactive.lock.acquire", "busy")).isEqualTo(1);
        assertThat(timed("reactive.lock.acquire", "timed_out")).isEqualTo(1);
        assertThat(registry.get("reactive.lock.timeout").counter().count()).isEqualTo(1);
    }

    private double lostByForce() {
        return registry.find("reactive.lock.lost").tag("reason", "forced").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void theCallersObservationIsTheParentAlsoBelowTheLock() {
        Parents parents = new Parents();
        VertxLockClient lock = client(LockObservations.of(registry, parents.registry));

        get(parents.within(
                "request",
                vertx.getOrCreateContext(),
                () -> lock.withLock("outer", () -> lock.withLock("inner", () -> Future.succeededFuture()))));

        eventually("all is told", () -> parents.found.size() == 4);
        assertThat(parents.found)
                .containsOnly(
                        Map.entry("ACQUIRE outer", "request"),
                        Map.entry("HOLD outer", "request"),
                        Map.entry("ACQUIRE inner", "request"),
                        Map.entry("HOLD inner", "request"));
    }

    @Test
    void requestsOfOneEventLoopThatHandALockOnKeepTheirOwnParents() {
        Parents parents = new Parents();
        VertxLockClient lock = client(LockObservations.of(registry, parents.registry));
        Context context = vertx.getOrCreateContext();
        Promise<Void> end = Promise.promise();

        Future<Void> first = parents.within("first", context, () -> lock.withLock("order", end::future));
        eventually("it holds", () -> gauge("reactive.lock.held") == 1);
        Future<Void> second = parents.within(
                "second",
                context,
                () -> lock.withLock("order", () -> lock.withLock("below", () -> Future.succeededFuture())));
        eventually("it waits", () -> gauge("reactive.lock.waiting") == 1);
        // Ended by nobody's request.
        end.complete();
        get(Future.all(first, second));

        eventually("all is told", () -> parents.found.containsKey("HOLD below") && parents.holds.size() == 2);
        assertThat(parents.holds.values()).containsExactlyInAnyOrder("first", "second");
        assertThat(parents.found).containsEntry("HOLD below", "second");
    }

    private long timed(String name, String outcome) {
        return registry.find(name).tag("outcome", outcome).timers().stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }

    private double gauge(String name) {
        return registry.find(name).gauges().stream().mapToDouble(Gauge::value).sum();
    }

    /** An application that observes, and the parents of what it observed of locks. */
    private static final class Parents implements ObservationHandler<LockObservationContext> {

        final ObservationRegistry registry = ObservationRegistry.create();

        /** By what was observed and the key. */
        final Map<String, String> found = new ConcurrentHashMap<>();

        /** Of holds, by the fencing token. */
        final Map<Long, String> holds = new ConcurrentHashMap<>();

        Parents() {
            registry.observationConfig().observationHandler(this);
        }

        <T> Future<T> within(String name, Context context, Supplier<Future<T>> asking) {
            Promise<T> answer = Promise.promise();
            context.runOnContext(now -> Observation.createNotStarted(name, registry)
                    .observe(() -> {
                        var unused = asking.get().onComplete(answer);
                    }));
            return answer.future();
        }

        @Override
        public void onStop(LockObservationContext context) {
            var parent = context.getParentObservation();
            String name = parent == null ? "none" : parent.getContextView().getName();
            found.put(context.observation() + " " + context.request().key(), name);
            if (context.observation() == LockObservation.HOLD
                    && context.request().key().equals("order")) {
                holds.put(context.fencingToken(), name);
            }
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof LockObservationContext;
        }
    }
}
