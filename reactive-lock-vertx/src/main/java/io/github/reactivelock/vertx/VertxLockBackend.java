package io.github.reactivelock.vertx;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.github.reactivelock.redis.NeededCommands;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.redis.RedisLockBackend;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Redis locks over the Vert.x Redis client; the protocol and its guarantees are those of {@link RedisLockBackend}.
 * Nothing is opened before its first use, which takes one connection for commands and, once a flow waits or watches, a
 * second for messages. Both live on an event loop of the given {@link Vertx} and no thread is started.
 *
 * <p>Both reconnect after an interruption, with pauses of up to half a second. Commands given meanwhile wait for
 * ten seconds and then fail; a refusal that trying again does not change fails them at once. {@link
 * RedisOptions} says what Sentinel, replication, a cluster and TLS need.
 */
public final class VertxLockBackend extends RedisLockBackend {

    private static final long LONGEST_HANDSHAKE = Link.LONGEST_OPENING / 2;

    /** One for commands and one for messages. */
    private static final int KEPT = 2;

    private VertxLockBackend(VertxRedisConnection connection, RedisBackendOptions options) {
        super(connection, options);
    }

    /**
     * A backend with connections of its own, closed with it.
     *
     * @param vertx where they live; not closed
     * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS with the JVM's
     *     certificates and the host's name checked, or any other form that the Vert.x client knows
     * @return a backend that has not connected yet
     */
    public static VertxLockBackend connect(Vertx vertx, String uri) {
        return connect(vertx, uri, RedisBackendOptions.defaults());
    }

    /**
     * A backend with connections of its own, closed with it.
     *
     * @param vertx where they live; not closed
     * @param uri as in {@link #connect(Vertx, String)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static VertxLockBackend connect(Vertx vertx, String uri, RedisBackendOptions options) {
        VertxVersion.check();
        return connect(vertx, defaultsFor(uri), options);
    }

    private static RedisOptions defaultsFor(String uri) {
        NetClientOptions net = new NetClientOptions().setTcpKeepAlive(true).setTcpNoDelay(true);
        if (Endpoint.of(uri).isEncrypted()) {
            net.setHostnameVerificationAlgorithm("HTTPS");
        }
        return new RedisOptions().setConnectionString(uri).setNetClientOptions(net);
    }

    private static RedisOptions copyOf(RedisOptions redis) {
        NetClientOptions net = new NetClientOptions(redis.getNetClientOptions());
        long handshake = net.getSslHandshakeTimeoutUnit().toMillis(net.getSslHandshakeTimeout());
        // Ends before the limit of the whole opening, which would report silence.
        net.setSslHandshakeTimeout(Math.min(handshake, LONGEST_HANDSHAKE)).setSslHandshakeTimeoutUnit(MILLISECONDS);
        return new RedisOptions(redis).setNetClientOptions(net);
    }

    /**
     * A backend with connections of its own, closed with it.
     *
     * @param vertx where they live; not closed
     * @param redis how to connect, for a single server, Sentinel, replication or a cluster; copied
     * @return a backend that has not connected yet
     */
    public static VertxLockBackend connect(Vertx vertx, RedisOptions redis) {
        return connect(vertx, redis, RedisBackendOptions.defaults());
    }

    /**
     * A backend with connections of its own, closed with it.
     *
     * @param vertx where they live; not closed
     * @param redis as in {@link #connect(Vertx, RedisOptions)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static VertxLockBackend connect(Vertx vertx, RedisOptions redis, RedisBackendOptions options) {
        VertxVersion.check();
        RedisOptions copy = copyOf(redis);
        Endpoint endpoint = Endpoint.of(copy);
        Opener opener = new Opener(
                () -> Opening.ofOwnClient(vertx, copy, NeededCommands.channel(options)), endpoint.isCluster());
        return new VertxLockBackend(
                new VertxRedisConnection(
                        vertx,
                        endpoint,
                        copy.getMaxWaitingHandlers(),
                        opener,
                        endpoint.isCluster() ? oneByOne(vertx, copy, NeededCommands.channel(options)) : opener),
                options);
    }

    /**
     * Each server of a cluster passes on all messages, and of a connection to one of them it is known whether it is
     * there.
     */
    private static Opener oneByOne(Vertx vertx, RedisOptions cluster, String channel) {
        // Made here, because a copy of options blocks: it draws a name.
        List<RedisOptions> servers = cluster.getEndpoints().stream()
                .map(server -> new RedisOptions(cluster)
                        .setType(RedisClientType.STANDALONE)
                        .setEndpoints(List.of(server)))
                .toList();
        AtomicInteger next = new AtomicInteger(ThreadLocalRandom.current().nextInt(servers.size()));
        return new Opener(
                () -> Opening.ofOwnClient(
                        vertx, servers.get(Math.floorMod(next.getAndIncrement(), servers.size())), channel),
                false);
    }

    /**
     * A backend over a client of the application. It takes two connections from the client's pool for as long as it is
     * open, so the pool has to be of three at least. Closing the backend gives them back and leaves the client open.
     *
     * @param vertx the one that the client was made with
     * @param client the application's client
     * @param redis the options that the client was made with, which tell the database
     * @return a backend that has not connected yet
     */
    public static VertxLockBackend using(Vertx vertx, Redis client, RedisOptions redis) {
        return using(vertx, client, redis, RedisBackendOptions.defaults());
    }

    /**
     * A backend over a client of the application, as {@link #using(Vertx, Redis, RedisOptions)}.
     *
     * @param vertx the one that the client was made with
     * @param client the application's client
     * @param redis the options that the client was made with, which tell the database and the size of the pool
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     * @throws IllegalArgumentException if the pool is of one or two connections
     */
    public static VertxLockBackend using(Vertx vertx, Redis client, RedisOptions redis, RedisBackendOptions options) {
        VertxVersion.check();
        if (redis.getMaxPoolSize() <= KEPT) {
            throw new IllegalArgumentException("a pool of " + redis.getMaxPoolSize() + " connections is too small for"
                    + " locks, which keep " + KEPT + " of them for as long as they are in use: give the client"
                    + " RedisOptions.setMaxPoolSize of " + (KEPT + 1) + " at least, or use VertxLockBackend.connect,"
                    + " which has connections of its own");
        }
        Endpoint endpoint = Endpoint.of(redis);
        Opener opener = new Opener(() -> Opening.from(client, NeededCommands.channel(options)), endpoint.isCluster());
        return new VertxLockBackend(
                new VertxRedisConnection(vertx, endpoint, redis.getMaxWaitingHandlers(), opener, opener), options);
    }
}
