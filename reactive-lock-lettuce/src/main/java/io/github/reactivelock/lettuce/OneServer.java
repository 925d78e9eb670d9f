package io.github.reactivelock.lettuce;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Flux;

/** A server, or the primary of several; the client looks for it at every connection. */
record OneServer(RedisClient client, RedisURI uri, String server, boolean isWatched)
        implements ConnectionSource<StatefulRedisConnection<String, String>> {

    @Override
    public CompletionStage<StatefulRedisConnection<String, String>> commands() {
        return client.connectAsync(Utf8.CODEC, uri);
    }

    @Override
    public RedisClusterAsyncCommands<String, String> scripts(StatefulRedisConnection<String, String> connection) {
        return connection.async();
    }

    @Override
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> channels() {
        return client.connectPubSubAsync(Utf8.CODEC, uri);
    }

    @Override
    public List<CompletionStage<? extends StatefulRedisConnection<String, String>>> servers(
            StatefulRedisConnection<String, String> connection) {
        return List.of(CompletableFuture.completedStage(connection));
    }

    @Override
    public Flux<?> moves() {
        return Flux.never();
    }

    static OneServer of(RedisClient client, RedisURI uri) {
        return new OneServer(client, uri, name(uri), false);
    }

    static String name(RedisURI uri) {
        if (uri.getSentinelMasterId() != null) {
            return "sentinel primary " + uri.getSentinelMasterId() + " of " + PrimaryClient.hosts(uri.getSentinels());
        }
        return uri.getSocket() != null ? uri.getSocket() : uri.getHost() + ":" + uri.getPort();
    }

    /** The client may be the application's, which has other connections too. */
    @Override
    public Flux<Throwable> refusals(StatefulRedisConnection<String, String> connection) {
        return client.getResources()
                .eventBus()
                .get()
                .ofType(ReconnectFailedEvent.class)
                .filter(failed -> isWatched || isOurs(failed.remoteAddress()))
                .map(ReconnectFailedEvent::getCause);
    }

    private boolean isOurs(SocketAddress server) {
        return server instanceof InetSocketAddress address
                && address.getPort() == uri.getPort()
                && address.getHostString().equals(uri.getHost());
    }

    @Override
    public String user() {
        return KnownUser.of(uri);
    }

    @Override
    public int database() {
        return uri.getDatabase();
    }

    @Override
    public int slot(String key) {
        return 0;
    }
}
