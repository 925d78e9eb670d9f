package io.github.reactivelock.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InMemoryLockBackendTest extends InMemoryFixture {

    @Test
    void aFreeLockIsGrantedWithATokenWhoseLowBitsAreZero() {
        ClaimResult.Granted granted = grant(queued("k"));

        assertThat(granted.lease()).isEqualTo(LEASE);
        assertThat(granted.fencingToken() & ((1L << LockBackend.PASS_BITS) - 1)).isZero();
    }

    @Test
    void aRepeatedClaimKeepsItsTokenAndStartsItsLeaseAnew() {
        Claim claim = queued("k");
        ClaimResult first = claim(claim);
        pass(Duration.ofSeconds(6));

        assertThat(claim(claim)).isEqualTo(first);
        pass(Duration.ofSeconds(6));
        assertThat(claim(tried("k"))).isEqualTo(new ClaimResult.Busy());
    }

    @Test
    void aWaitingClaimGetsTheRestOfTheLeaseAndFirstItsPredecessor() {
        Claim owner = queued("k");
        Claim next = queued("k");
        long token = grant(owner).fencingToken();
        pass(Duration.ofSeconds(4));

        assertThat(claim(next)).isEqualTo(new ClaimResult.Queued(Duration.ofSeconds(6), owner.id(), token));
        assertThat(claim(queued("k"))).isEqualTo(new ClaimResult.Queued(Duration.ofSeconds(6), next.id(), token));
        assertThat(claim(next)).isEqualTo(new ClaimResult.Queued(Duration.ofSeconds(6), null, token));
    }

    @Test
    void aReleaseSaidAgainNeverTouchesTheSuccessor() {
        Claim owner = queued("k");
        Claim next = queued("k");
        claim(owner);
        claim(next);
        release(owner);

        assertThat(release(owner)).isFalse();
        assertThat(renew(next)).isEmpty();
    }

    @Test
    void aReleaseByAWaitingClaimLeavesTheQueue() {
        Claim owner = queued("k");
        Claim gone = queued("k");
        Claim next = queued("k");
        claim(owner);
        claim(gone);
        claim(next);

        assertThat(release(gone)).isFalse();
        release(owner);

        assertThat(claim(next)).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aWaitingClaimThatWasNotAskedAboutForItsLeaseIsSkipped() {
        Claim owner = queued("k");
        Claim dead = queued("k");
        Claim alive = queued("k");
        claim(owner);
        claim(dead);
        claim(alive);
        pass(Duration.ofSeconds(6));
        renew(owner);
        claim(alive);
        pass(Duration.ofSeconds(6));

        assertThat(inspected("k").waiters()).isEqualTo(1);
        release(owner);

        assertThat(claim(alive)).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aLockWhoseLeaseRanOutGoesToTheFirstInLine() {
        List<Signal> signals = signals(store);
        claim(queued("k", Duration.ofSeconds(1)));
        Claim waiting = queued("k");
        claim(waiting);
        pass(Duration.ofSeconds(2));

        assertThat(inspect("k")).isEqualTo(new LockInfo.Free("k"));
        assertThat(claim(tried("k"))).isEqualTo(new ClaimResult.Busy());
        assertThat(signals)
                .last()
                .isInstanceOfSatisfying(
                        Signal.Grant.class, grant -> assertThat(grant.claimId()).isEqualTo(waiting.id()));
    }

    @Test
    void aRenewalNeverBringsAHoldBack() {
        Claim expired = queued("a", Duration.ofSeconds(1));
        Claim taken = queued("b", Duration.ofSeconds(1));
        Claim released = queued("c");
        Claim held = queued("d");
        List.of(expired, taken, released, held).forEach(claim -> claim(store, claim));
        release(released);
        pass(Duration.ofSeconds(2));
        claim(queued("b"));

        var answer = store.renew(List.of(expired, taken, released, held)).block();

        assertThat(answer.renewed()).containsExactly(held.id());
        assertThat(answer.lost())
                .containsOnly(
                        Map.entry(expired.id(), LossReason.EXPIRED),
                        Map.entry(taken.id(), LossReason.TAKEN_OVER),
                        Map.entry(released.id(), LossReason.EXPIRED));
        assertThat(inspect("a")).isEqualTo(new LockInfo.Free("a"));
    }

    @Test
    void aKeyThatNobodyUsesLeavesNothingBehindAndItsTokensStillRise() {
        Claim owner = queued("k");
        Claim gone = queued("k");
        long token = grant(owner).fencingToken();
        claim(gone);
        release(gone);
        release(owner);
        assertThat(inspect("never used")).isEqualTo(new LockInfo.Free("never used"));
        assertThat(store.events("watched").take(1).blockLast()).isNotNull();

        assertThat(store.size()).isZero();
        assertThat(grant(queued("k")).fencingToken()).isGreaterThan(token);
    }
}
