package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.ForwardingBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class RedisQuorumContractTest extends LockBackendContract {

    private static final Duration LONGEST_LEASE = Duration.ofHours(12);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static List<RedisServer> servers;

    @BeforeAll
    static void start() {
        servers = Stream.generate(RedisServer::start).limit(5).toList();
    }

    @AfterAll
    static void stop() {
        servers.forEach(RedisServer::close);
    }

    @Override
    protected LockBackend newBackend() {
        QuorumNode[] nodes = servers.stream()
                .map(server -> new LongUp(LettuceLockBackend.connect(server.uri())))
                .toArray(QuorumNode[]::new);
        return QuorumLockBackend.of(nodes).withLongestLease(LONGEST_LEASE).withNodeTimeout(Duration.ofSeconds(4));
    }

    /**
     * A node's grant is a vote; the claim is served when it has asked again. Each node would count permits by itself.
     */
    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.PERMITS, Feature.PUSHED_GRANTS, Feature.NEIGHBOURS, Feature.AGE_OF_WAITERS);
    }

    /** A release is answered when a majority has carried it out; the others follow. */
    @Override
    protected void assertStoreIsClean() {
        AtomicReference<List<String>> left = new AtomicReference<>(List.of());
        for (RedisServer server : servers) {
            try {
                RedisFixture.eventually("nothing is left but tokens and marks, which expire", () -> {
                    left.set(left(server));
                    return left.get().isEmpty();
                });
            } catch (AssertionError e) {
                throw new AssertionError(e.getMessage() + "; node " + servers.indexOf(server) + " has " + left, e);
            }
        }
    }

    private static List<String> left(RedisServer server) {
        return ((List<?>) Objects.requireNonNull(server.command("KEYS", "*")))
                .stream()
                        .map(String::valueOf)
                        .filter(name -> !name.endsWith("}:token"))
                        .map(name -> name + " for " + server.command("PTTL", name) + " ms")
                        .toList();
    }

    @Test
    void raisingTheTokenTellsWhetherTheLockIsTheClaims() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("raised", "raise-1", "owner", LEASE, Claim.Mode.QUEUE);
        Claim other = new Claim("raised", "raise-2", "other", LEASE, Claim.Mode.QUEUE);
        long above = Long.MAX_VALUE >> 2 & -(1L << LockBackend.PASS_BITS);
        assertThat(node.vote(owner, 1, 0, Duration.ZERO).map(Vote::result).block(LIMIT))
                .isInstanceOf(ClaimResult.Granted.class);
        assertThat(node.vote(other, 2, 0, Duration.ZERO).map(Vote::result).block(LIMIT))
                .isInstanceOf(ClaimResult.Queued.class);

        assertThat(node.raise(owner, above, 0).block(LIMIT)).isTrue();
        assertThat(node.raise(other, above, 0).block(LIMIT)).isFalse();
        assertThat(node.forceRelease("raised", above).block(LIMIT)).isTrue();
        assertThat(node.raise(owner, above, 0).block(LIMIT)).isFalse();
        assertThat(node.release(other).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    @Test
    void whoWatchesIsToldOfTheTokenThatIsWrittenBack() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("watched", "watched-1", "an owner", LEASE, Claim.Mode.QUEUE);
        // No thread of a driver may wait for the lock that a look at another queue holds.
        Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
        Disposable watching = node.events("watched").subscribe(events::add);
        RedisFixture.eventually("it watches", () -> !events.isEmpty());
        long above = grantedTo(node, owner) + (1L << LockBackend.PASS_BITS);

        assertThat(node.raise(owner, above, 0).block(LIMIT)).isTrue();

        LockEvent expected = new LockEvent.Acquired("watched", "an owner", above);
        RedisFixture.eventually("the token is told", () -> events.contains(expected));
        watching.dispose();
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    @Test
    void aTokenWrittenBackLateDoesNotLowerANewerProposal() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("late", "late-1", "owner", LEASE, Claim.Mode.QUEUE);
        long before = grantedTo(node, owner);
        RedisFixture.eventually("a proposal is followed by the owner", () -> {
            long wanted = QuorumNode.ofAGrant(grantedTo(node, owner) + micros(50_000));
            return grantedTo(node, owner, wanted) == wanted;
        });
        long anew = grantedTo(node, owner);

        assertThat(node.raise(owner, before, 0).block(LIMIT))
                .as("of the vote before")
                .isFalse();

        assertThat(anew).isGreaterThan(before);
        assertThat(grantedTo(node, owner)).isEqualTo(anew);
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    @Test
    void theNumberOfAVoteMakesWayForAGrantsTokenAndIsCounted() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("way", "way-1", "owner", LEASE, Claim.Mode.QUEUE);
        long own = grantedTo(node, owner);
        long token = own - (1L << LockBackend.PASS_BITS);
        assertThat(QuorumNode.mayBeAGrants(own)).isFalse();

        assertThat(node.raise(owner, token, own).block(LIMIT)).isTrue();

        assertThat(shownBy(node, "way")).isEqualTo(token);
        assertThat(grantedTo(node, owner))
                .as("what a vote says never falls, or a majority might name a token that is over")
                .isEqualTo(own);
        assertThat(node.forceRelease("way", token).block(LIMIT)).isTrue();
        assertThat(grantedTo(node, owner)).isGreaterThan(own);
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    /** It was sent for a vote that ended meanwhile, and another claim had the lock since, under a higher token. */
    @Test
    void aTokenWrittenBackLateDoesNotLowerANewerVotesNumber() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("newer", "newer-1", "owner", LEASE, Claim.Mode.QUEUE);
        long before = grantedTo(node, owner);
        assertThat(node.forceRelease("newer", before).block(LIMIT)).isTrue();
        long anew = grantedTo(node, owner);

        long token = QuorumNode.ofAGrant(before);
        assertThat(node.raise(owner, token, before).block(LIMIT)).isFalse();
        assertThat(node.raise(owner, token, 0).block(LIMIT)).isFalse();

        assertThat(anew).isGreaterThan(token);
        assertThat(shownBy(node, "newer")).isEqualTo(anew);
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    private static long shownBy(QuorumNode node, String key) {
        return ((LockInfo.Held) Objects.requireNonNull(node.inspect(key).block(LIMIT))).fencingToken();
    }

    /** Such a node is not counted, so what it shows must not look like a grant. */
    @Test
    void aNodeUpForLessThanTheLongestLeaseTakesNoProposal() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("young", "young-1", "owner", LEASE, Claim.Mode.QUEUE);
        for (int i = 0; i < 20; i++) {
            long proposal = QuorumNode.ofAGrant(grantedTo(node, owner) + micros(50_000));
            Vote vote = Objects.requireNonNull(
                    node.vote(owner, 1, proposal, Duration.ofDays(3_650)).block(LIMIT));
            assertThat(QuorumNode.mayBeAGrants(((ClaimResult.Granted) vote.result()).fencingToken()))
                    .isFalse();
        }
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    @Test
    void aTokenThatAnotherReaderHasHereIsNotWrittenBack() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim one = reader("shared-1");
        Claim two = reader("shared-2");
        Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
        Disposable watching = node.events("shared").subscribe(events::add);
        RedisFixture.eventually("it watches", () -> !events.isEmpty());
        long lower = grantedTo(node, one);
        long higher = grantedTo(node, two);
        long above = higher + (5L << LockBackend.PASS_BITS);

        assertThat(node.raise(one, higher, 0).block(LIMIT))
                .as("a number of a vote")
                .isFalse();
        assertThat(grantedTo(node, one)).isEqualTo(lower);
        assertThat(node.raise(one, above, 0).block(LIMIT)).isTrue();
        assertThat(node.raise(two, above, 0).block(LIMIT)).isFalse();
        assertThat(node.raise(one, above, 0).block(LIMIT)).as("said again").isTrue();
        assertThat(grantedTo(node, two)).isEqualTo(higher);
        assertThat(node.raise(two, above + (1L << LockBackend.PASS_BITS), 0).block(LIMIT))
                .isTrue();
        assertThat(grantedTo(node, one)).isEqualTo(above);

        LockEvent expected = new LockEvent.Acquired("shared", "reader", above, 1);
        RedisFixture.eventually("the token is told", () -> events.contains(expected));
        assertThat(node.forceRelease("shared", above).block(LIMIT)).isTrue();
        assertThat(node.raise(one, above, 0).block(LIMIT)).as("it is over").isFalse();
        watching.dispose();
        assertThat(node.release(two).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    /** The clock may pass a proposal while it is on its way, so it takes as many as it takes. */
    @Test
    void aProposedTokenIsGivenIfItIsHigherAndNotByFar() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("proposed", "proposed-1", "owner", LEASE, Claim.Mode.QUEUE);
        long day = micros(Duration.ofDays(1).toMillis() * 1_000);
        long first = grantedTo(node, owner);
        assertThat(grantedTo(node, owner, first + day)).as("too far ahead").isEqualTo(first);

        RedisFixture.eventually("a proposal is followed by the owner", () -> {
            long wanted = grantedAnew(node, owner) + micros(90_000);
            return grantedTo(node, owner, wanted) == wanted && grantedTo(node, owner) == wanted;
        });
        RedisFixture.eventually("a proposal is followed by a claim", () -> {
            long before = grantedAnew(node, owner);
            assertThat(node.release(owner).block(LIMIT)).isTrue();
            return grantedTo(node, owner, before + micros(90_000)) == before + micros(90_000);
        });
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        assertThat(grantedTo(node, owner, first + day)).as("too far ahead").isBetween(first + 1, first + day - 1);
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    /** An operator may be quicker than the vote of the claim that had the token elsewhere. */
    @Test
    void aTokenEndedByForceIsGivenToNoLaterVote() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim owner = new Claim("ended", "ended-1", "owner", LEASE, Claim.Mode.QUEUE);
        long before = grantedTo(node, owner);
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        for (long micros : List.of(90_000L, 80_000_000L)) { // of a time that comes soon, and of one that does not
            long ended = grantedAnew(node, owner) + micros(micros);
            assertThat(node.release(owner).block(LIMIT)).isTrue();

            assertThat(node.forceRelease("ended", ended).block(LIMIT)).isFalse();

            assertThat(grantedTo(node, owner, ended)).isGreaterThan(before).isNotEqualTo(ended);
            assertThat(node.forceRelease("ended", ended).block(LIMIT)).isFalse();
            assertThat(node.release(owner).block(LIMIT)).isTrue();
        }
        assertThat(grantedAnew(node, owner)).as("not raised by far").isLessThan(before + micros(80_000_000));
        assertThat(node.release(owner).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    private static long grantedAnew(QuorumNode node, Claim claim) {
        assertThat(node.release(claim).block(LIMIT)).isNotNull();
        return grantedTo(node, claim);
    }

    private static long micros(long number) {
        return number << LockBackend.PASS_BITS;
    }

    /** As of a client whose clock was never set; the queue's line has the ends of readers' leases below zero. */
    @Test
    void aPlaceBelowTheFirstIsThePlaceOfAClaimThatWaits() {
        QuorumNode node = LettuceLockBackend.connect(servers.get(0).uri());
        Claim one = reader("early-1");
        Claim writer = new Claim("shared", "early-2", "writer", LEASE, Claim.Mode.QUEUE);
        long before = grantedTo(node, one);
        assertThat(node.vote(writer, -5_000_000_000_000_000L, 0, Duration.ZERO)
                        .map(Vote::result)
                        .block(LIMIT))
                .isInstanceOf(ClaimResult.Queued.class);

        assertThat(node.vote(reader("early-3"), 7, 0, Duration.ZERO).block(LIMIT))
                .isNotNull()
                .satisfies(vote -> assertThat(vote.result()).isInstanceOf(ClaimResult.Queued.class))
                .satisfies(vote -> assertThat(vote.firstWaiting()).isEqualTo(1));
        assertThat(node.release(reader("early-3")).block(LIMIT)).isFalse();
        assertThat(node.release(one).block(LIMIT)).isTrue();
        assertThat(grantedTo(node, writer)).isGreaterThan(before);
        assertThat(node.release(writer).block(LIMIT)).isTrue();
        node.close().block(LIMIT);
    }

    private static Claim reader(String id) {
        return new Claim("shared", id, "reader", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.ONE);
    }

    private static long grantedTo(QuorumNode node, Claim claim) {
        return grantedTo(node, claim, 0);
    }

    private static long grantedTo(QuorumNode node, Claim claim, long proposal) {
        Vote vote = Objects.requireNonNull(
                node.vote(claim, 1, proposal, Duration.ZERO).block(LIMIT));
        return ((ClaimResult.Granted) vote.result()).fencingToken();
    }

    /** A server that has just been started for the test, but may be counted: the contract uses leases of many hours. */
    private static final class LongUp extends ForwardingBackend implements QuorumNode {

        private final QuorumNode node;

        LongUp(QuorumNode node) {
            super(node);
            this.node = node;
        }

        @Override
        public Mono<Vote> vote(Claim claim, long ticket, long proposal, Duration longestLease) {
            return node.vote(claim, ticket, proposal, Duration.ZERO)
                    .map(vote -> new Vote(
                            vote.result(),
                            vote.incarnation(),
                            vote.uptime().plus(LONGEST_LEASE),
                            vote.firstWaiting(),
                            vote.owner(),
                            vote.ownersToken()));
        }

        @Override
        public Mono<Boolean> raise(Claim claim, long fencingToken, long votesNumber) {
            return node.raise(claim, fencingToken, votesNumber);
        }
    }
}
