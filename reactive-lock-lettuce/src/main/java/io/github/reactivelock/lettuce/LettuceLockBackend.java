package io.github.reactivelock.lettuce;

import io.github.reactivelock.lettuce.ManagedClient.Manner;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.redis.RedisLockBackend;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Redis locks over Lettuce; the protocol and its guarantees are those of {@link RedisLockBackend}. Nothing is opened
 * before its first use, which takes one connection for commands and, once a flow waits or watches, a second for
 * messages. Both reconnect by themselves. Commands given meanwhile leave when the connection is back; by then their
 * callers may have given up.
 */
public final class LettuceLockBackend extends RedisLockBackend {

    private LettuceLockBackend(LettuceConnection<?> connection, RedisBackendOptions options) {
        super(connection, options);
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS, or any other form
     *     that Lettuce knows; its {@code timeout} parameter bounds how long connecting may take, 2 seconds if it has
     *     none
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connect(String uri) {
        return connect(uri, RedisBackendOptions.defaults());
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param uri as in {@link #connect(String)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connect(String uri, RedisBackendOptions options) {
        return connect(ManagedClient.parse(uri), SslOptions.create(), options);
    }

    /**
     * A backend with a client of its own, closed with it, for what a text cannot say: certificates to trust and to
     * show, credentials that change, the password of sentinels.
     *
     * @param uri the server or the sentinels; its timeout as in {@link #connect(String)}. Not changed
     * @param tls certificates, protocols and ciphers of a {@code uri} with TLS; how long a handshake may take is set
     *     here. Lettuce reads certificates given as files for each connection, on the connection's thread: a renewed
     *     one counts from the next connection on. Those of a {@code TrustManagerFactory} are read once
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connect(RedisURI uri, SslOptions tls, RedisBackendOptions options) {
        return new LettuceLockBackend(ManagedClient.ofServer(uri, Manner.of(tls)), options);
    }

    /**
     * A backend with a client of its own, closed with it, that makes connections as a client of the application does:
     * it finds and maps addresses, goes through proxies and speaks the protocol as that one. Threads, reconnection and
     * limits of time are its own.
     *
     * @param uri the server or the sentinels; its timeout as in {@link #connect(String)}. Not changed
     * @param like options of the application's client. Not changed
     * @param resources of the application's client: it is asked for addresses, and for what it adds to connections. Has
     *     to be open for as long as the backend is, and is not shut down by it; null for those of Lettuce
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connect(
            RedisURI uri, ClientOptions like, @Nullable ClientResources resources, RedisBackendOptions options) {
        return new LettuceLockBackend(ManagedClient.ofServer(uri, new Manner(like, resources)), options);
    }

    /**
     * A backend on a primary and its replicas without sentinels, with a client of its own, closed with it.
     *
     * @param uris all servers that may ever be the primary, in the form of {@link #connect(String)}
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectPrimary(List<String> uris) {
        return connectPrimary(uris, RedisBackendOptions.defaults());
    }

    /**
     * A backend on a primary and its replicas without sentinels, with a client of its own, closed with it. Each time it
     * opens a connection it asks every server for its role and uses the one that says that it is the primary. It
     * refuses two primaries until one of them is a replica again.
     *
     * @param uris as in {@link #connectPrimary(List)}; user, password and database are those of the first
     * @param options how locks are kept
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectPrimary(List<String> uris, RedisBackendOptions options) {
        return connectPrimary(ManagedClient.parse(uris), SslOptions.create(), options);
    }

    /**
     * A backend on a primary and its replicas without sentinels, as {@link #connectPrimary(List, RedisBackendOptions)},
     * for what a text cannot say.
     *
     * @param uris as in {@link #connectPrimary(List)}. Not changed
     * @param tls as in {@link #connect(RedisURI, SslOptions, RedisBackendOptions)}
     * @param options how locks are kept
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectPrimary(List<RedisURI> uris, SslOptions tls, RedisBackendOptions options) {
        return new LettuceLockBackend(ManagedClient.ofPrimary(uris, Manner.of(tls)), options);
    }

    /**
     * A backend on a primary and its replicas without sentinels, made as {@link #connect(RedisURI, ClientOptions,
     * ClientResources, RedisBackendOptions)}.
     *
     * @param uris as in {@link #connectPrimary(List)}. Not changed
     * @param like options of the application's client. Not changed
     * @param resources of the application's client, or null
     * @param options how locks are kept
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectPrimary(
            List<RedisURI> uris, ClientOptions like, @Nullable ClientResources resources, RedisBackendOptions options) {
        return new LettuceLockBackend(ManagedClient.ofPrimary(uris, new Manner(like, resources)), options);
    }

    /**
     * A backend on a Redis Cluster with a client of its own, closed with it.
     *
     * @param uris some of its nodes, in the form of {@link #connect(String)}; the others are found through them
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectCluster(List<String> uris) {
        return connectCluster(uris, RedisBackendOptions.defaults());
    }

    /**
     * A backend on a Redis Cluster with a client of its own, closed with it. It follows the cluster's slots: at once
     * when a node says that they moved or cannot be reached, and in any case every ten seconds.
     *
     * @param uris as in {@link #connectCluster(List)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectCluster(List<String> uris, RedisBackendOptions options) {
        return connectCluster(ManagedClient.parse(uris), SslOptions.create(), options);
    }

    /**
     * A backend on a Redis Cluster, as {@link #connectCluster(List, RedisBackendOptions)}, for what a text cannot say.
     *
     * @param uris as in {@link #connectCluster(List)}. Not changed
     * @param tls as in {@link #connect(RedisURI, SslOptions, RedisBackendOptions)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectCluster(List<RedisURI> uris, SslOptions tls, RedisBackendOptions options) {
        return new LettuceLockBackend(
                ManagedClient.ofCluster(uris, Manner.of(tls), options.hasShardedChannels()), options);
    }

    /**
     * A backend on a Redis Cluster, made as
     * {@link #connect(RedisURI, ClientOptions, ClientResources, RedisBackendOptions)}.
     *
     * @param uris as in {@link #connectCluster(List)}. Not changed
     * @param like options of the application's client; how often the cluster is looked at is not taken from it. Not
     *     changed
     * @param resources of the application's client, or null
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connectCluster(
            List<RedisURI> uris, ClientOptions like, @Nullable ClientResources resources, RedisBackendOptions options) {
        Manner manner = new Manner(like, resources);
        return new LettuceLockBackend(ManagedClient.ofCluster(uris, manner, options.hasShardedChannels()), options);
    }

    /**
     * A backend over a client of the application, with connections of its own. Closing the backend closes the
     * connections and leaves the client open. How fast they reconnect is up to the client's resources, and it must
     * reconnect by itself, as it does by default. Give its resources {@link #nettyCustomizer()}, or a command that is
     * under way when a connection is reset fails instead of being sent again.
     *
     * @param client the application's client
     * @param uri the server to connect to
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend using(RedisClient client, RedisURI uri) {
        return using(client, uri, RedisBackendOptions.defaults());
    }

    /**
     * A backend over a client of the application, as {@link #using(RedisClient, RedisURI)}.
     *
     * @param client the application's client
     * @param uri the server to connect to
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend using(RedisClient client, RedisURI uri, RedisBackendOptions options) {
        return new LettuceLockBackend(new LettuceConnection<>(OneServer.of(client, uri), Mono.empty()), options);
    }

    /**
     * A backend on a Redis Cluster over a client of the application, as {@link #using(RedisClient, RedisURI)}.
     *
     * @param client the application's client; how soon it learns of slots that moved is up to its options
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend using(RedisClusterClient client) {
        return using(client, RedisBackendOptions.defaults());
    }

    /**
     * A backend on a Redis Cluster over a client of the application, as {@link #using(RedisClusterClient)}.
     *
     * @param client the application's client
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend using(RedisClusterClient client, RedisBackendOptions options) {
        return new LettuceLockBackend(
                new LettuceConnection<>(
                        new Cluster(client, "cluster", () -> "", false, options.hasShardedChannels()), Mono.empty()),
                options);
    }

    /**
     * Lets a client of the application survive the reset of a connection as the backend's own clients do. The reset is
     * then like any other end of a connection, after which Lettuce sends commands without an answer again. Pass it to
     * {@code ClientResources.builder().nettyCustomizer(...)}. For commands of the application it changes one thing:
     * Lettuce also sends the first of those under way again, as it does with the others in any case. And it watches
     * every connection for channels of that client, those of the application too: one that is idle is asked with a
     * {@code PING}, and one on which nothing has arrived for two to three seconds though something was asked is ended,
     * so that Lettuce opens it anew and subscribes again. Connections of the backend are watched by the backend itself,
     * with this and without it.
     *
     * @return a customizer that may be shared by any number of clients
     */
    public static NettyCustomizer nettyCustomizer() {
        return ManagedClient.forClientsOfOthers();
    }
}
