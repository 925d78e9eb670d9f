package io.github.reactivelock.lettuce;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;

/** A Redis Cluster: scripts go to the primary of their slot, channels to any node, which hears the messages of
 * all, or as sharded channels to a node of their slot. */
record Cluster(RedisClusterClient client, String server, boolean hasOthers, boolean sharded)
        implements Source<StatefulRedisClusterConnection<String, String>> {

    private static final Duration LOADING = Duration.ofMillis(500);

    @Override
    public CompletionStage<StatefulRedisClusterConnection<String, String>> commands() {
        // Without this the client would ask for the topology by blocking.
        return client.refreshPartitionsAsync().thenCompose(known -> client.connectAsync(StringCodec.UTF8));
    }

    @Override
    public RedisClusterAsyncCommands<String, String> scripts(
            StatefulRedisClusterConnection<String, String> connection) {
        return connection.async();
    }

    @Override
    public CompletionStage<String> load(StatefulRedisClusterConnection<String, String> connection, String script) {
        // Goes to every node; one that is down must not hold up the first use of the others.
        return connection
                .async()
                .scriptLoad(script)
                .thenApply(digest -> digest)
                .toCompletableFuture()
                .completeOnTimeout("", LOADING.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> channels() {
        return client.refreshPartitionsAsync()
                .thenCompose(known -> client.connectPubSubAsync(StringCodec.UTF8))
                .thenApply(connection -> {
                    // What arrives on the connections to single nodes is for us as well.
                    connection.setNodeMessagePropagation(sharded);
                    return connection;
                });
    }

    @Override
    public CompletionStage<Void> subscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return sharded ? connection.async().ssubscribe(channel) : Source.super.subscribe(connection, channel);
    }

    @Override
    public CompletionStage<Void> unsubscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return sharded ? connection.async().sunsubscribe(channel) : Source.super.unsubscribe(connection, channel);
    }

    @Override
    public Flux<?> moves() {
        Flux<?> changes = client.getResources()
                .eventBus()
                .get()
                .ofType(ClusterTopologyChangedEvent.class)
                .filter(change -> !owners(change.before()).equals(owners(change.after())));
        return sharded ? Flux.merge(changes, reconnections()) : changes;
    }

    @Override
    public int database() {
        return 0;
    }

    @Override
    public int slot(String key) {
        return SlotHash.getSlot(key);
    }

    /** Lettuce asks again for all sharded channels of a node at once, which fails if they are of several slots. */
    private Flux<Object> reconnections() {
        return Flux.create(sink -> {
            RedisConnectionStateListener listener = new RedisConnectionStateListener() {
                @Override
                public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
                    if (connection instanceof StatefulRedisPubSubConnection) {
                        var unused = sink.next(connection);
                    }
                }
            };
            client.addListener(listener);
            var unused = sink.onDispose(() -> client.removeListener(listener));
        });
    }

    private static Map<String, List<Integer>> owners(List<RedisClusterNode> nodes) {
        return nodes.stream()
                .filter(node -> !node.getSlots().isEmpty())
                .collect(Collectors.toMap(RedisClusterNode::getNodeId, RedisClusterNode::getSlots, (a, b) -> a));
    }
}
