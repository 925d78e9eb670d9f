package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** When a majority of votes has one token, and when not, at three nodes whose answers are given by hand. */
class AgreedTokenTest {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");

    private final List<ScriptedNode> nodes = List.of(
            new ScriptedNode(0, new ArrayList<>()),
            new ScriptedNode(1, new ArrayList<>()),
            new ScriptedNode(2, new ArrayList<>()));
    private long nanos;
    private Instant time = EPOCH.plus(Duration.ofDays(1_000));
    private final QuorumLockBackend quorum = QuorumLockBackend.of(
            new Surroundings(VirtualTimeScheduler.create(), () -> nanos, () -> time, (from, to) -> from),
            nodes.toArray(QuorumNode[]::new));

    @Test
    void votesWithOneTokenNeedNoWriteBack() {
        vote(7, 7, 7);

        assertThat(ask(claim())).isEqualTo(granted(7));

        assertThat(nodes).allSatisfy(node -> assertThat(node.raised).isEmpty());
    }

    @Test
    void aMajorityThatDoesNotAgreeHasItsHighestTokenWrittenBack() {
        vote(7, 9, 7);

        assertThat(ask(claim())).isEqualTo(granted(9));

        assertThat(nodes).allSatisfy(node -> assertThat(node.raised).containsExactly(token(9)));
    }

    /**
     * Nodes that serve a waiting claim by themselves count on from the same token, so their numbers are often the same.
     */
    @Test
    void oneNumberThatNodesGaveByThemselvesIsNoGrantsToken() {
        vote(8, 8, 8);

        assertThat(ask(claim())).isEqualTo(granted(9));

        assertThat(nodes).allSatisfy(node -> assertThat(node.raised).containsExactly(token(9)));
    }

    @Test
    void oneTokenBelowTheClaimsOwnLastOneIsWrittenBackAsThat() {
        vote(7, 9, 7);
        assertThat(ask(claim())).isEqualTo(granted(9));
        nanos += LEASE.toNanos(); // it is over, and the nodes say less than before
        vote(8, 8, 8);

        assertThat(ask(claim())).isEqualTo(granted(9));

        assertThat(nodes.get(0).raised).containsExactly(token(9), token(9));
    }

    @Test
    void readersWriteTheirTokenBackThoughTheirVotesHaveTheSame() {
        vote(7, 7, 7);
        Claim reader = new Claim("k", "one", "a", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.ONE);

        assertThat(ask(reader)).isEqualTo(granted(7));

        assertThat(nodes).allSatisfy(node -> {
            assertThat(node.raised).containsExactly(token(7));
            assertThat(node.proposed).containsExactly(0L);
        });
    }

    @Test
    void aLateVoteWithAnotherTokenIsToldOfTheGrants() {
        for (long late : List.of(5, 7, 9)) {
            Sinks.One<ClaimResult> slow = Sinks.one();
            nodes.get(2).raised.clear();
            vote(7, 7, 0);
            nodes.get(2).vote = slow.asMono();
            Claim claim = new Claim("k", "late " + late, "a", LEASE, Claim.Mode.QUEUE);
            assertThat(ask(claim)).isEqualTo(granted(7));

            slow.tryEmitValue(granted(late)).orThrow();

            assertThat(nodes.get(2).raised).isEqualTo(late != 7 ? List.of(token(7)) : List.of());
        }
    }

    /** The node decides whether its own makes way: an observer believes what a majority shows. */
    @Test
    void aNodeWhoseVoteDidNotCountIsToldOfTheGrantsToken() {
        ScriptedNode first = nodes.get(0);
        vote(0, 7, 7);
        first.vote = Mono.error(new IllegalStateException("its answer was lost"));
        assertThat(ask(new Claim("k", "unheard", "a", LEASE, Claim.Mode.QUEUE))).isEqualTo(granted(7));
        assertThat(first.raised).containsExactly(token(7));

        first.uptime = Duration.ZERO;
        vote(5, 7, 7);
        assertThat(ask(new Claim("k", "too young", "a", LEASE, Claim.Mode.QUEUE)))
                .isEqualTo(granted(7));
        assertThat(first.raised).containsExactly(token(7), token(7));

        vote(9, 7, 7);
        assertThat(ask(new Claim("k", "higher", "a", LEASE, Claim.Mode.QUEUE))).isEqualTo(granted(7));
        assertThat(first.raised).as("of a higher one").containsExactly(token(7), token(7), token(7));
        assertThat(nodes.get(1).raised).isEmpty();
    }

    @Test
    void allNodesGetOneProposalALittleAheadOfTheClock() {
        vote(7, 7, 7);

        assertThat(ask(claim())).isEqualTo(granted(7));

        long micros = proposed(0) >> QuorumNode.PASS_BITS;
        assertThat(micros).isBetween(now() + 1, now() + 50_000);
        assertThat(nodes).allSatisfy(node -> assertThat(node.proposed).containsExactly(micros << QuorumNode.PASS_BITS));
    }

    @Test
    void nothingIsProposedForAGrantThatIsInForce() {
        vote(7, 7, 7);
        assertThat(ask(claim())).isEqualTo(granted(7));

        assertThat(ask(claim())).isEqualTo(granted(7));

        assertThat(proposed(1)).isZero();
        nanos += LEASE.toNanos();
        assertThat(ask(claim())).isEqualTo(granted(7));
        assertThat(proposed(2)).isPositive();
    }

    @Test
    void aClockBehindOrAheadOfTheNodesFollowsTheirLastNumbers() {
        for (Duration off : List.of(Duration.ofDays(3_650), Duration.ofDays(-10), Duration.ofMillis(30))) {
            long nodesClock = now() + micros(off);
            vote(nodesClock, nodesClock + 801, nodesClock + 300);
            assertThat(ask(new Claim("k", "first " + off, "a", LEASE, Claim.Mode.QUEUE)))
                    .isEqualTo(granted(nodesClock + 801));
            time = time.plusSeconds(50);

            assertThat(ask(new Claim("k", "next " + off, "a", LEASE, Claim.Mode.QUEUE)))
                    .isInstanceOf(ClaimResult.Granted.class);

            List<Long> all = nodes.get(0).proposed;
            assertThat(all.get(all.size() - 1) >> QuorumNode.PASS_BITS)
                    .as("what the highest would number by its clock, and a little more")
                    .isBetween(nodesClock + 50_000_800, nodesClock + 50_050_800);
        }
    }

    private long now() {
        return ChronoUnit.MICROS.between(EPOCH, time);
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }

    private long proposed(int question) {
        return nodes.get(0).proposed.get(question);
    }

    private void vote(long... tokens) {
        for (int i = 0; i < tokens.length; i++) {
            nodes.get(i).vote = tokens[i] == 0 ? Mono.never() : Mono.just(granted(tokens[i]));
        }
    }

    private ClaimResult ask(Claim claim) {
        return quorum.claim(claim).blockOptional(Duration.ofSeconds(60)).orElseThrow();
    }

    private static Claim claim() {
        return new Claim("k", "one", "a", LEASE, Claim.Mode.QUEUE);
    }

    private static ClaimResult granted(long number) {
        return new ClaimResult.Granted(token(number), LEASE);
    }

    private static long token(long number) {
        return number << QuorumNode.PASS_BITS;
    }
}
