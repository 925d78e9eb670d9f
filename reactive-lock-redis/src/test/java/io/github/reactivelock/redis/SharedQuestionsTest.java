package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** What is asked for several flows carries nothing of the one that came first. */
class SharedQuestionsTest {

    private static final String HOOK = "reactivelock.redis.carried";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Claim claim = new Claim("k", "id.0", "owner", Duration.ofSeconds(1), Claim.Mode.QUEUE);
    private final ThreadLocal<String> user = new ThreadLocal<>();
    private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

    @BeforeEach
    void aFlowOfAUserUnderAnAgent() {
        Hooks.onEachOperator(HOOK, Operators.lift((source, actual) -> actual));
        user.set("first");
    }

    @AfterEach
    void unhook() {
        Hooks.resetOnEachOperator(HOOK);
        user.remove();
    }

    private void look() {
        seen.add("asks as " + user.get());
    }

    @Test
    void replicasAreAskedInTheNameOfNoFlow() {
        RedisReplicas replicas = new RedisReplicas(
                claims -> Mono.fromSupplier(() -> {
                    look();
                    return new RenewalResult(Set.of("id.0"), Map.of());
                }),
                () -> "fake:1",
                Duration.ofSeconds(1),
                SilenceClock.ofThisProcess());

        replicas.renew(List.of(claim)).block(LIMIT);

        assertThat(seen).containsExactly("asks as null");
    }

    @Test
    void aChannelOfALockIsAskedForInTheNameOfNoFlow() throws InterruptedException {
        FakeConnection connection = new FakeConnection();
        connection.beforeAsking = this::look;
        ShardGrants grants = new ShardGrants(
                new RedisChannels(connection, "check", (channel, error) -> error),
                KeyLayout.ofShards("test"),
                new LateId());

        grants.asked(claim, Mono.just(new ClaimResult.Queued(Duration.ofSeconds(1))))
                .block(LIMIT);

        assertThat(seen.poll(60, TimeUnit.SECONDS)).isEqualTo("asks as null");
    }
}
