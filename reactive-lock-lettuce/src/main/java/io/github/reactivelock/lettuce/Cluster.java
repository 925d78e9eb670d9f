package io.github.reactivelock.lettuce;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;

/** A Redis Cluster: scripts go to the primary of their slot, channels to any node, which passes messages on to all. */
record Cluster(RedisClusterClient client, String server, boolean hasOthers)
        implements Source<StatefulRedisClusterConnection<String, String>> {

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
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> channels() {
        return client.refreshPartitionsAsync()
                .thenCompose(known -> client.connectPubSubAsync(StringCodec.UTF8))
                .thenApply(connection -> connection);
    }

    @Override
    public Flux<?> moves() {
        return client.getResources()
                .eventBus()
                .get()
                .ofType(ClusterTopologyChangedEvent.class)
                .filter(change -> !owners(change.before()).equals(owners(change.after())));
    }

    @Override
    public int database() {
        return 0;
    }

    @Override
    public int slot(String key) {
        return SlotHash.getSlot(key);
    }

    private static Map<String, List<Integer>> owners(List<RedisClusterNode> nodes) {
        return nodes.stream()
                .filter(node -> !node.getSlots().isEmpty())
                .collect(Collectors.toMap(RedisClusterNode::getNodeId, RedisClusterNode::getSlots, (a, b) -> a));
    }
}
