package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.PATIENCE;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.redis.RedisConnection;
import io.github.reactivelock.redis.RedisListener;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.event.command.CommandListener;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/**
 * What channels come on is opened anew, when the server says that it knows no subscriber and when nothing comes any
 * more.
 */
class ReopenedChannelTest {

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<TcpProxy> proxies = new ArrayList<>();
    private final AtomicInteger interruptions = new AtomicInteger();
    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    static Stream<Named<Function<ReopenedChannelTest, RedisConnection>>> connections() {
        return Stream.concat(
                Stream.of(
                        Named.of("a server", test -> ManagedClient.ofServer(test.server(), manner())),
                        Named.of("a server, through a client of the application", test -> test.usingServer(false)),
                        Named.of(
                                "a server, through a client of the application that is listened to",
                                test -> test.usingServer(true))),
                clusters());
    }

    /** In shards an owner listens to nothing. */
    static Stream<Named<Function<ReopenedChannelTest, RedisConnection>>> thoseThatHearRecalls() {
        return connections().filter(kind -> !kind.getName().contains("in shards"));
    }

    static Stream<Named<Function<ReopenedChannelTest, RedisConnection>>> clusters() {
        return Stream.of(
                Named.of("a cluster", test -> ManagedClient.ofCluster(test.cluster(), manner(), false)),
                Named.of("a cluster, in shards", test -> ManagedClient.ofCluster(test.cluster(), manner(), true)),
                Named.of("a cluster, through a client of the application", test -> test.usingCluster(false)),
                Named.of("a cluster, in shards, through a client of the application", test -> test.usingCluster(true)),
                Named.of(
                        "a cluster, in shards, through a client of the application that hides the ends of all",
                        test -> test.usingCluster(true, "heardOn", ReopenedChannelTest::hidden)));
    }

    private static ManagedClient.Manner manner() {
        return ManagedClient.Manner.of(SslOptions.create());
    }

    private RedisURI server() {
        RedisServer server = RedisServer.start();
        opened.add(server);
        return behindProxy(server);
    }

    private RedisURI behindProxy(RedisServer server) {
        TcpProxy proxy = TcpProxy.to(server.port());
        opened.add(proxy);
        proxies.add(proxy);
        return RedisURI.create("127.0.0.1", proxy.port());
    }

    private RedisConnection usingServer(boolean isListenedTo) {
        RedisURI uri = server();
        RedisClient client = RedisClient.create();
        opened.add(client::shutdown);
        if (isListenedTo) {
            client.addListener(new CommandListener() {});
        }
        return new LettuceConnection<>(OneServer.of(client, uri), Mono.empty());
    }

    private RedisConnection usingCluster(boolean sharded) {
        return usingCluster(sharded, "", result -> result);
    }

    /** @param changed what becomes of the results of one method of the {@link Cluster} */
    @SuppressWarnings("unchecked")
    private RedisConnection usingCluster(boolean sharded, String method, UnaryOperator<Object> changed) {
        RedisClusterClient client = RedisClusterClient.create(cluster());
        opened.add(client::shutdown);
        Cluster cluster = new Cluster(client, "cluster", () -> "", false, sharded);
        return new LettuceConnection<StatefulRedisClusterConnection<String, String>>(
                before(ConnectionSource.class, cluster, method, changed), Mono.empty());
    }

    private static Object hidden(Object connections) {
        return ((List<?>) connections)
                .stream()
                        .map(opening -> ((CompletionStage<?>) opening)
                                .thenApply(connection ->
                                        before(StatefulRedisConnection.class, connection, "", result -> result)))
                        .toList();
    }

