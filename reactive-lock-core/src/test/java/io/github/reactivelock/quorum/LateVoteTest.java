package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** A claim that two of three nodes have granted, and whose question comes late to the third one. */
class LateVoteTest {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** So early that nodes which number from one take what is proposed. */
    private static final Instant TIME = Instant.parse("2020-01-01T00:00:00.001Z");

    private long nanos;
    private final List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(() -> nanos))
            .limit(3)
            .toList();
    private final Sinks.Empty<Void> arrival = Sinks.empty();
    private final QuorumLockBackend quorum = quorum(stores.get(0), stores.get(1), votingLate(stores.get(2)));
    private final QuorumLockBackend operator =
            quorum(stores.stream().map(InMemoryLockBackend::connect).toArray(QuorumNode[]::new));
    private final Claim owner = claim("owner");

    private QuorumLockBackend quorum(QuorumNode... nodes) {
        return QuorumLockBackend.of(
                new Surroundings(VirtualTimeScheduler.create(), () -> nanos, () -> TIME, (from, to) -> from), nodes);
    }

    private QuorumNode votingLate(QuorumNode node) {
        return (QuorumNode) Proxy.newProxyInstance(
                QuorumNode.class.getClassLoader(), new Class<?>[] {QuorumNode.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(node, arguments);
                    return method.getName().equals("vote") ? arrival.asMono().then((Mono<?>) answer) : answer;
                });
    }

    private static Claim claim(String id) {
        return new Claim("k", id, id, LEASE, Claim.Mode.QUEUE);
    }

    private long granted(QuorumLockBackend by, Claim claim) {
        ClaimResult answer = by.claim(claim).blockOptional(LIMIT).orElseThrow();
        assertThat(answer).isInstanceOf(ClaimResult.Granted.class);
        return ((ClaimResult.Granted) answer).fencingToken();
    }

    private void allHaveBeenUpForLong() {
        nanos += Duration.ofDays(1).toNanos();
    }

    /** The vote that comes then would have the token of the grant that is over. */
    @Test
    void aForcedReleaseThatOvertookAVoteEndsNothingWhenItIsSaidAgain() {
        allHaveBeenUpForLong();
        long token = granted(quorum, owner);
        assertThat(operator.forceRelease("k", token).block(LIMIT)).isTrue();

        arrival.tryEmitEmpty().orThrow();

        assertThat(stores.get(2).inspect("k").block(LIMIT))
                .isNotNull()
                .satisfies(info -> assertThat(info.held()).isPresent());
        Claim successor = claim("successor");
        assertThat(granted(operator, successor)).isGreaterThan(token);
        assertThat(operator.forceRelease("k", token).block(LIMIT)).isFalse();
        assertThat(operator.renew(List.of(successor))
                        .blockOptional(LIMIT)
                        .orElseThrow()
                        .renewed())
                .containsExactly("successor");
    }
}
