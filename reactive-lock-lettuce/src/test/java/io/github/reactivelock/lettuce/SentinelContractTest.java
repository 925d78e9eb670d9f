package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisSentinel;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A primary with two replicas and three sentinels; every grant and renewal waits for both replicas. */
class SentinelContractTest extends LockBackendContract {

    private static RedisSentinel set;

    @BeforeAll
    static void start() {
        set = RedisSentinel.start(2);
    }

    @AfterAll
    static void stop() {
        set.close();
    }

    /** Connected, since some cases allow their questions little time. */
    @Override
    protected LockBackend newBackend() {
        LockBackend backend = LettuceLockBackend.connect(
                set.uri(), RedisBackendOptions.defaults().withReplicas(2, Duration.ofSeconds(5)));
        assertThat(backend.inspect("warm up").block(Duration.ofSeconds(60))).isNotNull();
        return backend;
    }

    /** What is pushed counts only when the claim has asked again. */
    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PUSHED_GRANTS);
    }

    @Override
    protected void assertStoreIsClean() {
        List<?> left = (List<?>) set.primary().command("KEYS", "*");
        assertThat(left.stream().map(String::valueOf))
                .filteredOn(name -> !name.endsWith("}:token"))
                .isEmpty();
    }
}
