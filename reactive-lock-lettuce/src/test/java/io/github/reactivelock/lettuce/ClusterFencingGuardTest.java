package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.HashSlot;
import io.github.reactivelock.testkit.GuardContract;
import io.github.reactivelock.testkit.OddKeys;
import io.github.reactivelock.testservers.RedisCluster;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A key and what remembers its token have to share a slot. */
class ClusterFencingGuardTest extends GuardContract {

    private static RedisCluster cluster;
    private static LettuceLockBackend backend;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(3, 0);
        backend = LettuceLockBackend.connectCluster(cluster.uris());
    }

    @AfterAll
    static void stop() {
        backend.close().block(Duration.ofSeconds(60));
        cluster.close();
    }

    @Override
    protected Mono<Void> write(String key, long fencingToken) {
        return backend.fencingGuard().write(key, fencingToken, "SET", "written").then();
    }

    @Override
    protected Mono<Void> writeShared(String key, long fencingToken) {
        return backend.fencingGuard()
                .writeShared(key, fencingToken, "SET", "written")
                .then();
    }

    @Test
    void theSlotOfAKeyIsTheOneThatTheDriverFinds() {
        for (String key : OddKeys.make((before, after) -> before + "order:42" + after)) {
            assertThat(HashSlot.of(key)).as(key).isEqualTo(SlotHash.getSlot(key));
        }
    }
}
