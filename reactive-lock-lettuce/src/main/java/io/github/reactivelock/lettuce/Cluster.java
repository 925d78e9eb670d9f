package io.github.reactivelock.lettuce;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * A Redis Cluster. Scripts go to the primary of their slot. Channels go to any node, which hears the messages of all
 * nodes; sharded channels go to a node of their slot.
 */
final class Cluster implements ConnectionSource<StatefulRedisClusterConnection<String, String>> {

    private final RedisClusterClient client;
    private final String server;
    private final Supplier<String> user;
    private final boolean isWatched;
    private final boolean sharded;
    private volatile @Nullable StatefulRedisClusterConnection<String, String> opened;
    private final AtomicReference<@Nullable CompletionStage<Void>> topology = new AtomicReference<>();

    Cluster(RedisClusterClient client, String server, Supplier<String> user, boolean isWatched, boolean sharded) {
        this.client = client;
        this.server = server;
        this.user = user;
        this.isWatched = isWatched;
        this.sharded = sharded;
    }

    boolean sharded() {
        return sharded;
    }

    @Override
    public String server() {
        return server;
    }

    /** As the driver has it, which sends the key's scripts there. */
    @Override
    public String server(String key) {
        StatefulRedisClusterConnection<String, String> connection = opened;
        RedisClusterNode node =
                connection == null ? null : connection.getPartitions().getPartitionBySlot(slot(key));
        return node == null ? server : PrimaryClient.hosts(List.of(node.getUri())) + " of " + server;
    }

    @Override
    public String user() {
        return user.get();
    }

    @Override
    public boolean isWatched() {
        return isWatched;
    }

    @Override
    public CompletionStage<StatefulRedisClusterConnection<String, String>> commands() {
        return topology().thenCompose(known -> client.connectAsync(Utf8.CODEC)).thenApply(connection -> {
            opened = connection;
            return connection;
        });
    }

    /** Named as the driver names them when it sends a command to the primary of a slot, so that these are the same. */
    @Override
    public List<CompletionStage<? extends StatefulRedisConnection<String, String>>> servers(
            StatefulRedisClusterConnection<String, String> connection) {
        List<CompletionStage<? extends StatefulRedisConnection<String, String>>> servers = new ArrayList<>();
        for (RedisClusterNode node : connection.getPartitions()) {
            if (node.is(RedisClusterNode.NodeFlag.UPSTREAM) && !node.getSlots().isEmpty()) {
                servers.add(connection.getConnectionAsync(
                        node.getUri().getHost(), node.getUri().getPort()));
            }
        }
        return servers;
    }

    /** The connection itself is one to any node, and sharded channels are heard on others, which are named as above. */
    @Override
    public List<CompletionStage<? extends StatefulRedisConnection<String, String>>> heardOn(
            StatefulRedisPubSubConnection<String, String> connection, Collection<String> channels) {
        if (!sharded || !(connection instanceof StatefulRedisClusterPubSubConnection<String, String> cluster)) {
            return ConnectionSource.super.heardOn(connection, channels);
        }
        Set<RedisURI> nodes = new HashSet<>();
        for (String channel : channels) {
            RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(slot(channel));
            if (node != null) {
                nodes.add(node.getUri());
            }
        }
        List<CompletionStage<? extends StatefulRedisConnection<String, String>>> servers = new ArrayList<>();
        nodes.forEach(node -> servers.add(cluster.getConnectionAsync(node.getHost(), node.getPort())));
        return servers;
    }

    @Override
    public RedisClusterAsyncCommands<String, String> scripts(
            StatefulRedisClusterConnection<String, String> connection) {
        return connection.async();
    }

    @Override
    public CompletionStage<?> load(StatefulRedisClusterConnection<String, String> connection, String script) {
        // Loading would take a connection to every node, the replicas included, and wait for those that are down.
        // Instead the first call at a node sends the script along.
        return CompletableFuture.completedFuture(script);
    }

    @Override
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> channels() {
        return topology()
                .thenCompose(known -> client.connectPubSubAsync(Utf8.CODEC))
                .thenApply(connection -> {
                    // Messages on the connections to single nodes are for us as well.
                    connection.setNodeMessagePropagation(sharded);
                    return connection;
                });
    }

    @Override
    public CompletionStage<Void> subscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return sharded ? connection.async().ssubscribe(channel) : ConnectionSource.super.subscribe(connection, channel);
    }

    @Override
    public CompletionStage<Void> unsubscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return sharded
                ? connection.async().sunsubscribe(channel)
                : ConnectionSource.super.unsubscribe(connection, channel);
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

    /** A cluster counts as connected. */
    @Override
    public Flux<Throwable> refusals(StatefulRedisClusterConnection<String, String> connection) {
        return Flux.never();
    }

    @Override
    public int database() {
        return 0;
    }

    @Override
    public int slot(String key) {
        return SlotHash.getSlot(key);
    }

    /** Read ahead, because the client would block to read it. */
    private CompletionStage<Void> topology() {
        CompletionStage<Void> known = topology.get();
        if (known == null || known.toCompletableFuture().isCompletedExceptionally()) {
            known = client.refreshPartitionsAsync();
            topology.set(known);
        }
        return known;
    }

    /**
     * Lettuce subscribes to all sharded channels of a node again in one command, which fails if they are in several
     * slots.
     */
    private Flux<Object> reconnections() {
        return Flux.create(sink -> {
            Set<Object> interrupted = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
            RedisConnectionStateListener listener = new RedisConnectionStateListener() {
                @Override
                public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                    if (connection instanceof StatefulRedisPubSubConnection) {
                        interrupted.add(connection);
                    }
                }

                @Override
                public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
                    if (interrupted.remove(connection)) {
                        sink.next(connection);
                    }
                }
            };
            client.addListener(listener);
            sink.onDispose(() -> client.removeListener(listener));
        });
    }

    private static Map<String, List<Integer>> owners(List<RedisClusterNode> nodes) {
        return nodes.stream()
                .filter(node -> !node.getSlots().isEmpty())
                .collect(Collectors.toMap(RedisClusterNode::getNodeId, RedisClusterNode::getSlots, (a, b) -> a));
    }
}
