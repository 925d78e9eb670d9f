package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LockInfo.Holder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What three nodes show of a lock, and what follows from it. */
class ObserverTest {

    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<ScriptedNode> nodes = List.of(
            new ScriptedNode(0, new ArrayList<>()),
            new ScriptedNode(1, new ArrayList<>()),
            new ScriptedNode(2, new ArrayList<>()));
    private final QuorumLockBackend quorum =
            QuorumLockBackend.of(nodes.toArray(QuorumNode[]::new)).withNodeTimeout(Duration.ofHours(1));
    private final List<AtomicInteger> looks = new ArrayList<>();

    @Test
    void nodesThatNumberAlikeWhatTheyGaveToDifferentOwnersShowNoOwner() {
        nodes.get(0).info = Mono.just(new LockInfo.Held("k", "one", token(7), LEASE, 0));
        nodes.get(1).info = Mono.just(new LockInfo.Held("k", "another", token(7), LEASE, 0));
        nodes.get(2).info = Mono.just(new LockInfo.Free("k"));

        assertThat(quorum.inspect("k").block(LIMIT)).isEqualTo(new LockInfo.Free("k"));
    }

    @Test
    void whileVotesAreCountedTheLockHasNoOwner() {
        held(0, "one", token(7));
        held(1, "one", token(5));
        held(2, "another", token(6));
        AtomicInteger looks = new AtomicInteger();
        nodes.get(1).info = Mono.fromSupplier(() -> new LockInfo.Held(
                "k", looks.getAndIncrement() % 2 == 0 ? "one" : "another", token(5), LEASE, 0)); // gave its vote back

        assertThat(quorum.inspect("k").block(LIMIT)).isEqualTo(new LockInfo.Free("k"));
        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isFalse();
    }

    /** Nodes that serve a claim by themselves count on from the same token; the claim has yet to hear of it. */
    @Test
    void aNumberThatAMajorityGaveByItselfIsNobodysToken() {
        for (int node = 0; node < 3; node++) {
            held(node, "one", token(8));
        }

        assertThat(quorum.inspect("k").block(LIMIT)).isEqualTo(new LockInfo.Free("k"));
        assertThat(quorum.isCurrent("k", token(8)).block(LIMIT)).isFalse();
    }

    /** Of a claim that waits, or of a hold that has just lost a node. */
    @Test
    void anOwnerWithATokenAndAVotesNumberIsNeitherShownNorOut() {
        held(0, "one", token(9));
        held(1, "one", token(8));
        held(2, "another", token(8));

        assertThatThrownBy(() -> quorum.inspect("k").block(LIMIT)).hasMessageContaining("different numbers");
        assertThatThrownBy(() -> quorum.isCurrent("k", token(9)).block(LIMIT))
                .hasMessageContaining("different numbers");
        assertThat(quorum.isCurrent("k", token(10)).block(LIMIT)).isFalse();
    }

    /** A node missed the release of a grant, and another one has the vote of a later claim of the same owner. */
    @Test
    void aTokenOfOneNodeIsNotCurrentThoughAMajorityShowsItsOwner() {
        held(0, "one", token(5));
        held(1, "one", token(7));
        held(2, "another", token(9));

        assertThatThrownBy(() -> quorum.inspect("k").block(LIMIT)).hasMessageContaining("different numbers");
        assertThatThrownBy(() -> quorum.isCurrent("k", token(5)).block(LIMIT))
                .hasMessageContaining("different numbers");
        assertThat(quorum.isCurrent("k", token(9)).block(LIMIT)).isFalse();
    }

    /** Two nodes restarted empty and do not count yet, so their votes have numbers of their own. */
    @Test
    void aClaimThatHasOnlyVotesIsShownAtOnceToHaveNothing() {
        held(0, "one", token(16));
        held(1, "one", token(24));
        AtomicInteger looks = new AtomicInteger();
        nodes.get(2).info = Mono.fromSupplier(() -> {
            looks.incrementAndGet();
            return new LockInfo.Held("k", "holder", token(5), LEASE, 1);
        });

        assertThat(quorum.inspect("k").block(LIMIT)).isEqualTo(new LockInfo.Free("k"));
        assertThat(looks).hasValueLessThanOrEqualTo(1);
        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isFalse();
    }

