package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Locks through Vert.x when one of several servers dies, or a slot moves to another. */
class SeveralServersTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Vertx vertx = Vertx.vertx();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<AutoCloseable> servers = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(PATIENCE);
        vertx.close().await();
        for (AutoCloseable server : servers) {
            server.close();
        }
    }

    @Test
    void afterAFailoverBySentinelsWaitersAreServedAndHoldsGoOn() {
        RedisSentinel set = RedisSentinel.start(1);
        servers.add(set);
        RedisOptions options =
                new RedisOptions().setType(RedisClientType.SENTINEL).setMasterName(RedisSentinel.NAME);
        set.sentinels().forEach(sentinel -> options.addConnectionString(sentinel.uri()));
        LockClient holder = client(options);
        LockClient waiter = client(options);
        LockHandle held = holder.acquire("a").block(PATIENCE);
        LockHandle kept = holder.acquire("kept").block(PATIENCE);
        List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
        Disposable waiting = waitTwentyTimes(waiter, "a", tokens);
        eventually("somebody waits", () -> waiters(holder, "a") == 1);
        RedisServer first = set.primary();
        eventually("the replica is in step", () -> inStep(first, set.servers().get(1)));

        first.kill();
        eventually("a replica is the primary", () -> set.primary() != first);
        held.release().onErrorComplete().block(PATIENCE);

        eventually("all are served", () -> tokens.size() == 20);
        assertThat(tokens).isSorted().allMatch(token -> token > held.fencingToken());
        eventually(
                "the other hold is confirmed by the new primary",
                () -> Boolean.TRUE.equals(
                        kept.renew().thenReturn(true).onErrorReturn(false).block(PATIENCE)));
        assertThat(kept.isHeld()).isTrue();
        waiting.dispose();
    }

    @Test
    void aPrimaryThatBecomesAReplicaWithoutEndingItsConnectionsIsLeft() {
        RedisServer first = closing(RedisServer.start());
        RedisServer second = closing(
                RedisServer.start("--replicaof", "127.0.0.1", "" + first.port(), "--repl-diskless-sync-delay", "0"));
        RedisOptions options = new RedisOptions()
                .setType(RedisClientType.REPLICATION)
                .addConnectionString(first.uri())
                .addConnectionString(second.uri());
        eventually("the replica is in step", () -> inStep(first, second));
        LockClient holder = client(options);
        LockClient waiter = client(options);
        LockHandle held = holder.acquire("a").block(PATIENCE);
        List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
        Disposable waiting = waitTwentyTimes(waiter, "a", tokens);
        eventually("somebody waits", () -> waiters(holder, "a") == 1);
        eventually("the replica is in step", () -> inStep(first, second));

        second.command("REPLICAOF", "NO", "ONE");
        first.command("REPLICAOF", "127.0.0.1", Integer.toString(second.port()));

        LockHandle other = holder.acquire("b").block(PATIENCE);
        assertThat(second.command("EXISTS", "{reactivelock:b}")).isEqualTo(1L);
        held.release().block(PATIENCE);
        eventually("all are served", () -> tokens.size() == 20);
        other.release().block(PATIENCE);
        eventually(
                "the last one has released",
                () -> second.command("EXISTS", "{reactivelock:a}").equals(0L));
        waiting.dispose();
    }

    @Test
    void aShardThatFailsOverServesItsWaiters() {
        RedisCluster cluster = cluster(1);
        LockClient holder = client(options(cluster));
        LockClient waiter = client(options(cluster));
        String key = "contended";
        RedisServer primary = cluster.primary(slot(cluster, key));
        LockHandle held = holder.acquire(key).block(PATIENCE);
        List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
        Disposable waiting = waitTwentyTimes(waiter, key, tokens);
        eventually("somebody waits", () -> waiters(holder, key) == 1);

        primary.kill();
        held.release().onErrorComplete().block(PATIENCE);

        eventually("all are served", () -> tokens.size() == 20);
        waiting.dispose();
    }

    @Test
    void everyErrorOfASilentNodeNamesIt() {
        RedisCluster cluster = cluster(0, "--cluster-require-full-coverage", "no");
        LockClient lock = client(options(cluster), Duration.ofSeconds(5));
        RedisServer silent = cluster.nodes().get(1);
        List<String> keys = keys("silent", 400, cluster, silent, true);
        List<LockHandle> held = acquire(lock, LockOptions.defaults(), keys.subList(0, 3));
        String key = held.get(2).key();
        String moved = keys("moved", 1, cluster, silent, false).get(0);
        String there = "Redis at 127.0.0.1:" + silent.port() + " of cluster ";

        cluster.beginMove(slot(cluster, moved), silent);
        cluster.finishMove(slot(cluster, moved), silent);

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

    @Test
    void aSilentNodeKeepsNoOtherFromBeingAskedForThePrimaries() {
        RedisCluster cluster = cluster(0, "--cluster-require-full-coverage", "no");
        RedisConnection silent = connected(cluster.nodes().get(0));
        RedisConnection other = connected(cluster.nodes().get(1));
        Primaries primaries = new Primaries(Duration.ofMillis(100));
        Context loop = vertx.getOrCreateContext();
        cluster.nodes().get(0).pause();
        loop.runOnContext(now -> IntStream.range(0, 100).forEach(i -> primaries.ask(silent)));

        eventually("another one tells", () -> {
            loop.runOnContext(now -> primaries.ask(other));
            return !primaries.of(0).isEmpty();
        });

        cluster.nodes().get(0).resume();
    }

    private RedisConnection connected(RedisServer server) {
        return Redis.createClient(vertx, "redis://127.0.0.1:" + server.port())
                .connect()
                .await();
    }

    private static List<Throwable> failures(Flux<Mono<?>> questions) {
        return questions
                .flatMap(question -> question.then(Mono.<Throwable>empty()).onErrorResume(Mono::just), 1_000)
                .collectList()
                .block(PATIENCE);
    }

    @Test
    void aDeadShardKeepsNobodyElseFromRenewing() {
        RedisCluster cluster = cluster(0, "--cluster-require-full-coverage", "no");
        LockClient lock = client(options(cluster));
        LockOptions options = LockOptions.defaults().withLease(Duration.ofSeconds(12));
        RedisServer dead = cluster.nodes().get(1);
        List<LockHandle> lost = acquire(lock, options, keys("doomed", 100, cluster, dead, true));
        List<LockHandle> held = acquire(lock, options, keys("renewed", 1000, cluster, dead, false));

        dead.pause();
        eventually("those of the dead shard are lost", () -> lost.stream().noneMatch(LockHandle::isHeld));
        // By now the others would be over as well, had nobody renewed them.
        long later = System.nanoTime() + options.lease().toNanos();
        eventually("another lease has passed", () -> System.nanoTime() - later > 0);

        assertThat(held).hasSize(1000).allMatch(LockHandle::isHeld);
        dead.resume();
    }

    @Test
    void aSlotThatMovesWhileContendedExcludesAndLosesNobody() {
        RedisCluster cluster = cluster(0);
        String key = "contended";
        int slot = slot(cluster, key);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger inside = new AtomicInteger();
        long noMove = System.nanoTime() + Duration.ofDays(1).toNanos(); // none has begun
        AtomicLong movesSince = new AtomicLong(noMove);
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
        AtomicIntegerArray turns = new AtomicIntegerArray(4);
        LockHandle held = client(options(cluster)).acquire("bystander").block(PATIENCE);
        Disposable contending = Flux.range(0, turns.length())
                .flatMap(i -> client(options(cluster))
                        .withLock(
                                key,
                                handle -> Mono.fromRunnable(() -> {
                                    if (inside.incrementAndGet() != 1) {
                                        wrong.add("two at once");
                                    }
                                    tokens.add(handle.fencingToken());
                                    turns.incrementAndGet(i);
                                    inside.decrementAndGet();
                                }))
                        .retryWhen(Retry.indefinitely().filter(error -> isOfALongMove(error, movesSince.get())))
                        .repeat(() -> !stop.get()))
                .subscribe(done -> {}, error -> wrong.add(error.toString()));
        eventually("they contend", () -> tokens.size() > 50);

        for (int move = 0; move < 3; move++) {
            RedisServer from = cluster.primary(slot);
            RedisServer to = cluster.nodes().stream()
                    .filter(node -> node != from)
                    .findFirst()
                    .orElseThrow();
            movesSince.set(System.nanoTime());
            cluster.beginMove(slot, to);
            cluster.finishMove(slot, to);
            int before = tokens.size();
            int[] turnsBefore =
                    IntStream.range(0, turns.length()).map(turns::get).toArray();
            eventually("they go on", () -> tokens.size() > before + 50 || !wrong.isEmpty());
            eventually(
                    "no claim of before is left",
                    () -> IntStream.range(0, turns.length()).allMatch(i -> turns.get(i) > turnsBefore[i])
                            || !wrong.isEmpty());
            movesSince.set(noMove);
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

    /** Compares offsets: {@code WAIT} would only tell of what its own connection wrote. */
    private static boolean inStep(RedisServer primary, RedisServer replica) {
        List<?> there = (List<?>) replica.command("ROLE");
        List<?> here = (List<?>) primary.command("ROLE");
        return there.contains("connected") && String.valueOf(there.get(4)).equals(String.valueOf(here.get(1)));
    }

    private <T extends AutoCloseable> T closing(T server) {
        servers.add(0, server);
        return server;
    }

    private RedisCluster cluster(int replicas, String... config) {
        RedisCluster cluster = RedisCluster.start(3, replicas, config);
        servers.add(cluster);
        return cluster;
    }

    private static RedisOptions options(RedisCluster cluster) {
        RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
        cluster.uris().forEach(options::addConnectionString);
        return options;
    }

    private LockClient client(RedisOptions options) {
        return client(options, Duration.ofSeconds(20));
    }

    private LockClient client(RedisOptions options, Duration commandTimeout) {
        VertxLockBackend backend = VertxLockBackend.connect(vertx, options);
        assertThat(backend.inspect("warm up").retry(3).block(PATIENCE)).isNotNull();
        LockClient made =
                LockClient.builder(backend).commandTimeout(commandTimeout).build();
        clients.add(made);
        return made;
    }

    private static Disposable waitTwentyTimes(LockClient waiter, String key, List<Long> tokens) {
        return Flux.range(0, 20)
                .flatMap(
                        i -> waiter.withLock(key, handle -> Mono.fromRunnable(() -> tokens.add(handle.fencingToken()))),
                        20)
                .subscribe();
    }

    private static int slot(RedisCluster cluster, String key) {
        return cluster.slot("{reactivelock:" + key + "}");
    }

    private static List<String> keys(String name, int count, RedisCluster cluster, RedisServer node, boolean there) {
        return IntStream.range(0, 10 * count)
                .mapToObj(i -> name + i)
                .filter(key -> (cluster.primary(slot(cluster, key)) == node) == there)
                .limit(count)
                .toList();
    }

    private static List<LockHandle> acquire(LockClient lock, LockOptions options, List<String> keys) {
        return Flux.fromIterable(keys)
                .flatMap(key -> lock.with(options).acquire(key), 50)
                .collectList()
                .block(PATIENCE);
    }

    private static long waiters(LockClient lock, String key) {
        return lock.inspect(key).block(PATIENCE) instanceof LockInfo.Held held ? held.waiters() : 0;
    }
}
