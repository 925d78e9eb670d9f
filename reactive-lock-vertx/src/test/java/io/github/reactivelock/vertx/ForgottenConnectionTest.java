package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.claim;
import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.HashSlot;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;

/** As the class of that name in the Lettuce module, through the Vert.x client. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForgottenConnectionTest {

    private Fixture fixture;
    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeAll
    void start() {
        fixture = new Fixture();
    }

    @AfterEach
    void reset() throws Exception {
        fixture.reset();
        for (AutoCloseable each : opened) {
            each.close();
        }
        opened.clear();
    }

    @AfterAll
    void close() {
        fixture.close();
    }

    static Stream<Named<BiFunction<Fixture, RedisOptions, LockBackend>>> clients() {
        return Stream.of(
                Named.of("our own", (fixture, options) -> VertxLockBackend.connect(fixture.vertx, options)),
                Named.of(
                        "the application's",
                        (fixture, options) -> VertxLockBackend.using(
                                fixture.vertx, Redis.createClient(fixture.vertx, options), options)));
    }

    private TcpProxy proxy() {
        TcpProxy proxy = TcpProxy.to(fixture.server.port());
        opened.add(proxy);
        return proxy;
    }

    private LockBackend backend(BiFunction<Fixture, RedisOptions, LockBackend> client, TcpProxy proxy) {
        return fixture.keep(
                client.apply(fixture, new RedisOptions().setConnectionString("redis://127.0.0.1:" + proxy.port())));
    }

    private static void take(LockBackend backend, String key) {
        assertThat(get(backend.claim(claim(key)))).isInstanceOf(ClaimResult.Granted.class);
    }

    @ParameterizedTest
    @MethodSource("clients")
    void aQuestionIsAnsweredOverAnotherConnection(BiFunction<Fixture, RedisOptions, LockBackend> client) {
        TcpProxy proxy = proxy();
        LockBackend backend = backend(client, proxy);
        take(backend, "a");

        assertThat(proxy.forget()).isPositive();

        take(backend, "b");
    }

    @ParameterizedTest
    @MethodSource("clients")
    void anIdleConnectionForChannelsIsOpenedAnew(BiFunction<Fixture, RedisOptions, LockBackend> client) {
        TcpProxy proxy = proxy();
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        Disposable listening = backend(client, proxy).signals().subscribe(signals::add);
        eventually("it listens", () -> signals.size() == 1);

        assertThat(proxy.forget("SUBSCRIBE")).isEqualTo(1);

        eventually("it listens again", () -> signals.size() >= 2);
        listening.dispose();
    }

    /** Recalls come on it, so what a client keeps is given to no flow from then on. */
    @ParameterizedTest
    @MethodSource("clients")
    void noRecallIsHeardWhileTheConnectionForChannelsIsGone(BiFunction<Fixture, RedisOptions, LockBackend> client) {
        TcpProxy proxy = proxy();
        LockBackend backend = backend(client, proxy);
        Disposable listening = backend.signals().subscribe();
        take(backend, "a");
        eventually("it hears", backend::hearsRecalls);

        assertThat(proxy.cut("SUBSCRIBE")).isEqualTo(1);

        eventually("it knows", () -> !backend.hearsRecalls());
        assertThat(backend.isReady()).isTrue();
        take(backend, "b");
        proxy.mend();
        eventually("it hears again", backend::hearsRecalls);
        listening.dispose();
    }

    /**
     * What the client calls one connection is one to each server, and those that answer say nothing about the other.
     */
    @ParameterizedTest
    @MethodSource("clients")
    void oneServerOfAClusterIsHeardAgain(BiFunction<Fixture, RedisOptions, LockBackend> client) {
        RedisCluster cluster = RedisCluster.start(3, 0);
        opened.add(cluster);
        List<TcpProxy> proxies = behindProxies(cluster);
        RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
        proxies.forEach(proxy -> options.addConnectionString("redis://127.0.0.1:" + proxy.port()));
        LockBackend backend = fixture.keep(client.apply(fixture, options));
        List<String> keys = List.of(keyOf(cluster, 0, "a"), keyOf(cluster, 1, "a"), keyOf(cluster, 2, "a"));
        keys.forEach(key -> take(backend, key));

        assertThat(proxies.get(1).forget()).isPositive();

        take(backend, keyOf(cluster, 1, "b"));
        take(backend, keyOf(cluster, 2, "b"));
    }

    /** Which of the servers messages come from is up to the client. */
    @ParameterizedTest
    @MethodSource("clients")
    void channelsOfAClusterAreHeardAgain(BiFunction<Fixture, RedisOptions, LockBackend> client) {
        RedisCluster cluster = RedisCluster.start(3, 0);
        opened.add(cluster);
        List<TcpProxy> proxies = behindProxies(cluster);
        RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
        proxies.forEach(proxy -> options.addConnectionString("redis://127.0.0.1:" + proxy.port()));
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        LockBackend backend = fixture.keep(client.apply(fixture, options));
        Disposable listening = backend.signals().subscribe(signals::add);
        take(backend, "a");
        eventually("it listens", () -> signals.size() == 1);

        assertThat(proxies.stream().mapToInt(proxy -> proxy.forget("SUBSCRIBE")).sum())
                .isPositive();

        eventually("it listens again", () -> signals.size() >= 2);
        listening.dispose();
    }

    /** The connection stays, because no other can be opened. */
    @ParameterizedTest
    @MethodSource("clients")
    void noRecallIsHeardWhileASilentPartOfAClusterCannotBeReplaced(
            BiFunction<Fixture, RedisOptions, LockBackend> client) {
        RedisCluster cluster = RedisCluster.start(3, 0);
        opened.add(cluster);
        List<TcpProxy> proxies = behindProxies(cluster);
        RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
        proxies.forEach(proxy -> options.addConnectionString("redis://127.0.0.1:" + proxy.port()));
        LockBackend backend = fixture.keep(client.apply(fixture, options));
        Disposable listening = backend.signals().subscribe();
        take(backend, "a");
        eventually("it hears", backend::hearsRecalls);

        proxies.forEach(proxy -> proxy.cut("what is said on none"));
        assertThat(proxies.stream().mapToInt(proxy -> proxy.forget("SUBSCRIBE")).sum())
                .isPositive();

        eventually("it knows", () -> !backend.hearsRecalls());
        take(backend, "b");
        assertThat(backend.hearsRecalls()).isFalse();
        proxies.forEach(TcpProxy::mend);
        eventually("it hears again", backend::hearsRecalls);
        listening.dispose();
    }

    private static String keyOf(RedisCluster cluster, int node, String prefix) {
        RedisServer wanted = cluster.nodes().get(node);
        return IntStream.range(0, 10_000)
                .mapToObj(i -> prefix + i)
                .filter(key -> cluster.primary(HashSlot.of("{reactivelock:" + key + "}"))
                                .port()
                        == wanted.port())
                .findFirst()
                .orElseThrow();
    }

    /** The servers tell clients where they are, and that is where the proxies are. */
    private List<TcpProxy> behindProxies(RedisCluster cluster) {
        List<TcpProxy> proxies =
                cluster.nodes().stream().map(node -> TcpProxy.to(node.port())).toList();
        opened.addAll(proxies);
        for (int i = 0; i < proxies.size(); i++) {
            RedisServer node = cluster.nodes().get(i);
            node.command("CONFIG", "SET", "cluster-announce-bus-port", Integer.toString(node.port() + 10_000));
            node.command(
                    "CONFIG",
                    "SET",
                    "cluster-announce-port",
                    Integer.toString(proxies.get(i).port()));
        }
        cluster.nodes()
                .forEach(node -> eventually("all are known by their proxies", () -> {
                    String slots = String.valueOf(node.command("CLUSTER", "SLOTS"));
                    return proxies.stream().allMatch(proxy -> slots.contains(Integer.toString(proxy.port())));
                }));
        return proxies;
    }

    /** An error is an answer. */
    @Test
    void aUserWhoMayNotPingKeepsItsConnections() {
        fixture.server.command("ACL", "SETUSER", "mute", "on", "nopass", "~*", "&*", "+@all", "-ping");
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        LockBackend backend = fixture.keep(
                VertxLockBackend.connect(fixture.vertx, "redis://mute:x@127.0.0.1:" + fixture.server.port()));
        Disposable listening = backend.signals().subscribe(signals::add);
        take(backend, "a");

        // A server that a busy machine keeps from answering is left, and then it is asked six times more.
        Pause.until("it keeps its connection though it is asked six times", Duration.ofMinutes(3), () -> {
            int before = signals.size();
            long refused = refusedPings();
            eventually("it was asked six times", () -> refusedPings() - refused >= 6);
            return signals.size() == before;
        });
        listening.dispose();
    }

    private long refusedPings() {
        return String.valueOf(fixture.server.command("INFO", "commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_ping:"))
                .map(line -> line.replaceFirst(".*rejected_calls=(\\d+).*", "$1"))
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
    }
}
