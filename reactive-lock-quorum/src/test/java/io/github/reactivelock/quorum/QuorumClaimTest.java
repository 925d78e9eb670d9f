package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** What a claim keeps that has won: its votes, for as long as the engine may rely on them and no longer. */
class QuorumClaimTest {

    private static final Duration LEASE = Duration.ofSeconds(10);

    private long now = Long.MAX_VALUE - 1;
    private final QuorumClaim candidacy =
            new QuorumClaim(new Surroundings(Schedulers.immediate(), () -> now, Instant::now, (from, to) -> from), 0);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void votesThatHaveWonAreKeptForALease() {
        candidacy.win(5, LEASE, now);

        pass(LEASE.minusNanos(1));
        assertThat(candidacy.mayGiveBack()).isFalse();
        assertThat(candidacy.tokenOfThePast()).isZero();

        pass(Duration.ofNanos(1));
        assertThat(candidacy.tokenOfThePast()).isEqualTo(5);
        assertThat(candidacy.mayGiveBack())
                .as("or two claims that won once would wait for each other for ever")
                .isTrue();
    }

    @Test
    void eachRenewalAsksForALeaseMore() {
        candidacy.win(5, LEASE, now);
        pass(LEASE.minusSeconds(1));

        candidacy.renewing(LEASE);

        pass(LEASE.minusNanos(1));
        assertThat(candidacy.mayGiveBack()).isFalse();
    }

    @Test
    void votesThatWereLetGoAreNotKeptByALateRenewal() {
        candidacy.win(5, LEASE, now);
        pass(LEASE);
        assertThat(candidacy.mayGiveBack()).isTrue();

        candidacy.renewing(LEASE);

        assertThat(candidacy.isWaiting()).isTrue();
    }

    @Test
    void aMajorityThatIsAnothersEndsItAtOnce() {
        candidacy.win(5, LEASE, now);

        candidacy.lose();

        assertThat(candidacy.tokenOfThePast()).isEqualTo(5);
        assertThat(candidacy.isOutOfPatience(Set.of(1))).isFalse();
        assertThat(candidacy.mayGiveBack()).isTrue();
    }

    @Test
    void aNodesOwnNumberMakesWayOnlyWhileTheGrantIsInForce() {
        long token = 17L << LockBackend.PASS_BITS;
        long own = 24L << LockBackend.PASS_BITS;
        candidacy.tells(0, token);
        candidacy.tells(1, own);
        candidacy.win(token, LEASE, now);

        assertThat(candidacy.isUntold(0)).isFalse();
        assertThat(candidacy.untold(1)).isEqualTo(new QuorumClaim.Untold(token, own));
        assertThat(candidacy.untold(2)).as("it has not answered").isEqualTo(new QuorumClaim.Untold(token, 0));

        pass(LEASE.dividedBy(10).multipliedBy(9));
        assertThat(candidacy.isUntold(1)).as("a majority may have lost it").isFalse();
        assertThat(candidacy.untold(1)).isNull();

        candidacy.renewed(LEASE, now);
        assertThat(candidacy.isUntold(1)).isTrue();
        candidacy.withdraw();
        assertThat(candidacy.isUntold(1)).isFalse();
    }
}
