package io.github.reactivelock.lettuce;

import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
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
final class OneServer implements ConnectionSource<StatefulRedisConnection<String, String>> {

    private final RedisClient client;
    private final RedisURI uri;
    private final String name;
    private final boolean isWatched;
    /** Where the connection leads or led, if that is looked for. */
    private volatile String found = "";

    OneServer(RedisClient client, RedisURI uri, String name, boolean isWatched) {
        this.client = client;
        this.uri = uri;
        this.name = name;
        this.isWatched = isWatched;
    }

    @Override
    public boolean isWatched() {
        return isWatched;
    }

    /** Where a primary is looked for, with the server that was found last. */
    @Override
    public String server() {
        return name + found;
    }

    @Override
    public CompletionStage<StatefulRedisConnection<String, String>> commands() {
        ConnectionFuture<StatefulRedisConnection<String, String>> opening = client.connectAsync(Utf8.CODEC, uri);
        if (uri.getSentinelMasterId() == null && !(client instanceof PrimaryClient)) {
            return opening;
        }
        return opening.thenApply(connection -> {
            found(opening.getRemoteAddress());
            connection.addListener(new RedisConnectionStateListener() {
                @Override
                public void onRedisConnected(RedisChannelHandler<?, ?> again, SocketAddress address) {
                    found(address);
                }
            });
            return connection;
        });
    }

    private void found(SocketAddress address) {
        if (address instanceof InetSocketAddress known) {
            found = ", last found at " + known.getHostString() + ":" + known.getPort();
        }
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
