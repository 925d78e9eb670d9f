package io.github.reactivelock.faults;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Three shards without replicas, which never take one another for dead here. */
final class ClusterStore extends Store {

    private final RedisCluster cluster = RedisCluster.start(3, 0, "--cluster-node-timeout", "60000");
    private final List<AutoCloseable> lent = new ArrayList<>();

    @Override
    List<Integer> ports() {
        return cluster.nodes().stream().map(RedisServer::port).toList();
    }

    @Override
    String address(List<Integer> ports) {
        return "cluster:"
                + ports.stream().map(port -> "redis://127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    /** The nodes tell a client where they are, so that its way to them has to begin where it looks up addresses. */
    @Override
    LockBackend backend(Way way) {
        List<Integer> ports = ports();
        ClientResources resources = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .nettyCustomizer(LettuceLockBackend.nettyCustomizer())
                .socketAddressResolver(MappingSocketAddressResolver.create(DnsResolvers.UNRESOLVED, node -> {
                    int index = ports.indexOf(node.getPort());
                    return index < 0
                            ? node
                            : HostAndPort.of("127.0.0.1", way.ports().get(index));
                }))
                .build();
        RedisClusterClient client = RedisClusterClient.create(resources, RedisURI.create("127.0.0.1", ports.get(0)));
        lent.add(() -> {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
            var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
        });
        return LettuceLockBackend.using(client);
    }

    @Override
    void pause() {
        cluster.nodes().forEach(RedisServer::pause);
    }

    @Override
    void resume() {
        cluster.nodes().forEach(RedisServer::resume);
    }

    @Override
    void forget(String key) {
        String name = "{reactivelock:" + key + "}";
        cluster.primary(cluster.slot(name)).command("DEL", name);
    }

    @Override
    List<String> claims() {
        return cluster.nodes().stream()
                .flatMap(node -> Leftovers.keys(node, Duration.ZERO).stream())
                .toList();
    }

    @Override
    void breakPushes(Way unused) {
        cluster.nodes().forEach(node -> node.command("CLIENT", "KILL", "TYPE", "pubsub"));
    }

    @Override
    void forgetPushes(Way waiter) {
        waiter.forget("SUBSCRIBE");
    }

    @Override
    public void close() {
        super.close();
        for (AutoCloseable client : lent) {
            try {
                client.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        cluster.close();
    }
}
