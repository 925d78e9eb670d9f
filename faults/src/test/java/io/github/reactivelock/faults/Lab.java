package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testkit.history.History;
import io.github.reactivelock.testkit.history.HistoryChecker;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryReport;
import io.github.reactivelock.testkit.history.StallWatch;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.RedisServer;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/** A store to break and recorded clients of it; judges their history at the end. */
final class Lab implements AutoCloseable {

    static final Duration LEASE = Client.LEASE;
    /** Of a hold that is to last, though the machine is busy and the store is broken for a while. */
    static final Duration LONG_LEASE = LEASE.multipliedBy(3);

    static final Duration LIMIT = Duration.ofSeconds(60);
    /** So late a beat of the client's clock of silence counts as a pause. */
    private static final long STANDSTILL = Duration.ofMillis(300).toNanos();

    private static final double MARGIN = 0.01;

    /** Of a lab for one Redis. */
    final RedisServer server;

    final Store store;
    final Queue<HistoryEvent> events = new ConcurrentLinkedQueue<>();
    final History faults = new History("lab", events::add);
    private final List<LockClient> clients = new ArrayList<>();
    private final List<AutoCloseable> borrowed = new ArrayList<>();
    private final StallWatch stalls = StallWatch.start(faults);
    private LockBackend observer;

    /** A lab with a Redis of its own, asked through Lettuce. */
    Lab(String... config) {
        this(RedisStore.lettuce(config));
        borrowed.add(store);
        warmUp(store);
    }

    /** A lab at a store that is there before and after. */
    Lab(Store store) {
        this.store = store;
        this.server = store instanceof RedisStore redis ? redis.server : null;
    }

    /** Loads what has to be loaded before anybody counts the seconds. */
    static void warmUp(Store store) {
        LockClient lock = LockClient.builder(store.backend())
                .options(LockOptions.defaults().withLease(store.lease()))
                .commandTimeout(LIMIT)
                .build();
        Object unused = lock.withLock("warm-up", Mono.empty())
                .retryWhen(Retry.fixedDelay(100, Duration.ofMillis(200)))
                .then(lock.close())
                .block(LIMIT.multipliedBy(2));
    }

    /** A client and its records. */
    record Person(History history, LockClient lock) {

        Holding hold(String key) {
            return new Holding(this, key);
        }

        Person reader() {
            return new Person(history, lock.shared());
        }

        Person permits(int permits, int capacity) {
            return new Person(history, lock.permits(permits, capacity));
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

        /** Waits until a renewal that was sent after this call was confirmed. */
        void untilRenewed() {
            LockHandle held = held();
            long deadline = System.nanoTime() + held.remaining().toNanos();
            eventually("it is renewed", () -> {
                if (!held.isHeld()) {
                    throw new AssertionError("lost instead of renewed", error(ended));
                }
                return System.nanoTime() + held.remaining().toNanos() - deadline > 1_000_000;
            });
        }

        void release() {
            over.tryEmitEmpty().orThrow();
            get(ended);
        }
    }

    Person person() {
        return person(store.backend(), MARGIN);
    }

    Person person(Way way) {
        return person(store.backend(way), MARGIN);
    }

    /** A client of Redis by another name or way. */
    Person person(String uri) {
        return person(store.backends.connect(uri), MARGIN);
    }

    /** A client of which a hold lasts so long without the store. */
    Person person(Duration lease) {
        return person(store.backend(lease), MARGIN, lease);
    }

    /**
     * A client that stops believing in its holds so early that it does so before the store's end also where timers are
     * late by two seconds, on a busy machine, where the store takes leases that long.
     */
    Person toBeCutOff(Way way) {
        boolean takesLonger = store.longLease().compareTo(LEASE) > 0;
        Duration lease = takesLonger ? LEASE.multipliedBy(2) : LEASE;
        return person(store.backend(way), 0.3, lease.compareTo(store.lease()) < 0 ? store.lease() : lease);
    }

    /** A client that stops believing in its holds so much of a lease before the store does. */
    Person person(LockBackend backend, double margin) {
        return person(backend, margin, store.lease());
    }

    /** Such a client by another way. */
    Person person(Way way, Duration lease) {
        return person(store.backend(way, lease), MARGIN, lease);
    }

    private Person person(LockBackend backend, double margin, Duration lease) {
        History history = new History("client " + clients.size(), events::add);
        LockClient lock = LockClient.builder(history.observe(backend))
                .options(LockOptions.defaults().withLease(lease))
                .clockMargin(margin, Duration.ofMillis(2))
                .commandTimeout(store.lease())
                .build();
        clients.add(lock);
        return new Person(history, lock);
    }

    /** A client that keeps what its flows give back. */
    Person keeper(Way way) {
        Person made = person(way);
        LockOptions options = made.lock.options();
        return new Person(made.history, made.lock.with(options.withRetention(options.lease())));
    }

