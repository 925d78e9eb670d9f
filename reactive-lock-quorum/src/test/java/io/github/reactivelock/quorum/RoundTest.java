package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Vote;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class RoundTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long TICKET = 100;
    private static final Duration LONG_UP = Duration.ofHours(1);

    private final Round round = new Round(5, LEASE, TICKET, 0, Set.of());

    private static Vote granted(int node, long token, Duration uptime) {
        return new Vote(new ClaimResult.Granted(token << 12, LEASE), "server-" + node, uptime);
    }

    private static Vote queued(int node, long seconds) {
        return new Vote(new ClaimResult.Queued(Duration.ofSeconds(seconds)), "server-" + node, LONG_UP);
    }

    @Test
    void threeOfFiveGrantWithTheHighestTokenOfTheThree() {
        round.add(0, granted(0, 7, LONG_UP));
        round.add(1, granted(1, 9, LONG_UP));
        assertThat(round.isDecided()).isFalse();

        round.add(2, granted(2, 8, LONG_UP));

        assertThat(round.isDecided()).isTrue();
        assertThat(round.isGranted()).isTrue();
        assertThat(round.token()).isEqualTo(9L << 12);
    }

    @Test
    void aGrantInForceKeepsItsTokenThoughANodeOutsideNumberedHigher() {
        Round again = new Round(3, LEASE, TICKET, 7L << 12, Set.of());
        again.add(0, granted(0, 7, LONG_UP));
        again.add(2, granted(2, 9, LONG_UP));
        assertThat(again.isGranted()).isTrue();
        assertThat(again.isDecided()).isFalse();

        again.add(1, granted(1, 7, LONG_UP));

        assertThat(again.isDecided()).isTrue();
        assertThat(again.token()).isEqualTo(7L << 12);
    }

    @Test
    void votesWithoutAMajorityForTheOldTokenAreAnotherGrant() {
        Round again = new Round(3, LEASE, TICKET, 7L << 12, Set.of());
        again.add(0, granted(0, 7, LONG_UP));
        again.add(2, granted(2, 9, LONG_UP));

        again.add(1, granted(1, 8, LONG_UP));

        assertThat(again.isDecided()).isTrue();
        assertThat(again.token()).isEqualTo(9L << 12);
    }

    @Test
    void aFailedNodeMayShowTheTokenOfTheGrantInForce() {
        Round again = new Round(3, LEASE, TICKET, 7L << 12, Set.of());
        again.add(0, granted(0, 7, LONG_UP));
        again.add(2, granted(2, 9, LONG_UP));

        again.addFailure(1, new TimeoutException("silent"));

        assertThat(again.isDecided()).isTrue();
        assertThat(again.isTokenCertain()).isFalse();
    }

    @Test
    void aNodeUpForLessThanALeaseIsNotCountedButGivenBack() {
        round.add(0, granted(0, 7, LONG_UP));
        round.add(1, granted(1, 7, LONG_UP));
        round.add(2, granted(2, 99, LEASE.minusMillis(1)));

        assertThat(round.isGranted()).isFalse();
        assertThat(round.votes()).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(round.token()).isEqualTo(7L << 12);
    }

    @Test
    void twoVotesAmongThreeWhoWaitAreASplit() {
        round.add(0, granted(0, 7, LONG_UP));
        round.add(1, granted(1, 7, LONG_UP));
        for (int node = 2; node < 5; node++) {
            round.add(node, queued(node, 5));
        }

        assertThat(round.isGranted()).isFalse();
        assertThat(round.isSplit()).isTrue();
        assertThat(round.isUnanswered()).isFalse();
    }

    @Test
    void aWaitEndsWhenAMajorityMayBeFree() {
        for (int node = 0; node < 5; node++) {
            round.add(node, queued(node, node + 1));
        }

        assertThat(round.isSplit()).isFalse();
        assertThat(round.untilFree()).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void threeSilentNodesDecideThatNobodyCanBeAskedAndAreNamed() {
        round.add(0, granted(0, 7, LONG_UP));
        for (int node = 1; node < 4; node++) {
            round.addFailure(node, new TimeoutException("no answer"));
        }

        assertThat(round.isDecided()).isTrue();
        assertThat(round.isUnanswered()).isTrue();
        assertThat(round.failure())
                .hasMessageContaining("only 2 of 5 nodes answered and 3 are needed")
                .hasMessageContaining("node 2: no answer");
    }

    @Test
    void aLockIsTakenWhereAMajorityNamesOneOwnerWithOneToken() {
        for (int node = 0; node < 3; node++) {
            round.add(node, busy(node, "owner~2", 9));
        }

        assertThat(round.isTaken()).isTrue();
    }

    @Test
    void aLockIsNotTakenByOwnersThatEachHaveSomeVotes() {
        round.add(0, busy(0, "owner", 9));
        round.add(1, busy(1, "owner", 9));
        round.add(2, busy(2, "another", 9));
        round.add(3, busy(3, "", 0));

        assertThat(round.isTaken()).isFalse();
    }

    /** It may have given one vote back before it got the other. */
    @Test
    void aLockIsNotTakenByAnOwnerWhoseTokensDifferOrAreVotes() {
        for (int node = 0; node < 3; node++) {
            round.add(node, busy(node, "owner", 9 + node));
        }
        assertThat(round.isTaken()).isFalse();

        Round votes = new Round(3, LEASE, TICKET, 0, Set.of());
        for (int node = 0; node < 3; node++) {
            votes.add(node, busy(node, "owner", 8));
        }
        assertThat(votes.isTaken()).isFalse();
    }

    @Test
    void aLockIsTakenThatAMajorityShares() {
        for (int node = 0; node < 3; node++) {
            round.add(node, busy(node, Vote.SHARED, 0));
        }

        assertThat(round.isTaken()).isTrue();
    }

    private static Vote busy(int node, String owner, long token) {
        return new Vote(new ClaimResult.Busy(), "server-" + node, LONG_UP, Vote.NOBODY, owner, token << 12);
    }

    @Test
    void anUncertainTryNamesSplitVotesAnOpenTokenOrSilentNodes() {
        Round split = new Round(3, LEASE, TICKET, 0, Set.of());
        split.add(0, granted(0, 7, LONG_UP));
        split.add(1, busy(1, "one", 7));
        split.add(2, busy(2, "two", 7));
        assertThat(split.whyUndecided()).contains("votes to 3 claims");

        Round open = new Round(3, LEASE, TICKET, 0, Set.of());
        open.add(0, granted(0, 7, LONG_UP));
        open.add(1, busy(1, "one", 7));
        open.add(2, busy(2, "one~1", 9));
        assertThat(open.whyUndecided()).contains("names one owner and disagrees about that owner's token");

        Round silent = new Round(3, LEASE, TICKET, 0, Set.of());
        silent.add(0, granted(0, 7, LONG_UP));
        silent.add(1, busy(1, "one", 7));
        silent.addFailure(2, new TimeoutException("no answer within 500 ms"));
        assertThat(silent.whyUndecided())
                .startsWith("2 of its 3 nodes answered")
                .endsWith("; node 3: no answer within 500 ms");
    }

    @Test
    void oneServerUnderTwoNamesIsRefusedEvenWithAMajority() {
        round.add(0, granted(0, 7, LONG_UP));
        round.add(1, granted(1, 7, LONG_UP));
        round.add(2, granted(0, 7, LONG_UP));

        assertThat(round.isGranted()).isFalse();
        assertThat(round.isUnanswered()).isTrue();
        assertThat(round.failure()).hasMessageContaining("node 3 is the same server as another node");
    }

    @Test
    void whatCanNoLongerBeWonIsDecidedBeforeTheLastHaveAnswered() {
        round.add(0, queued(0, 5));
        round.add(1, queued(1, 5));
        assertThat(round.isDecided()).isFalse();

        round.add(2, queued(2, 5));

        assertThat(round.isDecided()).isTrue();
        assertThat(round.isSplit()).isFalse();
        assertThat(round.possibleVotes()).containsExactlyInAnyOrder(3, 4);
    }

    @Test
    void withTwoNodesSilentAndOneJustUpItIsTooEarlyForAnybody() {
        round.addFailure(0, new TimeoutException("no answer"));
        round.addFailure(1, new TimeoutException("no answer"));
        round.add(2, granted(2, 7, Duration.ZERO));
        round.add(3, granted(3, 7, LONG_UP));
        round.add(4, granted(4, 7, LONG_UP));

        assertThat(round.isGranted()).isFalse();
        assertThat(round.isTooEarly()).isTrue();
        assertThat(round.isSplit()).isFalse();
        assertThat(round.untilFree()).isEqualTo(LEASE);
        assertThat(round.failure())
                .hasMessageContaining("1 of them started less than 30000 ms ago and cannot be counted yet");
    }

    @Test
    void aVoteThatAnOlderClaimWaitsForIsOwedToIt() {
        ClaimResult granted = new ClaimResult.Granted(7L << 12, LEASE);
        round.add(0, new Vote(granted, "server-0", LONG_UP, TICKET - 1, "", 0));
        round.add(1, new Vote(granted, "server-1", LONG_UP, TICKET + 1, "", 0));
        round.add(2, queued(2, 5));

        assertThat(round.votesOwedToOlder()).containsExactly(0);
    }

    /** A vote that was not heard of is given back to no older claim. */
    @Test
    void withoutAMajorityThatRefusesEveryLivingNodeIsHeard() {
        Round split = new Round(3, LEASE, TICKET, 0, Set.of());
        split.addFailure(2, new TimeoutException("silent"));
        split.add(0, queued(0, 5));
        assertThat(split.isDecided()).isFalse();

        split.add(1, new Vote(new ClaimResult.Granted(7L << 12, LEASE), "server-1", LONG_UP, TICKET - 1, "", 0));

        assertThat(split.isDecided()).isTrue();
        assertThat(split.votesOwedToOlder()).containsExactly(1);
    }

    @Test
    void twoRefusalsAreEnoughButNotTwiceWithoutTheSameNode() {
        Round first = new Round(3, LEASE, TICKET, 0, Set.of());
        first.add(0, queued(0, 5));
        first.add(1, queued(1, 5));
        assertThat(first.isDecided()).isTrue();

        Round second = new Round(3, LEASE, TICKET, 0, first.silentNodes());
        second.add(0, queued(0, 5));
        second.add(1, queued(1, 5));
        assertThat(second.isDecided()).isFalse();
        second.add(2, granted(2, 7, LONG_UP));

        assertThat(second.isDecided()).isTrue();
        assertThat(second.isSplit()).isTrue();
    }
}
