package io.github.reactivelock.reliability;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockInfo;
import io.github.reactivelock.testkit.RedisServer;
import io.github.reactivelock.testkit.TcpProxy;
import io.github.reactivelock.testkit.history.History;
import io.github.reactivelock.testkit.history.HistoryChecker;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryReport;
import io.github.reactivelock.testkit.history.StallWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A server to break and recorded clients of it; judges their history at the end. */
final class Lab implements AutoCloseable {

    static final Duration LEASE = Client.LEASE;
    static final Duration LIMIT = Duration.ofSeconds(20);

    final RedisServer server;
    final Queue<HistoryEvent> events = new ConcurrentLinkedQueue<>();
    final History faults = new History("lab", events::add);
    private final List<LockClient> clients = new ArrayList<>();
    private final List<TcpProxy> proxies = new ArrayList<>();

    static {
        // Loads what has to be loaded before anybody counts the seconds.
        try (RedisServer server = RedisServer.start()) {
            LockClient lock = LockClient.create(LettuceLockBackend.connect(server.uri()));
            Object unused = lock.withLock("a", Mono.empty()).then(lock.close()).block();
        }
    }

    private final StallWatch stalls = StallWatch.start(faults);

    Lab(String... config) {
        server = RedisServer.start(config);
    }

    /** A client and its records. */
    record Person(History history, LockClient lock) {

        Holding hold(String key) {
            return new Holding(this, key);
        }
    }

    /** One flow that asks for a lock and holds it, looking at it now and then, until told to let go. */
    static final class Holding {

        final CompletableFuture<LockHandle> granted = new CompletableFuture<>();
        final CompletableFuture<Void> ended;
        private final Sinks.Empty<Void> over = Sinks.empty();

        Holding(Person person, String key) {
            ended = person.history
                    .withLock(person.lock, key, held -> {
                        granted.complete(held);
                        return Flux.interval(Duration.ofMillis(100))
                                .map(look -> held.isHeld())
                                .takeUntilOther(over.asMono())
                                .then();
                    })
                    .doOnError(granted::completeExceptionally)
                    .toFuture();
        }

        @ClientProcess.CanIgnoreReturnValue
        LockHandle held() {
            return get(granted);
        }

        void release() {
            over.tryEmitEmpty().orThrow();
            get(ended);
        }
    }

    Person person() {
        return person(server.uri());
    }

    Person person(TcpProxy proxy) {
        return person("redis://127.0.0.1:" + proxy.port());
    }

    Person person(String uri) {
        return person(uri, 0.01);
    }

    /** A client that stops believing in its holds so much of a lease before the store does. */
    Person person(String uri, double margin) {
        History history = new History("client " + clients.size(), events::add);
        LockClient lock = LockClient.builder(history.observe(LettuceLockBackend.connect(uri)))
                .options(LockOptions.defaults().withLease(LEASE))
                .clockMargin(margin, Duration.ofMillis(2))
                .build();
        clients.add(lock);
        return new Person(history, lock);
    }

    TcpProxy proxy() {
        TcpProxy proxy = TcpProxy.to(server.port());
        proxies.add(proxy);
        return proxy;
    }

    void untilWaiting(String key, int waiters) {
        eventually(waiters + " wait", () -> {
            Object waiting = server.command("ZCARD", "{reactivelock:" + key + "}:queue");
            return waiting.equals((long) waiters);
        });
    }

    boolean isFree(String key) {
        LockInfo info = person().lock.inspect(key).block(LIMIT);
        return info instanceof LockInfo.Free;
    }

    /** Closes the clients and judges what they saw. */
    HistoryReport report() {
        closeClients();
        return new HistoryChecker(LEASE).check(events, Leftovers.keys(server, LIMIT));
    }

    @Override
    public void close() {
        stalls.close();
        closeClients();
        proxies.forEach(TcpProxy::close);
        server.close();
    }

    private void closeClients() {
        Flux.fromIterable(clients).flatMap(LockClient::close).then().block(LIMIT);
        clients.clear();
    }

    static <T> T get(Future<T> future) {
        try {
            return future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("failed instead of ending well", e.getCause());
        } catch (TimeoutException | InterruptedException e) {
            throw new AssertionError("not ended within " + LIMIT, e);
        }
    }

    static Throwable error(Future<?> future) {
        try {
            throw new AssertionError(
                    "ended well instead of failing, with " + future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (TimeoutException | InterruptedException e) {
            throw new AssertionError("not ended within " + LIMIT, e);
        }
    }

    static void eventually(String what, BooleanSupplier isSo) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!isSo.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            pass(Duration.ofMillis(10));
        }
    }

    /** Lets time pass during which something is broken. */
    static void pass(Duration time) {
        Object unused = Mono.delay(time).block();
    }
}
