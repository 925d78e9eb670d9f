package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Claims that share a lock which a majority keeps. */
class QuorumSharesTest {

    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<ScriptedNode> nodes = IntStream.range(0, 3)
            .mapToObj(number -> new ScriptedNode(number, new CopyOnWriteArrayList<>()))
            .toList();
    private final QuorumLockBackend quorum = QuorumLockBackend.of(nodes.toArray(QuorumNode[]::new))
            .withLongestLease(LEASE)
            .withNodeTimeout(Duration.ofHours(1));

    @Test
    void aReaderWhoseTokenANodeShowsOfAnotherTakesAHigherOne() {
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(7), LEASE)));
        nodes.forEach(node -> node.raise = Mono.fromSupplier(() -> node.raised.size() > 2));

        ClaimResult answer = quorum.claim(claim("one", Share.ONE)).block(LIMIT);

        assertThat(answer).isInstanceOfSatisfying(ClaimResult.Granted.class, granted -> {
            assertThat(granted.fencingToken()).isGreaterThan(token(8));
            assertThat(nodes).allSatisfy(node -> {
                assertThat(node.raised).hasSize(3).isSorted().first().isEqualTo(token(7));
                assertThat(node.raised).last().isEqualTo(granted.fencingToken());
            });
        });
    }

    @Test
    void aReaderThatIsRefusedEveryTokenIsNotIn() {
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(7), LEASE)));
        nodes.get(0).raise = Mono.just(false);
        nodes.get(1).raise = Mono.just(false);

        assertThat(quorum.claim(claim("one", Share.ONE)).block(LIMIT)).isInstanceOf(ClaimResult.Queued.class);
    }

    /** What is refused there is a vote that was taken away. */
    @Test
    void aWriterTakesNoOtherToken() {
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(7), LEASE)));
        nodes.get(0).vote = Mono.just(new ClaimResult.Granted(token(6), LEASE));
        nodes.forEach(node -> node.raise = Mono.just(false));

        assertThat(quorum.claim(claim("one", Share.WHOLE)).block(LIMIT)).isInstanceOf(ClaimResult.Queued.class);

        assertThat(nodes).allSatisfy(node -> assertThat(node.raised).containsExactly(token(7)));
    }

    @Test
    void readersHaveTokensOfTheirOwnThoughTheirMajoritiesNumberAlike() {
        long[] ahead = {0};
        List<InMemoryLockBackend> stores = IntStream.range(0, 3)
                .mapToObj(i -> InMemoryLockBackend.create(() -> ahead[0]))
                .toList();
        ahead[0] = LEASE.toNanos();
        QuorumLockBackend real = QuorumLockBackend.of(stores.toArray(QuorumNode[]::new))
                .withLongestLease(LEASE)
                .withNodeTimeout(Duration.ofHours(1));
        Set<Long> tokens = new HashSet<>();
        for (int i = 0; i < 10; i++) {
            Claim one = claim("one-" + i, Share.ONE);
            Claim two = claim("two-" + i, Share.ONE);
            InMemoryLockBackend here = stores.get(0);
            InMemoryLockBackend there = stores.get(1);
            assertThat(here.vote(one, 1, 0, Duration.ZERO)
                            .then(here.vote(two, 2, 0, Duration.ZERO))
                            .block(LIMIT))
                    .isNotNull();
            assertThat(there.vote(two, 2, 0, Duration.ZERO)
                            .then(there.vote(one, 1, 0, Duration.ZERO))
                            .block(LIMIT))
                    .isNotNull();
            for (Claim each : List.of(one, two)) {
                assertThat(real.claim(each).block(LIMIT))
                        .isInstanceOfSatisfying(
                                ClaimResult.Granted.class, granted -> tokens.add(granted.fencingToken()));
            }
        }

        assertThat(tokens).hasSize(20);
    }

    @Test
    void permitsAreRefusedAndSharesOfNodesThatKeepNoneToo() {
        assertThat(quorum.supports(Share.permits(1, 4))).isFalse();
        assertThat(quorum.whyUnsupported(Share.permits(1, 4)))
                .contains("up to 6 permits would be in use")
                .contains(";");
        assertThat(quorum.supports(Share.ONE)).isTrue();
        assertThat(quorum.supports(Share.WHOLE)).isTrue();

        nodes.get(1).shares = false;

        assertThat(quorum.supports(Share.ONE)).isFalse();
        assertThat(quorum.whyUnsupported(Share.ONE)).contains("ScriptedNode keeps exclusive locks only");
    }

    private static Claim claim(String id, Share share) {
        return new Claim("k", id, "a test", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
    }

    private static long token(long number) {
        return number << QuorumNode.PASS_BITS;
    }
}
