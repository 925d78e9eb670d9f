package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testkit.RedisCluster;
import io.github.reactivelock.testkit.RedisServer;
import io.lettuce.core.cluster.RedisClusterClient;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Three primaries, each with a replica. */
class ClusterContractTest extends LockBackendContract {

    private static RedisCluster cluster;
    private static RedisClusterClient client;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(3, 1);
        client = RedisClusterClient.create(cluster.uris().get(0));
        LockBackend first = LettuceLockBackend.connectCluster(cluster.uris());
        assertThat(first.inspect("warm up").block()).isNotNull();
        first.close().block();
    }

    @AfterAll
    static void stop() {
        client.shutdown();
        cluster.close();
    }

    @Override
    protected LockBackend newBackend() {
        return LettuceLockBackend.connectCluster(cluster.uris());
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(new Lent(
                LettuceLockBackend.using(client),
                () -> client.connect().sync().ping().equals("PONG")));
    }

    @Override
    protected void assertStoreIsClean() {
        for (RedisServer primary : cluster.nodes().subList(0, 3)) {
            List<?> left = (List<?>) primary.command("KEYS", "*");
            assertThat(left.stream().map(String::valueOf))
                    .filteredOn(name -> !name.endsWith("}:token") && !name.endsWith("}:watch"))
                    .isEmpty();
        }
    }
}