    private static <T> T before(Class<T> type, Object target, String method, UnaryOperator<Object> changed) {
        return type.cast(Proxy.newProxyInstance(
                ReopenedChannelTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) -> {
                    Object result = called.invoke(target, arguments);
                    return called.getName().equals(method) ? changed.apply(result) : result;
                }));
    }

    /** The servers tell clients where they are, and that is where the proxies are. */
    private List<RedisURI> cluster() {
        RedisCluster cluster = RedisCluster.start(3, 0);
        opened.add(cluster);
        assumeTrue(
                !String.valueOf(cluster.nodes().get(0).command("INFO", "server"))
                        .contains("redis_version:6."),
                "sharded channels came with Redis 7");
        List<RedisURI> uris = cluster.nodes().stream().map(this::behindProxy).toList();
        for (int i = 0; i < uris.size(); i++) {
            RedisServer node = cluster.nodes().get(i);
            node.command("CONFIG", "SET", "cluster-announce-bus-port", Integer.toString(node.port() + 10_000));
            node.command(
                    "CONFIG",
                    "SET",
                    "cluster-announce-port",
                    Integer.toString(uris.get(i).getPort()));
        }
        cluster.nodes()
                .forEach(node -> eventually("all are known by their proxies", () -> {
                    String slots = String.valueOf(node.command("CLUSTER", "SLOTS"));
                    return proxies.stream().allMatch(proxy -> slots.contains(Integer.toString(proxy.port())));
                }));
        return uris;
    }

    /** Listens to two channels, and begins when both are confirmed. */
    private BlockingQueue<String> heard(RedisConnection connection) {
        BlockingQueue<String> confirmed = new LinkedBlockingQueue<>();
        opened.add(() -> connection.close().block(PATIENCE));
        connection.listen(new RedisListener() {
            @Override
            public String channel() {
                return "check";
            }

            @Override
            public void subscribed(String channel) {
                confirmed.add(channel);
            }

            @Override
            public void interrupted() {
                interruptions.incrementAndGet();
            }

            @Override
            public void message(String channel, String text) {}

            @Override
            public void failed(String channel, Throwable error) {
                failed.add(channel);
            }

            @Override
            public void replaced() {}

            @Override
            public void refused(Throwable error) {}
        });
        connection.subscribe("first");
        connection.subscribe("second");
        untilBoth(confirmed);
        return confirmed;
    }

    private static void untilBoth(BlockingQueue<String> confirmed) {
        List<String> missing = new ArrayList<>(List.of("first", "second"));
        while (!missing.isEmpty()) {
            missing.remove(next(confirmed));
        }
    }

    @ParameterizedTest
    @MethodSource("connections")
    void aChannelIsConfirmedAnewWhereTheServerSaysThatItHasNoSubscriber(
            Function<ReopenedChannelTest, RedisConnection> kind) {
        RedisConnection connection = kind.apply(this);
        BlockingQueue<String> confirmed = heard(connection);

        connection.reopen("second");

        assertThat(Stream.generate(() -> next(confirmed)).anyMatch("second"::equals))
                .isTrue();
    }

    /** Nothing closes it, and nothing comes. */
    @ParameterizedTest
    @MethodSource("clusters")
    void channelsOfAClusterAreConfirmedAnewWhenTheirConnectionIsForgotten(
            Function<ReopenedChannelTest, RedisConnection> kind) {
        BlockingQueue<String> confirmed = heard(kind.apply(this));

        assertThat(proxies.stream().mapToInt(proxy -> proxy.forget("SUBSCRIBE")).sum())
                .isPositive();

        untilBoth(confirmed);
    }

    /** Where its end is hidden it stays, because no other can be opened. */
    @ParameterizedTest
    @MethodSource("thoseThatHearRecalls")
    void aSilentConnectionThatCannotBeReplacedCountsAsInterrupted(Function<ReopenedChannelTest, RedisConnection> kind) {
        BlockingQueue<String> confirmed = heard(kind.apply(this));

        proxies.forEach(proxy -> proxy.cut("what is said on none"));
        assertThat(proxies.stream().mapToInt(proxy -> proxy.forget("SUBSCRIBE")).sum())
                .isPositive();

        eventually("it knows", () -> interruptions.get() > 0);
        proxies.forEach(TcpProxy::mend);
        untilBoth(confirmed);
    }

    /** It was a pause of the network, which both sides have outlived. No other connection can be opened to the end. */
    @Test
    void aSilentConnectionThatIsHeardAgainIsConfirmedAgain() {
        BlockingQueue<String> confirmed = heard(usingCluster(false));

        proxies.forEach(proxy -> {
            proxy.cut("what is said on none");
            proxy.delay(Duration.ofSeconds(5));
        });

        eventually("it knows", () -> interruptions.get() > 0);
        proxies.forEach(proxy -> proxy.delay(Duration.ZERO));
        untilBoth(confirmed);
    }

    /** As where the client's queue of requests is full. */
    @Test
    void channelsThatASilentConnectionDoesNotTakeFail() {
        AtomicBoolean isFull = new AtomicBoolean();
        var unused = heard(usingCluster(
                false,
                "subscribe",
                result -> isFull.get() ? CompletableFuture.failedFuture(new RedisException("full")) : result));

        isFull.set(true);
        proxies.forEach(proxy -> proxy.cut("what is said on none"));
        assertThat(proxies.stream().mapToInt(proxy -> proxy.forget("SUBSCRIBE")).sum())
                .isPositive();

        eventually("all who listen know", () -> failed.equals(Set.of("first", "second")));
    }
}
