package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Lines of ours in front of the database, and answers that never come back from it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OwnLineTest {

    private static final R2dbcBackendOptions BRIEF =
            R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(8));
    /** So that asking for sixty takes longer than that. */
    private static final Duration EACH_WAY = Duration.ofMillis(80);

    private Databases postgres;

    @BeforeAll
    void start() {
        postgres = Databases.postgres();
        postgres.createTables();
    }

    @AfterAll
    void stop() {
        postgres.close();
    }

    private ConnectionFactory through(TcpProxy proxy) {
        return postgres.through(proxy).factory();
    }

    /** Lends from a pool; who unwraps it for a connection beside the pool gets to the server directly. */
    private record Split(ConnectionPool pool, ConnectionFactory direct)
            implements ConnectionFactory, Wrapped<ConnectionFactory> {
        @Override
        public Publisher<? extends Connection> create() {
            return pool.create();
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return pool.getMetadata();
        }

        @Override
        public ConnectionFactory unwrap() {
            return direct;
        }
    }

    @Test
    void whoeverWaitsHereAsksAgainWhenTheAnswerToAHandOverIsLost() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            ConnectionPool pool = new ConnectionPool(ConnectionPoolConfiguration.builder(through(proxy))
                    .initialSize(0)
                    .maxSize(1) // it has just answered, so it is not asked whether it lives
                    .build());
            R2dbcLockBackend backend = R2dbcLockBackend.using(new Split(pool, postgres.factory()), Databases.PATIENT);
            Queue<Signal> signals = new ConcurrentLinkedQueue<>();
            var listening = backend.signals().subscribe(signals::add, error -> {});
            Databases.until("pushes arrive", () -> !signals.isEmpty());
            Claim holder = Databases.claim("lost answer");
            Claim next = Databases.claim("lost answer");
            assertThat(backend.claim(holder).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(backend.claim(next).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            signals.clear();

            proxy.dropReplies();
            CompletableFuture<Boolean> release = backend.release(holder).toFuture();
            String served = "SELECT count(*) FROM reactive_lock WHERE claim_id = '" + next.id() + "'";
            Databases.until("it is carried out", () -> postgres.select(served) == 1);
            proxy.mend();

            assertThat(release).failsWithin(Databases.LIMIT);
            Databases.until("the next one is told to ask", () -> signals.contains(new Signal.Recheck("lost answer")));
            assertThat(backend.claim(next).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            listening.dispose();
            backend.close().block(Databases.LIMIT);
            Databases.dispose(pool);
        }
    }

    @Test
    void aWaiterLooksForItselfWhenNotificationsBreakForGood() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            LockOptions hours = LockOptions.defaults().withLease(Duration.ofHours(10));
            ConnectionPool pool = postgres.pool(4);
            R2dbcLockBackend backend = R2dbcLockBackend.using(new Split(pool, through(proxy)), Databases.PATIENT);
            Queue<Signal> signals = new ConcurrentLinkedQueue<>();
            var listening = backend.signals().subscribe(signals::add, error -> {});
            Databases.until("pushes arrive", () -> !signals.isEmpty());
            LockClient holding = Databases.client(postgres.backend()).with(hours);
            LockClient waiting = Databases.client(backend).with(hours);
            LockHandle held = holding.acquire("unheard").block(Databases.LIMIT);
            CompletableFuture<LockHandle> next = waiting.acquire("unheard").toFuture();
            String waiters = "SELECT count(*) FROM reactive_lock_waiter WHERE lock_key = convert_to('unheard', 'UTF8')";
            Databases.until("it waits", () -> postgres.select(waiters) == 1);

            proxy.cut();
            held.release().block(Databases.LIMIT);

            next.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .join()
                    .release()
                    .block(Databases.LIMIT);
            listening.dispose();
            Flux.just(holding, waiting).concatMap(LockClient::close).then().block(Databases.LIMIT);
            Databases.dispose(pool);
        }
    }

    @Test
    void standingInOurOwnLineIsNotTheSilenceOfTheStore() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            LockClient client = LockClient.builder(R2dbcLockBackend.connect(through(proxy), BRIEF))
                    .commandTimeout(BRIEF.commandTimeout())
                    .build();
            client.withLock("line", Mono.empty()).then().block(Databases.LIMIT);
            AtomicInteger served = new AtomicInteger();
            LockOptions inOrder = LockOptions.defaults().withFairness(Fairness.FIFO);
            proxy.delay(EACH_WAY);

            Flux.range(0, 60)
                    .flatMap(i -> client.with(inOrder).withLock("line", Mono.fromRunnable(served::incrementAndGet)), 60)
                    .then()
                    .block(Duration.ofMinutes(2));

            assertThat(served).hasValue(60);
            client.close().block(Databases.LIMIT);
        }
    }

    /** The one asked for its place when it was withdrawn, and has its turn among others that have stood there long. */
    @Test
    void claimsBehindOneThatWasWithdrawnAreAnswered() {
        R2dbcBackendOptions bearable = BRIEF.withCommandTimeout(Duration.ofSeconds(4));
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            Tapped tapped = Tapped.of(through(proxy));
            R2dbcLockBackend holding = postgres.backend();
            R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, bearable);
            Claim held = Databases.claim("withdrawn");
            Claim leaving = Databases.claim("withdrawn");
            holding.claim(held).block(Databases.LIMIT);
            Claim staying = Databases.claim("withdrawn");
            assertThat(backend.claim(leaving).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            assertThat(backend.claim(staying).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            postgres.execute("DELETE FROM reactive_lock_waiter WHERE claim_id = '" + leaving.id() + "'");
            tapped.statements().clear();
            proxy.delay(EACH_WAY);

            CompletableFuture<ClaimResult> again = backend.claim(leaving).toFuture();
            CompletableFuture<ClaimResult> withIt = backend.claim(staying).toFuture();
            Databases.until(
                    "they ask for their places", () -> !tapped.statements().isEmpty());
            CompletableFuture<Long> before = queued(backend, 60);
            assertThat(backend.release(leaving).block(Databases.LIMIT)).isFalse();
            assertThat(withIt).succeedsWithin(Databases.LIMIT).isInstanceOf(ClaimResult.Queued.class);
            CompletableFuture<Long> behind = queued(backend, 3);

            assertThat(before).succeedsWithin(Databases.LIMIT).isEqualTo(60L);
            assertThat(behind).succeedsWithin(Databases.LIMIT).isEqualTo(3L);
            assertThat(again).failsWithin(Databases.LIMIT);
            proxy.delay(Duration.ZERO);
            holding.close().then(backend.close()).block(Databases.LIMIT);
        }
    }

    private static CompletableFuture<Long> queued(R2dbcLockBackend backend, int many) {
        return Flux.range(0, many)
                .flatMap(i -> backend.claim(Databases.claim("withdrawn")), many)
                .ofType(ClaimResult.Queued.class)
                .count()
                .toFuture();
    }

    @Test
    void standingInLineForAConnectionIsNotTheSilenceOfTheStore() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            LockClient client = LockClient.builder(R2dbcLockBackend.connect(through(proxy), BRIEF.withConnections(1)))
                    .commandTimeout(BRIEF.commandTimeout())
                    .build();
            client.withLock("line", Mono.empty()).then().block(Databases.LIMIT);
            proxy.delay(EACH_WAY);

            long acquired = Flux.range(0, 60)
                    .flatMap(i -> client.acquire("of its own " + i), 60)
                    .count()
                    .block(Duration.ofMinutes(2));

            assertThat(acquired).isEqualTo(60);
            proxy.delay(Duration.ZERO);
            client.close().block(Databases.LIMIT);
        }
    }

    /** By the tenant that it finds in the Context. */
    private record Routing(ConnectionFactory target, Queue<String> tenants) implements ConnectionFactory {

        Routing() {
            this(
                    ConnectionFactories.get("r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1"),
                    new ConcurrentLinkedQueue<>());
        }

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.deferContextual(context -> {
                tenants.add(context.getOrDefault("tenant", "nobody"));
                return Mono.from(target.create());
            });
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return target.getMetadata();
        }
    }

    @Test
    void aFactoryThatRoutesSeesTheContextOfWhoAsks() {
        Routing routing = new Routing();
        R2dbcLockBackend backend = R2dbcLockBackend.using(routing, Databases.PATIENT);
        Context context = Context.of("tenant", "b");
        Claim claim = Databases.claim("routed");

        backend.createTables().contextWrite(context).block(Databases.LIMIT);
        assertThat(backend.claim(claim).contextWrite(context).block(Databases.LIMIT))
                .isInstanceOf(ClaimResult.Granted.class);
        assertThat(backend.release(claim).contextWrite(context).block(Databases.LIMIT))
                .isTrue();
        Once.using(routing, Databases.PATIENT)
                .run("once", Duration.ofHours(1), Mono.empty())
                .then()
                .contextWrite(context)
                .block(Databases.LIMIT);

        assertThat(routing.tenants).isNotEmpty().containsOnly("b");
        backend.close().block(Databases.LIMIT);
    }

    @Test
    void whatCleansInTheBackgroundOfAUseSeesTheContextOfThatUse() {
        Routing routing = new Routing();
        Sweep sweep = Sweep.ofOnce(new Database(routing, Databases.PATIENT));
        sweep.due.set(System.nanoTime());

        sweep.begin(Context.of("tenant", "b"));

        Databases.until("it has begun", () -> !routing.tenants.isEmpty());
        assertThat(routing.tenants).containsOnly("b");
    }
}
