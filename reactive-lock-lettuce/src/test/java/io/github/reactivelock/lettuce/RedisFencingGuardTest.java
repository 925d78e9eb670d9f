package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.redis.RedisFencingGuard;
import io.github.reactivelock.state.StaleTokenException;
import io.github.reactivelock.testkit.GuardContract;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisFencingGuardTest extends GuardContract {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @RegisterExtension
    static final RedisFixture redis = new RedisFixture();

    private LettuceLockBackend backend;
    private RedisFencingGuard guard;

    @BeforeAll
    void start() {
        backend = LettuceLockBackend.connect(redis.server.uri());
        guard = backend.fencingGuard();
    }

    @AfterAll
    void stop() {
        backend.close().block(LIMIT);
    }

    @Override
    protected Mono<Void> write(String key, long fencingToken) {
        return guard.write(key, fencingToken, "SET", "written").then();
    }

    @Override
    protected Mono<Void> writeShared(String key, long fencingToken) {
        return guard.writeShared(key, fencingToken, "SET", "written").then();
    }

    @Test
    void aHolderWhoseLeaseEndedIsRefusedAndChangesNothing() {
        LockClient lock = RedisFixture.client(LettuceLockBackend.connect(redis.server.uri()));
        LockOptions brief =
                LockOptions.defaults().withLease(Duration.ofSeconds(3)).withoutRenewal();
        LockHandle stale = lock.with(brief).acquire("account").block(LIMIT);
        LockHandle next = lock.acquire("account").block(LIMIT);
        assertThat(guard.write("account", next.fencingToken(), "SET", "new").block(LIMIT))
                .isEqualTo("OK");

        assertThatThrownBy(() -> guard.write("account", stale.fencingToken(), "SET", "old")
                        .block(LIMIT))
                .isInstanceOfSatisfying(StaleTokenException.class, refused -> {
                    assertThat(refused.fencingToken()).isEqualTo(stale.fencingToken());
                    assertThat(refused.newestSeen()).isEqualTo(next.fencingToken());
                })
                .hasMessageContaining("account");

        assertThat(redis.redis.get("account")).isEqualTo("new");
        lock.close().block(LIMIT);
    }

    @Test
    void oneHoldMayWriteAgainAndWithAnyCommand() {
        assertThat(guard.write("counter", 10, "INCRBY", "5").block(LIMIT)).isEqualTo("5");
        assertThat(guard.write("counter", 10, "INCRBY", "5").block(LIMIT)).isEqualTo("10");
        assertThat(guard.write("{user:1}:name", 7, "HSET", "first", "Ada").block(LIMIT))
                .isEqualTo("1");
    }

    @Test
    void tokensAreComparedAsNumbersOfSixtyFourBits() {
        long high = (1L << 60) + 1;
        assertThat(guard.write("wide", high, "SET", "new").block(LIMIT)).isEqualTo("OK");
        assertThat(guard.write("short", 100, "SET", "new").block(LIMIT)).isEqualTo("OK");

        assertThatThrownBy(() -> guard.write("wide", high - 1, "SET", "old").block(LIMIT))
                .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> guard.write("short", 99, "SET", "old").block(LIMIT))
                .isInstanceOf(StaleTokenException.class);
        assertThat(redis.redis.get("wide")).isEqualTo("new");
    }

    @Test
    void aKeyThatMayBeAnothersTokenIsRefused() {
        for (String key : List.of("{acc}:fence", "{acc}:fence:acc", "{a\n}:fence:\n")) {
            assertThatThrownBy(() -> guard.write(key, 1, "SET", "x"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(key);
        }
        assertThat(guard.write("acc:fence", 1, "SET", "x").block(LIMIT)).isEqualTo("OK");
    }

    @Test
    void aCommandThatRedisRefusesChangesNothing() {
        redis.redis.lpush("list", "x");

        assertThatThrownBy(() -> guard.write("list", 5, "INCRBY", "1").block(LIMIT))
                .hasMessageContaining("WRONGTYPE");

        assertThat(redis.redis.exists("{list}:fence")).isZero();
    }
}
