package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * A vote that is given back over a connection which then breaks. What had left is still in the network, and the node reads it
 * after what the client says over its next connection: {@code models/Quorum.tla: NewIds}.
 */
class StaleReleaseTest {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Instant TIME = Instant.parse("2020-01-01T00:00:00.001Z");

    private long nanos;
    private final List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(() -> nanos))
            .limit(3)
            .toList();

    /** A client, and the nodes that it cannot reach at the moment. */
    private final class Site {
        private final Set<Integer> cutOff = new HashSet<>();
        private final QuorumLockBackend quorum = QuorumLockBackend.of(
                new Surroundings(VirtualTimeScheduler.create(), () -> nanos, () -> TIME, (from, to) -> from),
                IntStream.range(0, 3).mapToObj(this::way).toArray(QuorumNode[]::new));

        private QuorumNode way(int number) {
            QuorumNode node = stores.get(number).connect();
            return (QuorumNode) Proxy.newProxyInstance(
                    QuorumNode.class.getClassLoader(),
                    new Class<?>[] {QuorumNode.class},
                    (proxy, method, arguments) -> method.getReturnType().equals(Mono.class) && cutOff.contains(number)
                            ? Mono.error(new IllegalStateException("cut off"))
                            : method.invoke(node, arguments));
        }

        private ClaimResult asks(Claim claim) {
            return quorum.claim(claim).blockOptional(LIMIT).orElseThrow();
        }
    }

    private static Claim claim(String id) {
        return new Claim("k", id, id, LEASE, Claim.Mode.QUEUE);
    }

    private final Site one = new Site();
    private final Site other = new Site();
    private final Claim first = claim("first");
    private final Claim second = claim("second");

    /** The second claim has the third node's vote. The first one gives back what it may have at the second node, and is granted. */
    @BeforeEach
    void theFirstClaimGivesItsVotesBackAndGetsThemAnew() {
        nanos += Duration.ofDays(1).toNanos();
        other.cutOff.addAll(Set.of(0, 1));
        assertThat(other.quorum.claim(second).onErrorComplete().blockOptional(LIMIT))
                .isEmpty();
        one.cutOff.add(1);
        for (int i = 0; i < 4; i++) { // then its patience is over
            assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class);
        }
        one.cutOff.clear();
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aVoteIsNotTakenBackByWhatWasSaidBeforeIt() {
        boolean unused = stores.get(1).release(first).blockOptional(LIMIT).orElseThrow(); // the one from before

        other.cutOff.remove(1);
        assertThat(other.asks(second)).isNotInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aHoldByOtherIdsIsRenewedAndReleasedAsAnyOther() {
        RenewalResult renewed =
                one.quorum.renew(List.of(first)).blockOptional(LIMIT).orElseThrow();
        assertThat(renewed.renewed()).containsExactly("first");

        assertThat(one.quorum.release(first).block(LIMIT)).isTrue();
        assertThat(stores.subList(0, 2)).allMatch(store -> isFree(store));
        renewed = one.quorum.renew(List.of(first)).blockOptional(LIMIT).orElseThrow();
        assertThat(renewed.lost()).containsOnlyKeys("first");
    }

    @Test
    void aReleaseThatIsSaidAgainEndsItAtEveryNode() {
        one.cutOff.addAll(Set.of(0, 1));
        assertThat(one.quorum.release(first).onErrorComplete().blockOptional(LIMIT))
                .isEmpty();
        one.cutOff.clear();

        assertThat(one.quorum.release(first).block(LIMIT)).isTrue();

        assertThat(stores.subList(0, 2)).allMatch(store -> isFree(store));
    }

    @Test
    void aHoldByOtherIdsIsKeptForItsMinimum() {
        Claim kept = claim("kept");
        assertThat(one.quorum.keep(first, kept).block(LIMIT)).isTrue();

        other.cutOff.clear();
        assertThat(other.asks(second)).isInstanceOf(ClaimResult.Queued.class);
    }

    private static boolean isFree(InMemoryLockBackend store) {
        return store.inspect("k").blockOptional(LIMIT).orElseThrow() instanceof LockInfo.Free;
    }
}
