package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.claim;
import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.redis.client.RedisConnection;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What a Vertx that is being closed opens, and what it still does. */
class VertxClosingTest {

    /** By then a link would have opened its connection again. */
    private static final Executor LATER = CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS);

    private static Fixture fixture;

    @BeforeAll
    static void start() {
        fixture = new Fixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    /**
     * Closing a Vertx closes its connections first and ends its threads last. What is opened in between may outlive
     * both.
     */
    @Test
    void aConnectionThatNobodyWantsIsNotOpenedAgain() {
        List<String> seen = new CopyOnWriteArrayList<>();
        Set<String> others = Set.copyOf(numbers(fixture.connections())); // of the fixture's own client
        Vertx vertx = Vertx.vertx();
        ((VertxInternal) vertx)
                .addCloseHook(done -> LATER.execute(() -> {
                    seen.addAll(fixture.connections());
                    done.succeed();
                }));
        LockBackend backend = VertxLockBackend.connect(vertx, fixture.server.uri());
        AtomicBoolean confirmed = new AtomicBoolean();
        var listening = backend.signals().subscribe(signal -> confirmed.set(true), error -> {});
        eventually("the channel is confirmed", confirmed::get);
        get(backend.claim(claim("a"))); // behind what a confirmed channel has asked, which would want a connection
        eventually("both are open", () -> ours(others).size() == 2);
        List<String> before = numbers(fixture.connections());

        get(vertx.close());

        assertThat(numbers(seen)).isSubsetOf(before); // the server may notice a moment later that they are closed
        get(backend.close());
        listening.dispose();
        eventually("our connections are closed", () -> ours(others).isEmpty());
    }

    private List<String> ours(Set<String> others) {
        return numbers(fixture.connections()).stream()
                .filter(number -> !others.contains(number))
                .toList();
    }

    private static List<String> numbers(List<String> connections) {
        return connections.stream().map(line -> line.split(" ", 2)[0]).toList();
    }

    /** A verticle is undeployed when the connections are closed already. */
    @Test
    void aClientOfAVerticleGivesItsLocksBackAllTheSame() {
        Vertx vertx = Vertx.vertx();
        Holder holder = new Holder();
        get(vertx.deployVerticle(holder));

        get(vertx.close());

        assertThat(get(fixture.backend().inspect("held"))).isInstanceOf(LockInfo.Free.class);
    }

    /** A release waits in the engine until there is a connection, so no command of it waits here. */
    @Test
    void aWaitForAConnectionThatOpensAgainGetsOne() {
        Vertx vertx = Vertx.vertx();
        ((VertxInternal) vertx).addCloseHook(done -> LATER.execute(done::succeed));
        ContextInternal context = ((VertxInternal) vertx).createEventLoopContext();
        Commands commands = new Commands(
                context,
                new Opener(() -> new Opening(context.succeededFuture(silent()), context::succeededFuture), false),
                key -> 0,
                100,
                () -> {},
                () -> {},
                error -> {},
                server -> {});
        get(Mono.<Void>create(commands::awaitReady));
        CompletableFuture<Void> ready = new CompletableFuture<>();
        CompletableFuture<Void> closed = new CompletableFuture<>();

        context.runOnContext(now -> {
            commands.reopen();
            Disposable unused = Mono.<Void>create(commands::awaitReady)
                    .subscribe(never -> {}, ready::completeExceptionally, () -> ready.complete(null));
            var unusedEnd = vertx.close().onComplete(end -> closed.complete(null));
        });

        assertThat(ready).succeedsWithin(Duration.ofSeconds(60));
        assertThat(closed).succeedsWithin(Duration.ofSeconds(60));
    }

    private static RedisConnection silent() {
        return (RedisConnection) Proxy.newProxyInstance(
                RedisConnection.class.getClassLoader(),
                new Class<?>[] {RedisConnection.class},
                (connection, method, args) -> method.getReturnType() == Future.class
                        ? Promise.promise().future()
                        : connection);
    }

    private static final class Holder extends VerticleBase {
        @Override
        public Future<?> start() {
            VertxLockClient locks = VertxLockClient.create(
                    vertx, Fixture.client(VertxLockBackend.connect(vertx, fixture.server.uri())));
            return locks.acquire("held");
        }
    }
}