    /** The token of a lock that this client keeps: it asked no store for its last hold, so that is the next pass. */
    long kept(Person keeper, String key) {
        AtomicLong last = new AtomicLong();
        eventually(key + " is kept", () -> {
            Holding holding = keeper.hold(key);
            long token = holding.held().fencingToken();
            holding.release();
            return token == last.getAndSet(token) + 1;
        });
        return last.get();
    }

    Way way() {
        Way way = Way.to(store.ports());
        borrowed.add(0, way);
        return way;
    }

    void broken(Runnable fault, Duration time, Runnable mending) {
        broken(fault, time, mending, Mono.empty());
    }

    /** A renewal is asked for while it is broken, and fails at most for want of an answer. */
    void broken(Runnable fault, Duration time, Runnable mending, Mono<Void> renewal) {
        CompletableFuture<Void> renewed;
        faults.faultBegan("fault");
        try {
            fault.run();
            renewed = renewal.onErrorComplete(LockUnavailableException.class).toFuture();
            pass(time);
        } finally {
            mending.run();
        }
        faults.faultEnded("fault");
        get(renewed);
    }

    /** Waits until a client has had a lock, however many of its claims fail before. */
    void untilServed(Person person, String key) {
        eventually(key + " is had", () -> {
            Holding holding = person.hold(key);
            eventually("there is an outcome", holding.granted::isDone);
            if (holding.granted.isCompletedExceptionally()) {
                assertThat(error(holding.granted)).isInstanceOf(LockUnavailableException.class);
                return false;
            }
            holding.release();
            return true;
        });
    }

    void untilWaiting(String key, int waiters) {
        untilWaiting(key, waiters, () -> {});
    }

    /** Something is done before each look. */
    void untilWaiting(String key, int waiters, Runnable before) {
        AtomicReference<LockInfo> seen = new AtomicReference<>();
        try {
            eventually(waiters + " wait", () -> {
                before.run();
                seen.set(look(key));
                return seen.get() instanceof LockInfo.Held held && held.waiters() == waiters;
            });
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + ", last seen: " + seen, e);
        }
    }

    /**
     * A flow that waits. It asks for as long as the store refuses: a client that was cut off may have to connect anew.
     */
    Holding waiting(Person person, String key) {
        AtomicReference<Holding> asked = new AtomicReference<>(person.hold(key));
        untilWaiting(key, 1, () -> {
            CompletableFuture<LockHandle> granted = asked.get().granted;
            if (granted.isCompletedExceptionally()) {
                assertThat(error(granted)).isInstanceOf(LockUnavailableException.class);
                asked.set(person.hold(key));
            }
        });
        return asked.get();
    }

    /** Those who share the lock, by the store's own words. */
    List<Long> tokensInside(String key) {
        return look(key) instanceof LockInfo.Held held && held.shares() != null
                ? held.shares().first().stream()
                        .map(LockInfo.Holder::fencingToken)
                        .toList()
                : List.of();
    }

    /** What a client that takes no part sees. */
    LockInfo look(String key) {
        if (observer == null) {
            observer = store.backend();
        }
        return observer.inspect(key).block(LIMIT);
    }

    boolean isFree(String key) {
        return look(key) instanceof LockInfo.Free;
    }

    /** A client that knows nothing of those before it can have the lock. */
    void assertCanBeHad(String... keys) {
        Person next = person();
        for (String key : keys) {
            Holding holding = next.hold(key);
            holding.held();
            holding.release();
        }
    }

    /** Closes the clients and judges what they saw. */
    HistoryReport report() {
        closeClients();
        return new HistoryChecker(store.expiry(), store.idleLimit())
                .check(events, Leftovers.remaining(LIMIT, store::claims));
    }

    @Override
    public void close() {
        stalls.close();
        closeClients();
        for (AutoCloseable thing : borrowed) {
            try {
                thing.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        borrowed.clear();
    }

    void closeClients() {
        Flux.fromIterable(clients).flatMap(LockClient::close).then().block(LIMIT);
        clients.clear();
        if (observer != null) {
            observer.close().block(LIMIT);
            observer = null;
        }
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
        Pause.until(what, LIMIT, isSo);
    }

    /**
     * Stops a client until it is told to go on; not within a transaction that the store would never end. What the
     * client said last may begin one a moment later.
     */
    void stop(ClientProcess client) {
        eventually("it is stopped between two transactions", () -> {
            client.pause();
            boolean isBetween = IntStream.range(0, 3).noneMatch(look -> {
                pass(Duration.ofMillis(100));
                return store.keepsATransaction();
            });
            if (!isBetween) {
                client.resume();
            }
            return isBetween;
        });
    }

    /** A client that stood still itself blames no store: then its hold has run out. */
    List<LossReason> lossesOfSilence() {
        boolean stoodStill = events.stream()
                .anyMatch(
                        event -> event.kind() == HistoryEvent.Kind.STALLED && event.until() - event.at() > STANDSTILL);
        return stoodStill ? List.of(LossReason.UNREACHABLE, LossReason.EXPIRED) : List.of(LossReason.UNREACHABLE);
    }

    /** Lets time pass during which something is broken. */
    static void pass(Duration time) {
        Object unused = Mono.delay(time).block();
    }
}
