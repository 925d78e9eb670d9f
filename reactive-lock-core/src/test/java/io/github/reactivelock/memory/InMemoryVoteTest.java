package io.github.reactivelock.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** The in-process store as a node of a quorum: those that wait are served by their tickets, not by when they came. */
class InMemoryVoteTest {

    private static final Duration LEASE = Duration.ofSeconds(10);

    private long now;
    private final InMemoryLockBackend node = InMemoryLockBackend.create(() -> now);

    @Test
    void theLowestTicketIsServedFirst() {
        Claim owner = claim("owner");
        assertThat(vote(owner, 1).result()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(vote(claim("late"), 30).firstWaiting()).isEqualTo(30);
        assertThat(vote(claim("early"), 20).firstWaiting()).isEqualTo(20);
        assertThat(vote(claim("latest"), 40).firstWaiting()).isEqualTo(20);

        assertThat(node.release(owner).block()).isTrue();

        assertThat(vote(claim("late"), 30).result()).isInstanceOf(ClaimResult.Queued.class);
        assertThat(vote(claim("early"), 20).result()).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void oneThatIsNotHeardOfForALeaseIsPassedOver() {
        Claim owner = claim("owner");
        assertThat(vote(owner, 1).firstWaiting()).isEqualTo(Vote.NOBODY);
        assertThat(vote(claim("dead"), 10).firstWaiting()).isEqualTo(10);
        now += LEASE.toNanos() - 1;
        assertThat(vote(claim("alive"), 20).firstWaiting()).isEqualTo(10);
        now += 1;

        assertThat(vote(claim("alive"), 20).result()).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void whoWatchesIsToldOfTheTokenThatIsWrittenBack() {
        Claim owner = claim("owner");
        List<LockEvent> events = new ArrayList<>();
        Disposable watching = node.events("k").subscribe(events::add);
        assertThat(vote(owner, 1).result()).isInstanceOf(ClaimResult.Granted.class);
        long token = 9L << LockBackend.PASS_BITS;

        assertThat(node.raise(owner, token, 0).block()).isTrue();

        assertThat(events).last().isEqualTo(new LockEvent.Acquired("k", owner.owner(), token));
        watching.dispose();
    }

    @Test
    void raisingTheTokenTellsWhetherTheLockIsTheClaims() {
        Claim owner = claim("owner");
        Claim other = claim("other");
        assertThat(vote(owner, 1).result()).isInstanceOf(ClaimResult.Granted.class);
        assertThat(vote(other, 2).result()).isInstanceOf(ClaimResult.Queued.class);
        long token = 9L << LockBackend.PASS_BITS;

        assertThat(node.raise(owner, token, 0).block()).isTrue();
        assertThat(node.raise(other, token, 0).block()).isFalse();
        assertThat(node.forceRelease("k", token).block()).isTrue();
        assertThat(node.raise(owner, token, 0).block()).isFalse();
        now += LEASE.toNanos();
        assertThat(node.raise(other, token, 0).block()).as("its lease is over").isFalse();
    }

    @Test
    void aTokenWrittenBackLateDoesNotLowerANewerVotes() {
        Claim owner = claim("owner");
        long before = grantedTo(owner, 7L << LockBackend.PASS_BITS);
        assertThat(node.forceRelease("k", before).block()).isTrue();
        long anew = grantedTo(owner, 9L << LockBackend.PASS_BITS);

        assertThat(node.raise(owner, before, 0).block())
                .as("of the vote before")
                .isFalse();

        assertThat(anew).isGreaterThan(before);
        assertThat(grantedTo(owner)).isEqualTo(anew);
    }

    @Test
    void theNumberOfAVoteMakesWayForAGrantsTokenAndIsCounted() {
        Claim owner = claim("owner");
        long own = grantedTo(owner);
        long token = own - (1L << LockBackend.PASS_BITS);

        assertThat(node.raise(owner, token, own).block()).isTrue();

        assertThat(shown()).isEqualTo(token);
        assertThat(grantedTo(owner))
                .as("what a vote says never falls, or a majority might name a token that is over")
                .isEqualTo(own);
        assertThat(node.forceRelease("k", token).block()).isTrue();
        assertThat(grantedTo(claim("next"))).isGreaterThan(own);
    }

    /**
     * It was sent for a vote whose lease ended meanwhile, and another claim had the lock since, under a higher token.
     */
    @Test
    void aTokenWrittenBackLateDoesNotLowerANewerVotesNumber() {
        Claim owner = claim("owner");
        long before = grantedTo(owner);
        now += LEASE.toNanos();
        long anew = grantedTo(owner);

        long token = QuorumNode.ofAGrant(before);
        assertThat(node.raise(owner, token, before).block()).isFalse();
        assertThat(node.raise(owner, token, 0).block()).isFalse();

        assertThat(anew).isGreaterThan(token);
        assertThat(shown()).isEqualTo(anew);
    }

    @Test
    void aReadersNumberMakesNoWayForALowerToken() {
        Claim one = reader("one");
        long own = grantedTo(one);

        assertThat(node.raise(one, own - (1L << LockBackend.PASS_BITS), own).block())
                .isFalse();

        assertThat(grantedTo(one)).isEqualTo(own);
    }

    /** Such a node is not counted, so what it shows must not look like a grant. */
    @Test
    void aNodeUpForLessThanTheLongestLeaseTakesNoProposal() {
        long proposal = 9L << LockBackend.PASS_BITS;
        Vote vote = node.vote(claim("owner"), 1, proposal, LEASE).block();

        assertThat(vote).isNotNull();
        assertThat(QuorumNode.mayBeAGrants(((ClaimResult.Granted) vote.result()).fencingToken()))
                .isFalse();
        now += LEASE.toNanos();
        assertThat(Objects.requireNonNull(node.vote(claim("owner"), 1, 3 * proposal, LEASE)
                                .block())
                        .result())
                .isEqualTo(new ClaimResult.Granted(3 * proposal, LEASE));
    }

    @Test
    void aTokenThatAnotherReaderHasHereIsNotWrittenBack() {
        Claim one = reader("one");
        Claim two = reader("two");
        long lower = grantedTo(one);
        long higher = grantedTo(two);
        List<LockEvent> events = new ArrayList<>();
        Disposable watching = node.events("k").subscribe(events::add);
        long token = 17L << LockBackend.PASS_BITS;

        assertThat(node.raise(one, higher, 0).block()).as("a number of a vote").isFalse();
        assertThat(grantedTo(one)).isEqualTo(lower);
        assertThat(node.raise(one, token, 0).block()).isTrue();
        assertThat(node.raise(two, token, 0).block()).isFalse();
        assertThat(grantedTo(two)).isEqualTo(higher);
        assertThat(node.raise(one, token, 0).block()).as("said again").isTrue();
        assertThat(node.raise(two, token + 1, 0).block()).isTrue();

        assertThat(grantedTo(one)).isEqualTo(token);
        assertThat(events).contains(new LockEvent.Acquired("k", "somebody", token, 1));
        watching.dispose();
    }

    @Test
    void aProposedTokenIsGivenIfItIsHigherAndNotByFar() {
        long high = 1_000L << LockBackend.PASS_BITS;

        assertThat(grantedTo(claim("one"), high)).isEqualTo(high);
        assertThat(node.release(claim("one")).block()).isTrue();
        assertThat(grantedTo(claim("low"), high)).isEqualTo(1_008L << LockBackend.PASS_BITS);
        assertThat(node.release(claim("low")).block()).isTrue();
        assertThat(grantedTo(claim("years ahead"), 200_000L << LockBackend.PASS_BITS))
                .isEqualTo(1_016L << LockBackend.PASS_BITS);
    }

    @Test
    void anOwnerThatAsksAgainGetsTheTokenThatItProposes() {
        List<LockEvent> events = new ArrayList<>();
        Disposable watching = node.events("k").subscribe(events::add);
        Claim owner = claim("owner");
        long first = grantedTo(owner);
        long higher = first + (9L << LockBackend.PASS_BITS);

        assertThat(grantedTo(owner, first)).as("not a new one").isEqualTo(first);
        assertThat(grantedTo(owner, higher)).isEqualTo(higher);
        assertThat(grantedTo(owner)).isEqualTo(higher);

        assertThat(events).endsWith(new LockEvent.Acquired("k", "somebody", higher));
        assertThat(node.release(owner).block()).isTrue();
        assertThat(grantedTo(claim("next"))).isGreaterThan(higher);
        watching.dispose();
    }

    @Test
    void whatAWaitingClaimProposedOnceIsForgotten() {
        long high = 1_000L << LockBackend.PASS_BITS;
        long owners = grantedTo(claim("owner"));
        assertThat(vote(claim("waits"), 2, high).result()).isInstanceOf(ClaimResult.Queued.class);

        assertThat(node.release(claim("owner")).block()).isTrue();

        assertThat(grantedTo(claim("waits"))).isBetween(owners + 1, high - 1);
    }

    private static Claim reader(String id) {
        return new Claim("k", id, "somebody", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.ONE);
    }

    private long grantedTo(Claim claim) {
        return grantedTo(claim, 0);
    }

    private long shown() {
        return ((LockInfo.Held) Objects.requireNonNull(node.inspect("k").block())).fencingToken();
    }

    private long grantedTo(Claim claim, long proposal) {
        return ((ClaimResult.Granted) vote(claim, 1, proposal).result()).fencingToken();
    }

    private Vote vote(Claim claim, long ticket) {
        return vote(claim, ticket, 0);
    }

    private Vote vote(Claim claim, long ticket, long proposal) {
        Vote vote = node.vote(claim, ticket, proposal, Duration.ZERO).block();
        assertThat(vote).isNotNull();
        return vote;
    }

    private static Claim claim(String id) {
        return new Claim("k", id, "somebody", LEASE, Claim.Mode.QUEUE);
    }
}
