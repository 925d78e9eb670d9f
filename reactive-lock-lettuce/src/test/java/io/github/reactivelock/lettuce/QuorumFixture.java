package io.github.reactivelock.lettuce;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Five servers that count (they have been up for the longest lease), and clients of them, through proxies if wanted.
 */
final class QuorumFixture implements AutoCloseable {

    static final Duration LONGEST_LEASE = Duration.ofSeconds(3);
    static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration NODE_TIMEOUT = Duration.ofMillis(750);
    private static final Duration PATIENT_LEASE = Duration.ofSeconds(12);

    final List<RedisServer> servers =
            Stream.generate(RedisServer::start).limit(5).toList();
    private final ClientResources resources = ClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(Delay.fullJitter(Duration.ofMillis(10), Duration.ofMillis(500), 10, TimeUnit.MILLISECONDS))
            .build();
    private final RedisClient shared = RedisClient.create(resources);
    private final List<LockClient> clients = new ArrayList<>();
    private final List<TcpProxy> proxies = new ArrayList<>();

    QuorumFixture() {
        shared.setOptions(ClientOptions.builder()
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                .build());
    }

    /** A client that is connected already, so that what a test breaks is not the connecting. */
    LockClient client(String name, LockOptions options) {
        return client(name, options, node -> servers.get(node).port(), LONGEST_LEASE, NODE_TIMEOUT);
    }

    LockClient client(String name, LockOptions options, List<TcpProxy> through) {
        return client(name, options, node -> through.get(node).port(), LONGEST_LEASE, NODE_TIMEOUT);
    }

    /** With a lease that bears a pause of some seconds, for which the nodes have to be up for longer. */
    LockClient patientClient(String name, List<TcpProxy> through) {
        awaitUptime(PATIENT_LEASE);
        LockOptions options = LockOptions.defaults().withLease(PATIENT_LEASE);
        return client(name, options, node -> through.get(node).port(), PATIENT_LEASE, PATIENT_LEASE.dividedBy(4));
    }

    private LockClient client(
            String name, LockOptions options, IntUnaryOperator port, Duration longestLease, Duration nodeTimeout) {
        QuorumNode[] nodes = IntStream.range(0, 5)
                .mapToObj(node -> LettuceLockBackend.using(shared, RedisURI.create("127.0.0.1", port.applyAsInt(node))))
                .toArray(QuorumNode[]::new);
        LockClient client = LockClient.builder(QuorumLockBackend.of(nodes)
                        .withLongestLease(longestLease)
                        .withNodeTimeout(nodeTimeout))
                .commandTimeout(nodeTimeout.multipliedBy(3))
                .name(name)
                .options(options)
                .build();
        clients.add(client);
        patiently(client.withLock("warm-up of " + name, Mono.just(1)));
        return client;
    }

    /** The value, though nodes may be slower than a claim bears where many tests run at once. */
    @RedisFixture.CanIgnoreReturnValue
    static <T> T patiently(Mono<T> question) {
        return question.retryWhen(
                        Retry.fixedDelay(20, Duration.ofMillis(100)).filter(LockUnavailableException.class::isInstance))
                .block(LIMIT);
    }

    /** A way to each of the five that can be broken. */
    List<TcpProxy> proxies() {
        List<TcpProxy> five =
                servers.stream().map(server -> TcpProxy.to(server.port())).toList();
        proxies.addAll(five);
        return five;
    }

    /** Ends what a test began, and repairs what it broke. */
    void reset() {
        clients.forEach(client -> client.close().block(LIMIT));
        clients.clear();
        proxies.forEach(TcpProxy::close);
        proxies.clear();
        for (RedisServer server : servers) {
            if (!server.isRunning()) {
                server.restart();
            }
            server.command("FLUSHALL");
        }
        awaitUptime(LONGEST_LEASE);
    }

    private void awaitUptime(Duration longestLease) {
        RedisFixture.eventually(
                "all count", () -> servers.stream().allMatch(server -> uptime(server) > longestLease.toSeconds()));
    }

    static long uptime(RedisServer server) {
        return String.valueOf(server.command("INFO", "server"))
                .lines()
                .filter(line -> line.startsWith("uptime_in_seconds:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .findFirst()
                .orElseThrow();
    }

    /** Whether a server shows an owner of the lock. */
    static boolean isOwned(RedisServer server, String key) {
        return Long.valueOf(1).equals(server.command("EXISTS", "{reactivelock:" + key + "}"));
    }

    /** Whether a server ever granted the lock; it remembers the token. */
    static boolean hasGranted(RedisServer server, String key) {
        return Long.valueOf(1).equals(server.command("EXISTS", "{reactivelock:" + key + "}:token"));
    }

    @Override
    public void close() {
        clients.forEach(client -> client.close().block(LIMIT));
        proxies.forEach(TcpProxy::close);
        shared.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
        servers.forEach(RedisServer::close);
    }
}
