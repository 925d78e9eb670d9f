package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.state.LockInfo;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;

/** Watching a lock that does not change costs nothing. */
class QuietWatchTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockClient client;

    @BeforeEach
    void fresh() {
        client = RedisFixture.client(fixture.backend());
    }

    /** All that begins has begun after a few round trips; then nothing is said during many. */
    private static void assertQuiet() {
        ping(20);
        fixture.redis.configResetstat();

        ping(200);

        assertThat(fixture.calls()).containsOnlyKeys("config|resetstat", "ping");
    }

    private static void ping(int times) {
        for (int i = 0; i < times; i++) {
            fixture.redis.ping();
        }
    }

    @Test
    void anObserverOfAnElectionAsksNothingWhileItsLeaderStays() {
        LockHandle leader = Objects.requireNonNull(client.acquire("a").block(RedisFixture.PATIENCE));
        Queue<ElectionState> seen = new ConcurrentLinkedQueue<>();
        fixture.keep(LeaderElection.of(client, "a").observe().subscribe(seen::add));
        RedisFixture.eventually("it sees the leader", () -> seen.size() == 1);

        assertQuiet();
        leader.release().block(RedisFixture.PATIENCE);
    }

    @Test
    void candidatesAskNothingWhileOneOfThemLeads() {
        List<LeaderElection> candidates = Stream.generate(
                        () -> LeaderElection.of(RedisFixture.client(fixture.backend()), "a"))
                .limit(3)
                .toList();
        candidates.forEach(candidate ->
                fixture.keep(candidate.lead(term -> Flux.<Void>never()).subscribe()));
        RedisFixture.eventually(
                "one leads and two follow",
                () -> count(candidates, ElectionState.Leading.class) == 1
                        && count(candidates, ElectionState.Following.class) == 2);

        assertQuiet();
    }

    private static long count(List<LeaderElection> candidates, Class<? extends ElectionState> state) {
        return candidates.stream()
                .filter(candidate -> state.isInstance(candidate.state()))
                .count();
    }

    @Test
    void whoWaitsForALockOrForItsReleaseAsksNothing() {
        LockHandle held = Objects.requireNonNull(client.acquire("a").block(RedisFixture.PATIENCE));
        LockClient other = RedisFixture.client(fixture.backend());
        CompletableFuture<Void> released = other.awaitRelease("a").toFuture();
        CompletableFuture<LockHandle> next = other.acquire("a").toFuture();
        RedisFixture.eventually(
                "it waits",
                () -> other.inspect("a").block(RedisFixture.PATIENCE) instanceof LockInfo.Held info
                        && info.waiters() == 1);

        assertQuiet();
        held.release().block(RedisFixture.PATIENCE);
        assertThat(released).succeedsWithin(RedisFixture.PATIENCE);
        assertThat(next).succeedsWithin(RedisFixture.PATIENCE);
    }
}
