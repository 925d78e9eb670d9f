package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Watching a lock that does not change costs nothing. */
class QuietWatchTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockClient client;

    @BeforeEach
    void fresh() {
        client = RedisFixture.client(fixture.backend());
    }

    @Test
    void anObserverOfAnElectionAsksNothingWhileItsLeaderStays() {
        LockHandle leader = Objects.requireNonNull(client.acquire("a").block(RedisFixture.PATIENCE));
        Queue<ElectionState> seen = new ConcurrentLinkedQueue<>();
        fixture.keep(LeaderElection.of(client, "a").observe().subscribe(seen::add));
        RedisFixture.eventually("it sees the leader", () -> seen.size() == 1);
        // Two watchers, the observer's own and that of the leader's end, have begun after two more round trips.
        for (int i = 0; i < 20; i++) {
            fixture.redis.ping();
        }
        fixture.redis.configResetstat();

        for (int i = 0; i < 200; i++) {
            fixture.redis.ping();
        }

        assertThat(fixture.calls()).doesNotContainKeys("evalsha", "subscribe");
        leader.release().block(RedisFixture.PATIENCE);
    }
}
