package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.state.LockInfo;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
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

    /** What begins may take its time; who asks again and again never leaves so many round trips out. */
    private static void assertQuiet() {
        RedisFixture.eventually("nothing is said", () -> saidDuring(200).isEmpty());
    }

    private static Set<String> saidDuring(int roundTrips) {
        fixture.redis.configResetstat();
        for (int i = 0; i < roundTrips; i++) {
            fixture.redis.ping();
        }
        Set<String> said = new HashSet<>(fixture.calls().keySet());
        said.removeAll(Set.of("config|resetstat", "ping"));
        return said;
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
