package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.state.LockInfo;
import io.lettuce.core.Range;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * The jars of one version beside the classes of this build, on one server, in one process. It is for 0.2, the first
 * version that has a released one before it: {@code -Dreactive-lock.released} takes the paths of the released jars of
 * core, redis and lettuce, as a class path. Without it the classes of this build are loaded a second time.
 */
class RollingUpgradeTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private static final Class<?>[] PARTS = {LockClient.class, RedisBackendOptions.class, LettuceLockBackend.class};

    /** A client that missed its grant would ask again after a third of it, which no test waits for. */
    private static final Duration LEASE = Duration.ofMinutes(10);

    /** A client of one version, in words that are the same for all. */
    public interface Side {

        /** The token of the hold. */
        Mono<Long> acquire(String key);

        /** The token of a reader's hold. */
        Mono<Long> read(String key);

        /** The token of the hold, or empty if the lock is taken. */
        Mono<Long> tryAcquire(String key);

        Mono<Void> release(long token);

        /** Whether a hold of this side is in force. */
        boolean holds(long token);

        Mono<Boolean> forceRelease(String key, long token);

        /** The name of the owner, or empty if the lock is free. */
        Mono<String> owner(String key);

        Mono<Void> close();
    }

    /** Loaded once with each version's classes. */
    public static final class Client implements Side {

        private final LockClient client;
        private final Map<Long, LockHandle> holds = new ConcurrentHashMap<>();

        public Client(String uri, String owner) {
            client = LockClient.builder(LettuceLockBackend.connect(uri, RedisBackendOptions.defaults()))
                    .name(owner)
                    .options(LockOptions.defaults().withLease(LEASE))
                    .commandTimeout(Duration.ofSeconds(20))
                    .build();
        }

        private Mono<Long> held(Mono<LockHandle> handle) {
            return handle.map(hold -> {
                holds.put(hold.fencingToken(), hold);
                return hold.fencingToken();
            });
        }

        @Override
        public Mono<Long> acquire(String key) {
            return held(client.acquire(key));
        }

        @Override
        public Mono<Long> read(String key) {
            return held(client.shared().acquire(key));
        }

        @Override
        public Mono<Long> tryAcquire(String key) {
            return held(client.tryAcquire(key));
        }

        @Override
        public Mono<Void> release(long token) {
            return holds.get(token).release();
        }

        @Override
        public boolean holds(long token) {
            return holds.get(token).isHeld();
        }

        @Override
        public Mono<Boolean> forceRelease(String key, long token) {
            return client.forceRelease(key, token);
        }

        @Override
        public Mono<String> owner(String key) {
            return client.inspect(key).ofType(LockInfo.Held.class).map(LockInfo.Held::owner);
        }

        @Override
        public Mono<Void> close() {
            return client.close();
        }
    }

    /** This library from the paths of one version, everything else from the class path of the test. */
    private static final class Version extends URLClassLoader {

        Version(URL[] paths) {
            super(paths, RollingUpgradeTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.github.reactivelock.") || name.equals(Side.class.getName())) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? findClass(name) : known;
            }
        }

        @Override
        public URL getResource(String name) {
            return name.contains("reactivelock") ? findResource(name) : super.getResource(name);
        }
    }

    private Version version;
    private Side released;
    private Side built;

    @BeforeEach
    void connect() throws ReflectiveOperationException, MalformedURLException {
        version = new Version(paths());
        String uri = fixture.server.uri();
        released = (Side) version.loadClass(Client.class.getName())
                .getConstructor(String.class, String.class)
                .newInstance(uri, "released");
        built = new Client(uri, "built");
        assertThat(released).isNotInstanceOf(Client.class);
    }

    @AfterEach
    void close() throws IOException {
        Stream.of(released, built).forEach(side -> await(side.close()));
        version.close();
    }

    private static URL[] paths() throws MalformedURLException {
        List<URL> paths = new ArrayList<>();
        for (String path : System.getProperty("reactive-lock.released", "").split(File.pathSeparator, -1)) {
            if (!path.isEmpty()) {
                paths.add(Path.of(path).toUri().toURL());
            }
        }
        if (paths.isEmpty()) {
            Stream.of(PARTS).map(RollingUpgradeTest::place).forEach(paths::add);
        }
        paths.add(place(RollingUpgradeTest.class)); // behind the jars: the client of this test
        return paths.toArray(URL[]::new);
    }

    private static URL place(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /** Which of the two comes first. */
    private enum First {
        RELEASED,
        BUILT
    }

    private Side first(First first) {
        return first == First.RELEASED ? released : built;
    }

    private Side second(First first) {
        return first == First.RELEASED ? built : released;
    }

    private static <T> T await(Mono<T> answer) {
        return answer.block(RedisFixture.PATIENCE);
    }

    private static void untilQueued(String key) {
        Range<Double> waits = Range.from(Range.Boundary.excluding(0.0), Range.Boundary.unbounded());
        RedisFixture.eventually("it waits", () -> fixture.redis.zcount("{reactivelock:" + key + "}:queue", waits) > 0);
    }

    @ParameterizedTest
    @EnumSource
    void aLockGoesFromOneVersionToTheOther(First order) {
        Side before = first(order);
        Side after = second(order);
        long token = await(before.acquire("a"));
        assertThat(await(after.tryAcquire("a"))).isNull();
        CompletableFuture<Long> next = after.acquire("a").toFuture();
        untilQueued("a");
        assertThat(next).isNotDone();

        await(before.release(token));

        assertThat(await(Mono.fromFuture(next))).isGreaterThan(token);
        assertThat(await(before.tryAcquire("a"))).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void readersOfBothVersionsAreInTogetherAndAWriterWaitsForBoth(First order) {
        Side before = first(order);
        Side after = second(order);
        long reader = await(before.read("a"));
        long other = await(after.read("a"));
        CompletableFuture<Long> writer = before.acquire("a").toFuture();
        untilQueued("a");

        await(before.release(reader));
        assertThat(await(before.tryAcquire("a"))).isNull();
        assertThat(after.holds(other)).isTrue();
        assertThat(writer).isNotDone();
        await(after.release(other));

        assertThat(await(Mono.fromFuture(writer))).isGreaterThan(other);
    }

    @ParameterizedTest
    @EnumSource
    void anOperatorOfOneVersionSeesAndEndsAHoldOfTheOther(First order) {
        Side before = first(order);
        Side after = second(order);
        long token = await(before.acquire("a"));
        assertThat(await(after.owner("a"))).isEqualTo(order == First.RELEASED ? "released" : "built");

        assertThat(await(after.forceRelease("a", token))).isTrue();

        RedisFixture.eventually("it is told", () -> !before.holds(token));
        assertThat(await(after.tryAcquire("a"))).isGreaterThan(token);
    }
}
