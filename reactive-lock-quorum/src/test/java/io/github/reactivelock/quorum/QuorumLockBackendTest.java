package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Three nodes whose answers are given by hand. */
class QuorumLockBackendTest {

    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<String> log = new CopyOnWriteArrayList<>();
    private final List<ScriptedNode> nodes =
            List.of(new ScriptedNode(0, log), new ScriptedNode(1, log), new ScriptedNode(2, log));
    // A node that does not answer is waited for until long after the test has failed.
    private final QuorumLockBackend quorum = QuorumLockBackend.of(nodes.toArray(QuorumNode[]::new))
            .withLongestLease(LEASE)
            .withNodeTimeout(Duration.ofHours(1));

    @Test
    void itSaysWhichStoresItIsOf() {
        InMemoryLockBackend memory = InMemoryLockBackend.create();

        assertThat(QuorumLockBackend.of(memory, memory.connect(), memory.connect()))
                .hasToString("quorum of [" + memory + ", " + memory + ", " + memory + "]");
    }

    @Test
    void aVoteWakesItsOwnClaimOnly() {
        List<Signal> signals = new CopyOnWriteArrayList<>();
        var listening = quorum.signals().subscribe(signals::add);
        Claim one = claim("one");
        Claim other = claim("other");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Queued(LEASE)));
        assertThat(quorum.claim(one).block(LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(quorum.claim(other).block(LIMIT)).isInstanceOf(ClaimResult.Queued.class);

        nodes.get(0).signals.tryEmitNext(new Signal.Grant("one", token(7))).orThrow();
        nodes.get(1).signals.tryEmitNext(new Signal.Grant("one", token(7))).orThrow();

        assertThat(signals).contains(new Signal.RecheckClaim("one")).allMatch(new Signal.RecheckClaim("one")::equals);
        listening.dispose();
    }

    /** It would keep the vote from older claims, which cannot have a majority without it. */
    @Test
    void aVoteThatComesAfterItsRoundMakesTheClaimAskAgain() {
        Sinks.One<ClaimResult> late = Sinks.one();
        nodes.get(0).vote = late.asMono();
        nodes.get(1).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(2).vote = Mono.just(new ClaimResult.Queued(LEASE));
        CompletableFuture<Signal> pushed = quorum.signals().next().toFuture();
        assertThat(quorum.claim(claim("one")).block(LIMIT)).isEqualTo(new ClaimResult.Queued(LEASE));

        late.tryEmitValue(new ClaimResult.Granted(token(5), LEASE)).orThrow();

        assertThat(pushed).succeedsWithin(LIMIT).isEqualTo(new Signal.RecheckClaim("one"));
    }

    @Test
    void aSilentNodeDelaysNoReleaseAndNoRenewal() {
        Claim claim = claim("one");
        nodes.get(2).release = Mono.never();
        nodes.get(2).renewal = Mono.never();

        assertThat(quorum.renew(List.of(claim)).block(LIMIT).renewed()).containsExactly("one");
        assertThat(quorum.release(claim).block(LIMIT)).isTrue();
    }

    /** The silent one may have been part of the majority, or have lost its vote. */
    @Test
    void aReleaseIsUncertainWhereAnswersDisagreeAndANodeIsSilent() {
        nodes.get(0).release = Mono.just(true);
        nodes.get(1).release = Mono.just(false);
        nodes.get(2).release = Mono.error(new IllegalStateException("silent"));

        assertThatThrownBy(() -> quorum.release(claim("one")).block(LIMIT))
                .hasMessageContaining("2 of 3 nodes answered");
        assertThatThrownBy(() -> quorum.keep(claim("one"), claim("kept")).block(LIMIT))
                .hasMessageContaining("2 of 3 nodes answered");
    }

    @Test
    void aReleaseIsToldAsAMajorityOfNodesSays() {
        nodes.get(0).release = Mono.just(true);
        nodes.get(1).release = Mono.just(false);

        nodes.get(2).release = Mono.just(true);
        assertThat(quorum.release(claim("one")).block(LIMIT)).isTrue();

        nodes.get(2).release = Mono.just(false);
        assertThat(quorum.release(claim("one")).block(LIMIT)).isFalse();
    }

    @Test
    void aClaimAskedAgainHasTheTokenOfTheVotesItHasNow() {
        Claim claim = claim("one");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(5), LEASE)));
        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Granted(token(5), LEASE));

        // Somebody was served at these nodes in between.
        nodes.get(1).vote = Mono.just(new ClaimResult.Granted(token(9), LEASE));
        nodes.get(2).vote = Mono.just(new ClaimResult.Granted(token(8), LEASE));

        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Granted(token(9), LEASE));
        assertThat(nodes.get(0).raised).endsWith(token(9));
    }

    @Test
    void aRepeatedClaimKeepsItsMajoritysTokenThoughANodeNumberedHigher() {
        Claim claim = claim("one");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(5), LEASE)));
        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Granted(token(5), LEASE));

        nodes.get(0).vote = Mono.just(new ClaimResult.Granted(token(9), LEASE));

        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Granted(token(5), LEASE));
    }

    /**
     * It may be the other one of those that show the token of the hold, which would be taken for over if it had
     * another.
     */
    @Test
    void aHoldIsNotGrantedAnewBecauseANodeIsSilent() {
        Claim claim = claim("one");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(5), LEASE)));
        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Granted(token(5), LEASE));

        nodes.get(1).vote = Mono.error(new IllegalStateException("silent"));
        nodes.get(2).vote = Mono.just(new ClaimResult.Granted(token(9), LEASE));

        assertThat(quorum.claim(claim).block(LIMIT))
                .isInstanceOfSatisfying(
                        ClaimResult.Queued.class,
                        queued -> assertThat(queued.newestToken()).isZero());
        assertThat(nodes)
                .as("9 is written to none")
                .allSatisfy(node -> assertThat(node.raised).doesNotContain(token(9)));
    }

    @Test
    void aQueuedAnswerNamesTheLastGrantsTokenAndNoNodesCounter() {
        Claim claim = claim("one");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(5), LEASE)));
        assertThat(quorum.claim(claim).block(LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Queued(LEASE, null, token(9))));

        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Queued(LEASE, null, token(5)));
        assertThat(quorum.claim(claim("two")).block(LIMIT)).isEqualTo(new ClaimResult.Queued(LEASE));
    }

    @Test
    void aVoteTakenByForceBeforeItsTokensWriteBackDoesNotCount() {
        Claim claim = claim("one");
        nodes.get(0).vote = Mono.just(new ClaimResult.Granted(token(7), LEASE));
        nodes.get(1).vote = Mono.just(new ClaimResult.Granted(token(5), LEASE));
        nodes.get(2).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(1).raise = Mono.just(false); // another grant of this number was ended there
        nodes.get(2).raise = Mono.just(false);

        assertThat(quorum.claim(claim).block(LIMIT)).isInstanceOf(ClaimResult.Queued.class);

        nodes.get(1).raise = Mono.just(true);
        assertThat(quorum.claim(claim).block(LIMIT)).isEqualTo(new ClaimResult.Granted(token(7), LEASE));
    }

    @Test
    void aTokenThatOnlyOtherNodesThanTheVotersConfirmIsNoGrant() {
        Claim claim = claim("one");
        nodes.get(0).vote = Mono.just(new ClaimResult.Granted(token(7), LEASE));
        nodes.get(1).vote = Mono.just(new ClaimResult.Granted(token(5), LEASE));
        nodes.get(2).vote = Mono.never();
        nodes.get(1).raise = Mono.error(new IllegalStateException("silent"));

        assertThat(quorum.claim(claim).block(LIMIT))
                .as("node 3 may have given a higher number, which was not counted")
                .isInstanceOf(ClaimResult.Queued.class);
    }

    @Test
    void aClaimThatOnlyTriesIsToldThatTheVotesWentAway() {
        Claim claim = new Claim("k", "one", "a test", LEASE, Claim.Mode.TRY);
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(7), LEASE)));
        nodes.get(1).vote = Mono.just(new ClaimResult.Granted(token(6), LEASE));
        nodes.get(0).raise = Mono.just(false);
        nodes.get(1).raise = Mono.just(false);

        assertThatThrownBy(() -> quorum.claim(claim).block(LIMIT)).hasMessageContaining("too few confirmed");
    }

    /** Its release was confirmed by the others. */
    @Test
    void aForcedReleaseThatOneLaggingNodeKnewOfEndedNothing() {
        nodes.forEach(node -> node.info = Mono.just(new LockInfo.Free("k")));
        nodes.get(2).force = Mono.just(true);

        assertThat(quorum.forceRelease("k", token(5)).block(LIMIT)).isFalse();
    }

    /**
     * The third was not needed for the grant, and numbers its vote by itself; the first was needed, and has forgotten
     * it.
     */
    @Test
    void aForcedReleaseIsUncertainWhereOnlyOneNodeShowsTheToken() {
        nodes.get(0).info = Mono.just(new LockInfo.Free("k"));
        nodes.get(1).info = Mono.just(new LockInfo.Held("k", "one", token(5), LEASE, 0));
        nodes.get(2).info = Mono.just(new LockInfo.Held("k", "one", token(7), LEASE, 0));
        nodes.get(1).force = Mono.just(true);

        assertThatThrownBy(() -> quorum.forceRelease("k", token(5)).block(LIMIT))
                .hasMessageContaining("not known whether the grant was in force");
    }

    @Test
    void aForcedReleaseIsUncertainWhereAnswersDisagreeAndANodeIsSilent() {
        nodes.forEach(node -> node.info = Mono.error(new IllegalStateException("silent")));
        nodes.get(0).force = Mono.just(true);
        nodes.get(1).force = Mono.just(false);
        nodes.get(2).force = Mono.error(new IllegalStateException("silent"));

        assertThatThrownBy(() -> quorum.forceRelease("k", token(5)).block(LIMIT))
                .hasMessageContaining("only 2 of 3 nodes answered");
    }

    @Test
    void aForcedReleaseThatNoNodeKnewOfDidNothing() {
        nodes.forEach(node -> node.info = Mono.just(new LockInfo.Free("k")));
        assertThat(quorum.forceRelease("k", token(5)).block(LIMIT)).isFalse();
    }

    @Test
    void votesThatAreBeingGivenBackDoNotWinTheNextRound() {
        Claim claim = claim("one");
        List<ClaimResult> answers = new CopyOnWriteArrayList<>();
        nodes.get(0).vote = Mono.just(new ClaimResult.Granted(token(5), LEASE));
        nodes.get(1).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(2).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(0).olderWaits = true; // so the vote is given back at once
        // The thread that gives back is held up at the first node, while the engine loses its patience and asks again.
        nodes.get(0).release = Mono.defer(() -> {
            nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(6), LEASE)));
            nodes.get(0).olderWaits = false;
            var unused = quorum.claim(claim).subscribe(answers::add);
            log.add("0 gives back");
            return Mono.just(true);
        });

        ClaimResult first = quorum.claim(claim).block(LIMIT);

        assertThat(first).isInstanceOf(ClaimResult.Queued.class);
        assertThat(answers).containsExactly(new ClaimResult.Granted(token(6), LEASE));
        assertThat(log.subList(log.indexOf("0 gives back"), log.size()))
                .as("all votes of the second round are younger than what was given back")
                .containsExactly("0 gives back", "0 votes", "1 votes", "2 votes");
    }

    @Test
    void questionsThatComeWhileARoundIsUnderWayShareTheNextOne() {
        Claim claim = claim("one");
        List<ClaimResult> answers = new CopyOnWriteArrayList<>();
        Sinks.One<ClaimResult> slow = Sinks.one();
        nodes.forEach(node -> node.vote = slow.asMono());
        for (int i = 0; i < 4; i++) {
            var unused = quorum.claim(claim).subscribe(answers::add);
        }
        assertThat(log).containsExactly("0 votes", "1 votes", "2 votes");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(6), LEASE)));

        slow.tryEmitValue(new ClaimResult.Queued(LEASE)).orThrow();

        assertThat(log).hasSize(6);
        assertThat(answers).hasSize(4);
        assertThat(answers.get(0)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(answers.subList(1, 4)).containsOnly(new ClaimResult.Granted(token(6), LEASE));
    }

    @Test
    void aWaitingQuestionIsNotAskedOnceItsClaimIsWithdrawn() {
        Claim claim = claim("one");
        Sinks.One<ClaimResult> slow = Sinks.one();
        nodes.forEach(node -> node.vote = slow.asMono());
        var unused = quorum.claim(claim).subscribe();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        unused = quorum.claim(claim).subscribe(answer -> {}, failures::add);

        assertThat(quorum.release(claim).block(LIMIT)).isTrue();
        slow.tryEmitValue(new ClaimResult.Queued(LEASE)).orThrow();

        assertThat(log).containsExactly("0 votes", "1 votes", "2 votes");
        assertThat(failures).singleElement().satisfies(e -> assertThat(e).hasMessageContaining("withdrawn"));
    }

    @Test
    void aWonClaimGivesNothingBackInARoundThatFollows() {
        Claim claim = claim("one");
        nodes.forEach(node -> {
            node.vote = Mono.just(new ClaimResult.Granted(token(5), LEASE));
            node.release = Mono.error(new AssertionError("given back"));
        });
        assertThat(quorum.claim(claim).block(LIMIT)).isInstanceOf(ClaimResult.Granted.class);

        nodes.get(1).vote = Mono.error(new IllegalStateException("silent"));
        nodes.get(2).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(0).olderWaits = true;

        assertThat(quorum.claim(claim).block(LIMIT))
                .as("proves nothing about the grant, of which one vote may be at the silent node")
                .isInstanceOfSatisfying(
                        ClaimResult.Queued.class,
                        queued -> assertThat(queued.newestToken()).isZero());
    }

    @Test
    void aMajorityThatIsAnothersProvesThatAGrantIsOver() {
        Claim claim = claim("one");
        nodes.forEach(node -> node.vote = Mono.just(new ClaimResult.Granted(token(5), LEASE)));
        assertThat(quorum.claim(claim).block(LIMIT)).isInstanceOf(ClaimResult.Granted.class);

        nodes.get(1).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(2).vote = Mono.just(new ClaimResult.Queued(LEASE));

        assertThat(quorum.claim(claim).block(LIMIT))
                .isInstanceOfSatisfying(
                        ClaimResult.Queued.class,
                        queued -> assertThat(queued.newestToken()).isEqualTo(token(5)));
    }

    private static Claim claim(String id) {
        return new Claim("k", id, "a test", LEASE, Claim.Mode.QUEUE);
    }

    private static long token(long number) {
        return number << QuorumNode.PASS_BITS;
    }
}
