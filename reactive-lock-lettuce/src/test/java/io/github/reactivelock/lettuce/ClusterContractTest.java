package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import reactor.core.publisher.Flux;

/** Three primaries, each with a replica. */
class ClusterContractTest extends LockBackendContract {

    private static RedisCluster cluster;
    private static RedisClusterClient client;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(3, 1);
        client = RedisClusterClient.create(cluster.uris().get(0));
    }

    @AfterAll
    static void stop() {
        client.shutdown();
        cluster.close();
    }

    /** Connected to every primary, since some cases allow their questions little time. */
    @Override
    protected LockBackend newBackend() {
        LockBackend backend = LettuceLockBackend.using(client);
        assertThat(Flux.range(0, 12)
                        .flatMap(i -> backend.inspect("warm up " + i))
                        .blockLast(Duration.ofSeconds(60)))
                .isNotNull();
        assertThat(backend.signals().blockFirst(Duration.ofSeconds(60))).isNotNull();
        return backend;
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
                    .filteredOn(name -> !name.endsWith("}:token"))
                    .isEmpty();
        }
    }
}