    /**
     * Two nodes agree on the owner, so the third is not waited for; whichever they are, one of them knows the claim.
     */
    @Test
    void aClaimThatAMajorityQueuedIsShownWhicheverNodesAnswer() {
        for (int late = 0; late < 3; late++) {
            for (int silent = 0; silent < 3; silent++) {
                for (int node = 0; node < 3; node++) {
                    if (node == late) {
                        held(node, "one", token(7));
                    } else {
                        nodes.get(node).info = Mono.just(new LockInfo.Held(
                                "k", "one", token(7), LEASE, 1, null, List.of(new LockInfo.Waiting("two", null))));
                    }
                }
                nodes.get(silent).info = Mono.never();

                assertThat(quorum.inspect("k").block(LIMIT)).isInstanceOfSatisfying(LockInfo.Held.class, held -> {
                    assertThat(held.waiters()).isOne();
                    assertThat(held.queue()).containsExactly(new LockInfo.Waiting("two", null));
                });
            }
        }
    }

    @Test
    void aHoldIsCurrentWhereAMajorityShowsItsToken() {
        held(0, "one", token(7));
        held(1, "another", token(9));
        held(2, "one", token(7));

        assertThat(quorum.isCurrent("k", token(7)).block(LIMIT)).isTrue();
        assertThat(quorum.isCurrent("k", token(9)).block(LIMIT)).isFalse();
    }

    @Test
    void aLocksOwnerIsUnknownWhileASilentNodeDecides() {
        held(0, "one", token(7));
        held(1, "another", token(9));
        nodes.get(2).info = Mono.error(new IllegalStateException("silent"));

        assertThatThrownBy(() -> quorum.isCurrent("k", token(7)).block(LIMIT))
                .hasMessageContaining("1 of 3 did not answer");
        assertThatThrownBy(() -> quorum.inspect("k").block(LIMIT)).hasMessageContaining("1 of 3 did not answer");
    }

    /** A hold that has just lost a node: what is silent is the only node that shows its token. */
    @Test
    void aHoldWhoseTokenOnlyASilentNodeShowsIsNotOver() {
        nodes.get(0).info = Mono.error(new IllegalStateException("silent"));
        held(1, "one", token(7));
        held(2, "another", token(9));

        assertThatThrownBy(() -> quorum.isCurrent("k", token(5)).block(LIMIT))
                .hasMessageContaining("1 of 3 did not answer");
    }

    /** The second node's vote goes from a waiting claim to the holder between the looks, and the third is silent. */
    @Test
    void aHolderThatOneLookLeftOpenIsNotOutByTheNext() {
        held(0, "one", token(7));
        changing(1, held("another", 16), held("one", 24));
        nodes.get(2).info = Mono.error(new IllegalStateException("silent"));

        assertIsNeitherShownNorOut(7);
    }

    /** A node that missed an earlier release showed the lower number, until its lease was over. */
    @Test
    void aHolderIsNotOutBecauseAnEarlierClaimOfItsOwnerIs() {
        held(0, "one", token(7));
        changing(1, held("one", 5), held("one", 24));
        nodes.get(2).info = Mono.error(new IllegalStateException("silent"));

        assertIsNeitherShownNorOut(7);
    }

    /** The first look is followed by another because of the second reader. */
    @Test
    void aReaderThatLosesANodeBetweenLooksIsNotToldToBeOut() {
        shared(0, reader("one", 5));
        changing(1, info(reader("one", 5), reader("two", 7)), info(reader("one", 16)));
        changing(2, info(reader("two", 9)), info(reader("three", 24)));

        assertThatThrownBy(() -> quorum.inspect("k").block(LIMIT)).hasMessageContaining("different numbers");
    }

    private void assertIsNeitherShownNorOut(long number) {
        assertThatThrownBy(() -> quorum.inspect("k").block(LIMIT)).hasMessageContaining("different numbers");
        looks.forEach(its -> its.set(0));
        assertThatThrownBy(() -> quorum.isCurrent("k", token(number)).block(LIMIT))
                .hasMessageContaining("different numbers");
    }

    /** Shows the one in a question's first look, and the other in all that follow. */
    private void changing(int node, LockInfo first, LockInfo later) {
        AtomicInteger its = new AtomicInteger();
        looks.add(its);
        nodes.get(node).info = Mono.fromSupplier(() -> its.getAndIncrement() == 0 ? first : later);
    }

