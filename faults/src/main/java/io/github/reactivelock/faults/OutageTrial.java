package io.github.reactivelock.faults;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Locks are asked for all the time while Redis cannot be reached, and how soon there are locks again afterwards. */
final class OutageTrial {

    private static final int A_SECOND = 1_500;
    private static final int HOLDS = 20;
    private static final int CROWD = 100_000;
    private static final Duration BEAT = Duration.ofMillis(10);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration AFTERWARDS = Duration.ofSeconds(5);
    private static final Pattern CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

    /** What was seen, for a line of the output. */
    record Outcome(String what, Duration firstLock, long failedLater, int lostHolds, long calls, int mostWaiting) {

        boolean isGood() {
            return firstLock.compareTo(Duration.ofSeconds(1)) < 0 && lostHolds == 0 && failedLater == 0;
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%s: first lock %d ms after the mend, %d flows failed more than 2 s after it, %d of %d holds lost;"
                            + " at most %,d flows wanted a lock at once, and the server got %,d calls of scripts in the first"
                            + " second",
                    what,
                    firstLock.toMillis(),
                    failedLater,
                    lostHolds,
                    HOLDS,
                    mostWaiting,
                    calls);
        }
    }

    private final AtomicInteger numbers = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger mostWaiting = new AtomicInteger();
    private final AtomicLong failedLater = new AtomicLong();
    private final CompletableFuture<Long> firstLock = new CompletableFuture<>();
    private volatile long mendedAt = Long.MAX_VALUE;

    private OutageTrial() {}

    /** Prints a line for each client and way of being unreachable; true if all were as promised. */
    static boolean run(PrintStream out, Duration outage) throws InterruptedException {
        boolean good = true;
        for (String client : List.of("redis", "vertx:redis")) {
            good &= print(out, new OutageTrial().run(client, "connections cut", TcpProxy::cut, outage));
            good &= print(out, new OutageTrial().run(client, "no answers", TcpProxy::freeze, outage));
        }
        boolean crowdIsServed = crowd(out);
        return good && crowdIsServed;
    }

    /**
     * Very many flows want one lock in strict order; standing in the line of their own process is no silence of the
     * store.
     */
    private static boolean crowd(PrintStream out) {
        try (RedisServer server = RedisServer.start();
                Backends backends = new Backends()) {
            LockClient locks = LockClient.builder(backends.connect(server.uri()))
                    .options(LockOptions.defaults().withFairness(Fairness.FIFO))
                    .build();
            boolean ready = get(locks.ready().thenReturn(true));
            AtomicInteger failed = new AtomicInteger();
            long began = System.nanoTime();
            long entered = get(Flux.range(0, CROWD)
                    .flatMap(
                            i -> locks.withLock("crowd", Mono.just(i)).onErrorResume(failure -> {
                                failed.incrementAndGet();
                                return Mono.empty();
                            }),
                            CROWD)
                    .count());
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            boolean closed = get(locks.close().thenReturn(true));
            Object left = server.command("DBSIZE");
            out.printf(
                    Locale.ROOT,
                    "%,d flows in order on one key: %,d had the lock in %d ms, %d failed; keys left %s%n",
                    CROWD,
                    entered,
                    took.toMillis(),
                    failed.get(),
                    left);
            return ready && closed && failed.get() == 0;
        }
    }

    private static boolean print(PrintStream out, Outcome outcome) {
        out.println(outcome);
        return outcome.isGood();
    }

    Outcome run(String client, String way, Consumer<TcpProxy> breaking, Duration outage) throws InterruptedException {
        try (RedisServer server = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(server.port());
                Backends backends = new Backends()) {
            LockClient locks = LockClient.builder(backends.connect(client + "://127.0.0.1:" + proxy.port()))
                    .build();
            boolean ready = get(locks.ready().thenReturn(true));
            List<LockHandle> holds = get(Flux.range(0, HOLDS)
                    .flatMap(i -> locks.with(LockOptions.defaults().withLease(outage.multipliedBy(3)))
                            .acquire("held:" + i))
                    .collectList());
            Disposable traffic = Flux.interval(BEAT)
                    .onBackpressureDrop()
                    .flatMap(beat -> Flux.range(0, A_SECOND / 100), Integer.MAX_VALUE)
                    .flatMap(i -> flow(locks), Integer.MAX_VALUE)
                    .subscribe();
            Thread.sleep(2_000);
            breaking.accept(proxy);
            Thread.sleep(outage.toMillis());
            long callsBefore = calls(server);
            proxy.mend();
            mendedAt = System.nanoTime();
            Thread.sleep(1_000);
            long calls = calls(server) - callsBefore;
            Duration first = firstLock();
            Thread.sleep(AFTERWARDS.toMillis());
            traffic.dispose();
            int lost = (int) holds.stream().filter(hold -> !hold.isHeld()).count();
            boolean closed = get(locks.close().thenReturn(true));
            String what =
                    client + ", " + way + " for " + outage.toSeconds() + " s at " + A_SECOND + " acquisitions a second";
            return new Outcome(
                    what, first, failedLater.get(), ready && closed ? lost : HOLDS, calls, mostWaiting.get());
        }
    }

    private Mono<Void> flow(LockClient locks) {
        return Mono.defer(() -> {
            mostWaiting.accumulateAndGet(waiting.incrementAndGet(), Math::max);
            return locks.withLock("order:" + numbers.incrementAndGet(), Mono.<Void>fromRunnable(this::locked))
                    .onErrorResume(failure -> {
                        if (sinceMend() > TimeUnit.SECONDS.toNanos(2)) {
                            failedLater.incrementAndGet();
                        }
                        return Mono.empty();
                    })
                    .doFinally(end -> waiting.decrementAndGet());
        });
    }

    private void locked() {
        if (sinceMend() > 0) {
            firstLock.complete(System.nanoTime());
        }
    }

    private long sinceMend() {
        return mendedAt == Long.MAX_VALUE ? 0 : System.nanoTime() - mendedAt;
    }

    private Duration firstLock() throws InterruptedException {
        try {
            return Duration.ofNanos(firstLock.get(LIMIT.toSeconds(), TimeUnit.SECONDS) - mendedAt);
        } catch (TimeoutException | ExecutionException e) {
            return LIMIT;
        }
    }

    private static long calls(RedisServer server) {
        Matcher stats = CALLS.matcher(String.valueOf(server.command("INFO", "commandstats")));
        long calls = 0;
        while (stats.find()) {
            calls += Long.parseLong(stats.group(1));
        }
        return calls;
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(LIMIT));
    }
}
