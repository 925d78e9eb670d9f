package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.Disposable;

/**
 * A server for a test class, empty before each test, a look at it from outside, and short words for what the tests of
 * the protocol do all the time.
 */
final class RedisFixture implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {

    /** Known to the compiler's checks by its name. */
    @interface CanIgnoreReturnValue {}

    /** Longer than any test lasts, also where each of hundreds of questions takes its time. */
    static final Duration LEASE = Duration.ofMinutes(2);

    static final Duration PATIENCE = Duration.ofSeconds(60);

    RedisServer server;
    RedisCommands<String, String> redis;
    private RedisClient outside;
    private final List<LockBackend> backends = new ArrayList<>();
    private final List<Disposable> subscriptions = new ArrayList<>();

    @Override
    public void beforeAll(ExtensionContext tests) {
        server = RedisServer.start();
        outside = RedisClient.create(server.uri());
        redis = outside.connect().sync();
    }

    LockBackend backend() {
        return backend(server.uri());
    }

    LockBackend backend(String uri) {
        LockBackend backend = LettuceLockBackend.connect(uri, RedisBackendOptions.defaults());
        backends.add(backend);
        return backend;
    }

    /** Patient, so that a busy machine looks like nothing else than a slow one. */
    static LockClient client(LockBackend backend) {
        return LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(20))
                .build();
    }

    static Claim claim(String key) {
        return claim(key, LEASE, Claim.Mode.QUEUE);
    }

    static Claim claim(String key, Duration lease, Claim.Mode mode) {
        byte[] id = new byte[16];
        new SecureRandom().nextBytes(id);
        return new Claim(key, Base64.getUrlEncoder().withoutPadding().encodeToString(id), "a test", lease, mode);
    }

    static ClaimResult ask(LockBackend backend, Claim claim) {
        return backend.claim(claim).block(PATIENCE);
    }

    /** Claims and expects to be granted. */
    @CanIgnoreReturnValue
    static long take(LockBackend backend, Claim claim) {
        return ((ClaimResult.Granted) ask(backend, claim)).fencingToken();
    }

    /** Claims and expects to be queued. */
    static void queue(LockBackend backend, Claim claim) {
        assertThat(ask(backend, claim)).isInstanceOf(ClaimResult.Queued.class);
    }

    @CanIgnoreReturnValue
    static boolean release(LockBackend backend, Claim claim) {
        return backend.release(claim).block(PATIENCE);
    }

    /** Ends a subscription with the test. */
    void keep(Disposable subscription) {
        subscriptions.add(subscription);
    }

    /** Listens, and waits until the store confirmed it. */
    @CanIgnoreReturnValue
    BlockingQueue<Signal> signals(LockBackend backend) {
        BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
        subscriptions.add(backend.signals().subscribe(signals::add, error -> {}));
        assertThat(next(signals)).isInstanceOf(Signal.Reconnected.class);
        return signals;
    }

    @CanIgnoreReturnValue
    static <T> T next(BlockingQueue<T> queue) {
        try {
            T next = queue.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(next).as("something within %s", PATIENCE).isNotNull();
            return next;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void eventually(String what, BooleanSupplier condition) {
        eventually(what, PATIENCE, condition);
    }

    static void eventually(String what, Duration patience, BooleanSupplier condition) {
        Pause.until(what, patience, condition);
    }

    /** How often each command was carried out since the last reset, by its name in lower case. */
    Map<String, Long> calls() {
        Map<String, Long> calls = new java.util.TreeMap<>();
        for (String line : redis.info("commandstats").lines().toList()) {
            if (line.startsWith("cmdstat_")) {
                calls.put(
                        line.substring("cmdstat_".length(), line.indexOf(':')),
                        Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))));
            }
        }
        return calls;
    }

    /** Whether somebody has asked to hear of changes: the counter names a channel then. */
    boolean isWatched(String key) {
        String counter = redis.get("{reactivelock:" + key + "}:token");
        return counter != null && counter.contains(":events:");
    }

    /** The lock's keys, and every one has an expiry. */
    List<String> keysOf(String key) {
        List<String> keys = redis.keys("*").stream()
                .filter(name -> name.startsWith("{reactivelock:" + key + "}"))
                .toList();
        assertThat(keys)
                .allSatisfy(name -> assertThat(redis.pttl(name)).as(name).isNotEqualTo(-1));
        return keys;
    }

    void reset() {
        subscriptions.forEach(Disposable::dispose);
        subscriptions.clear();
        backends.forEach(backend -> backend.close().block(PATIENCE));
        backends.clear();
        redis.configSet("maxmemory", "0");
        redis.flushall();
        redis.configResetstat();
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        reset();
    }

    @Override
    public void afterAll(ExtensionContext tests) {
        reset();
        outside.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        server.close();
    }
}