    @Test
    void readersAreInWhomAMajorityShows() {
        shared(0, reader("one", 5), reader("two", 7));
        shared(1, reader("one", 5));
        shared(2, reader("two", 7), reader("three", 9));

        LockInfo.Held held =
                Objects.requireNonNull(quorum.inspect("k").block(LIMIT)).held().orElseThrow();

        assertThat(held.fencingToken()).isEqualTo(token(7));
        assertThat(held.shares()).isEqualTo(new LockInfo.Shares(2, 2, List.of(reader("two", 7), reader("one", 5))));
        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isTrue();
        assertThat(quorum.isCurrent("k", token(9)).block(LIMIT)).isFalse();
    }

    @Test
    void ofClaimsOfOneOwnerThoseAreShownWhoseTokenAMajorityShows() {
        shared(0, reader("one", 5), reader("one", 8));
        shared(1, reader("one", 5), reader("one", 9));
        shared(2, reader("one", 6));

        LockInfo.Held held =
                Objects.requireNonNull(quorum.inspect("k").block(LIMIT)).held().orElseThrow();

        assertThat(Objects.requireNonNull(held.shares()).holders()).isOne();
        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isTrue();
        assertThatThrownBy(() -> quorum.isCurrent("k", token(9)).block(LIMIT))
                .hasMessageContaining("different numbers");
    }

    @Test
    void aReaderIsSeenWhileVotesOfAnotherAreCounted() {
        AtomicInteger looks = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            int node = i;
            nodes.get(node).info = Mono.fromSupplier(() ->
                    info(reader("one", 5), reader("two", 10 + node + 10 * looks.getAndIncrement() / 3 * 3)));
        }

        LockInfo.Held held =
                Objects.requireNonNull(quorum.inspect("k").block(LIMIT)).held().orElseThrow();

        assertThat(Objects.requireNonNull(held.shares()).first()).containsExactly(reader("one", 5));
        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isTrue();
    }

    @Test
    void aReaderThatASilentNodeDecidesIsNotToldToBeOut() {
        shared(0, reader("one", 5), reader("two", 7));
        shared(1, reader("one", 5));
        nodes.get(2).info = Mono.error(new IllegalStateException("silent"));

        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isTrue();
        assertThatThrownBy(() -> quorum.isCurrent("k", token(7)).block(LIMIT))
                .hasMessageContaining("1 of 3 did not answer");
        assertThat(quorum.inspect("k").block(LIMIT).isHeldBy("one")).isTrue();
    }

    @Test
    void ofMoreReadersThanNodesShowNoneIsToldToBeOut() {
        LockInfo.Shares shares = new LockInfo.Shares(300, 300, List.of(reader("one", 5)));
        for (ScriptedNode node : nodes) {
            node.info = Mono.just(new LockInfo.Held("k", "one", token(5), LEASE, 0, null, List.of(), shares));
        }

        assertThat(Objects.requireNonNull(quorum.inspect("k").block(LIMIT))
                        .held()
                        .orElseThrow()
                        .shares())
                .isEqualTo(shares);
        assertThat(quorum.isCurrent("k", token(5)).block(LIMIT)).isTrue();
        assertThatThrownBy(() -> quorum.isCurrent("k", token(6)).block(LIMIT))
                .hasMessageContaining("let the resource compare tokens");
    }

    private static LockInfo held(String owner, long number) {
        return new LockInfo.Held("k", owner, token(number), LEASE, 0);
    }

    private void held(int node, String owner, long token) {
        nodes.get(node).info = Mono.just(new LockInfo.Held("k", owner, token, LEASE, 0));
    }

    private void shared(int node, Holder... oldestFirst) {
        nodes.get(node).info = Mono.just(info(oldestFirst));
    }

    private static LockInfo info(Holder... holders) {
        Holder newest = holders[holders.length - 1];
        List<Holder> first = Stream.of(holders).toList();
        return new LockInfo.Held(
                "k",
                newest.owner(),
                newest.fencingToken(),
                LEASE,
                0,
                null,
                List.of(),
                new LockInfo.Shares(holders.length, holders.length, first));
    }

    private static Holder reader(String owner, long number) {
        return new Holder(owner, 1, token(number), LEASE);
    }

    private static long token(long number) {
        return number << QuorumNode.PASS_BITS;
    }
}
