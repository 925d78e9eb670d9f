package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

class ClusterFaultTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<LockClient> clients = new ArrayList<>();
    private RedisCluster cluster;

    @AfterEach
    void stop() {
        Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(PATIENCE);
        cluster.close();
    }

    @Test
    void aDeadShardKeepsNobodyElseFromRenewing() {
        cluster = RedisCluster.start(3, 0, "--cluster-require-full-coverage", "no");
        LockClient lock = client();
        LockOptions options = LockOptions.defaults().withLease(Duration.ofSeconds(12));
        RedisServer dead = cluster.nodes().get(1);
        List<String> keys = IntStream.range(0, 3000)
                .mapToObj(i -> "renewed" + i)
                .filter(key -> cluster.primary(slot(key)) != dead)
                .limit(1000)
                .toList();
        List<String> doomed = IntStream.range(0, 1000)
                .mapToObj(i -> "doomed" + i)
                .filter(key -> cluster.primary(slot(key)) == dead)
                .limit(100)
                .toList();
        List<LockHandle> lost = acquire(lock, doomed, options);
        List<LockHandle> held = acquire(lock, keys, options);

        dead.pause();
        eventually(
                "those of the dead shard are lost",
                PATIENCE,
                () -> lost.stream().noneMatch(LockHandle::isHeld));
        // By now the others would be over as well, had nobody renewed them.
        long later = System.nanoTime() + options.lease().toNanos();
        eventually("another lease has passed", PATIENCE, () -> System.nanoTime() - later > 0);

        assertThat(held).hasSize(1000).allMatch(LockHandle::isHeld);
        dead.resume();
    }

    @Test
    void everyErrorOfASilentNodeNamesIt() {
        cluster = RedisCluster.start(3, 0, "--cluster-require-full-coverage", "no");
        LockClient lock = client(RedisBackendOptions.defaults(), Duration.ofSeconds(5));
        RedisServer silent = cluster.nodes().get(1);
        List<String> keys = IntStream.range(0, 2000)
                .mapToObj(i -> "silent" + i)
                .filter(key -> cluster.primary(slot(key)) == silent)
                .limit(400)
                .toList();
        List<LockHandle> held = acquire(lock, keys.subList(0, 3), LockOptions.defaults());
        String key = held.get(2).key();
        String moved = IntStream.range(0, 2000)
                .mapToObj(i -> "moved" + i)
                .filter(name -> cluster.primary(slot(name)) != silent)
                .findFirst()
                .orElseThrow();
        String there = "Redis at 127.0.0.1:" + silent.port() + " of cluster ";

        cluster.beginMove(slot(moved), silent);
        cluster.finishMove(slot(moved), silent);

        silent.pause();
        List<Throwable> failures = failures(Flux.<Mono<?>>just(
                        held.get(0).release(),
                        held.get(1).renew(),
                        lock.tryAcquire(keys.get(3)),
                        lock.acquire(keys.get(4)),
                        lock.inspect(key),
                        lock.isCurrent(key, 1),
                        lock.forceRelease(key),
                        lock.list("").then())
                // More than leave for a silent store.
                .concatWith(Flux.fromIterable(keys.subList(5, 400)).map(lock::tryAcquire)));
        List<Throwable> later = failures(Flux.just(lock.inspect(key)));
        eventually(
                "that its slot has moved there is known here",
                PATIENCE,
                () -> failures(Flux.just(lock.inspect(moved))).stream()
                        .allMatch(failure -> failure.getMessage().contains(there)));
        silent.resume();

        assertThat(failures)
                .hasSize(403)
                .allSatisfy(failure -> assertThat(failure).hasMessageContaining(there));
        assertThat(later)
                .singleElement()
                .satisfies(failure -> assertThat(failure).hasMessageContaining(there));
    }

    private static List<Throwable> failures(Flux<Mono<?>> questions) {
        return questions
                .flatMap(question -> question.then(Mono.<Throwable>empty()).onErrorResume(Mono::just), 1_000)
                .collectList()
                .block(PATIENCE);
    }

    @Test
    void aShardThatFailsOverServesItsWaiters() {
        cluster = RedisCluster.start(3, 1);
        LockClient holder = client();
        LockClient waiter = client();
        String key = "contended";
        RedisServer primary = cluster.primary(slot(key));
        LockHandle held = holder.acquire(key).block(PATIENCE);
        AtomicInteger served = new AtomicInteger();
        Disposable waiting = Flux.range(0, 20)
                .flatMap(i -> waiter.withLock(key, Mono.fromRunnable(served::incrementAndGet)), 20)
                .subscribe();
        eventually("somebody waits", PATIENCE, () -> waiters(holder, key) == 1);

        primary.kill();
        Mono<Void> released = held.release();
        released.onErrorComplete().block(PATIENCE);

        eventually("all are served", PATIENCE, () -> served.get() == 20);
        waiting.dispose();
    }

    @ParameterizedTest
    @ValueSource(strings = {"by the bus", "by the shard"})
    void aSlotThatMovesWhileContendedExcludesAndLosesNobody(String channels) {
        cluster = RedisCluster.start(3, 0);
        boolean sharded = channels.equals("by the shard");
        assumeTrue(
                !sharded
                        || !String.valueOf(cluster.nodes().get(0).command("INFO", "server"))
                                .contains("redis_version:6."),
                "sharded channels came with Redis 7");
        RedisBackendOptions options =
                sharded ? RedisBackendOptions.defaults().withShardedChannels() : RedisBackendOptions.defaults();
        String key = "contended";
        int slot = slot(key);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger rounds = new AtomicInteger();
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
        AtomicLong movesSince = new AtomicLong(System.nanoTime());
        LockHandle held = client(options).acquire("bystander").block(PATIENCE);
        Disposable contending = Flux.range(0, 4)
                .flatMap(i -> {
                    LockClient lock = client(options);
                    return lock.withLock(
                                    key,
                                    handle -> Mono.fromRunnable(() -> {
                                        if (inside.incrementAndGet() != 1) {
                                            wrong.add("two at once");
                                        }
                                        tokens.add(handle.fencingToken());
                                        rounds.incrementAndGet();
                                        inside.decrementAndGet();
                                    }))
                            .retryWhen(Retry.indefinitely().filter(error -> isOfALongMove(error, movesSince.get())))
                            .repeat(() -> !stop.get());
                })
                .subscribe(done -> {}, error -> wrong.add(error.toString()));
        eventually("they contend", PATIENCE, () -> rounds.get() > 50);

        for (int move = 0; move < 4; move++) {
            RedisServer from = cluster.primary(slot);
            RedisServer to = cluster.nodes().stream()
                    .filter(node -> node != from)
                    .findFirst()
                    .orElseThrow();
            cluster.nodes().forEach(node -> node.command("CONFIG", "RESETSTAT"));
            movesSince.set(System.nanoTime());
            cluster.beginMove(slot, to);
            eventually(
                    "claims were turned away",
                    PATIENCE,
                    () -> cluster.nodes().stream()
                            .anyMatch(node -> String.valueOf(node.command("INFO", "errorstats"))
                                    .contains("TRYAGAIN")));
            cluster.finishMove(slot, to);
            int before = rounds.get();
            eventually("they go on", PATIENCE, () -> rounds.get() > before + 50 || !wrong.isEmpty());
        }
        stop.set(true);
        contending.dispose();

        assertThat(wrong).isEmpty();
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(held.isHeld()).isTrue();
    }

    /** A busy machine may take longer to move a slot than a claim bears, which is a second and a half. */
    private static boolean isOfALongMove(Throwable error, long since) {
        return error instanceof LockUnavailableException
                && error.getMessage().contains("TRYAGAIN")
                && System.nanoTime() - since > 1_500_000_000L;
    }

    private LockClient client() {
        return client(RedisBackendOptions.defaults());
    }

    private LockClient client(RedisBackendOptions options) {
        return client(options, Duration.ofSeconds(20));
    }

    private LockClient client(RedisBackendOptions options, Duration commandTimeout) {
        LettuceLockBackend backend = LettuceLockBackend.connectCluster(cluster.uris(), options);
        assertThat(backend.inspect("warm up").block(PATIENCE)).isNotNull();
        LockClient made =
                LockClient.builder(backend).commandTimeout(commandTimeout).build();
        clients.add(made);
        return made;
    }

    private int slot(String key) {
        return cluster.slot("{reactivelock:" + key + "}");
    }

    private static List<LockHandle> acquire(LockClient lock, List<String> keys, LockOptions options) {
        return Flux.fromIterable(keys)
                .flatMap(key -> lock.with(options).acquire(key), 50)
                .collectList()
                .block(PATIENCE);
    }

    private static long waiters(LockClient lock, String key) {
        return lock.inspect(key).block(PATIENCE) instanceof io.github.reactivelock.state.LockInfo.Held held
                ? held.waiters()
                : 0;
    }
}
