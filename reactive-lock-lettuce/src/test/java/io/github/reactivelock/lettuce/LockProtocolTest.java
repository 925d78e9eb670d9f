package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.LEASE;
import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockProtocolTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockBackend backend;

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
    }

    @Test
    void theSameClaimAskedAgainKeepsItsTokenAndStartsItsLeaseAnew() {
        Claim claim = claim("a");
        long token = take(backend, claim);
        fixture.redis.pexpire("{reactivelock:a}", 15_000);

        assertThat(take(backend, claim)).isEqualTo(token);
        assertThat(fixture.redis.pttl("{reactivelock:a}")).isGreaterThan(20_000);
    }

    @Test
    void aWaitingClaimHearsHowLongTheOwnerStillHas() {
        take(backend, claim("a"));
        fixture.redis.pexpire("{reactivelock:a}", 20_000);

        assertThat(ask(backend, claim("a")))
                .isInstanceOfSatisfying(
                        ClaimResult.Queued.class,
                        queued -> assertThat(queued.recheckAfter())
                                .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(20)));
    }

    @Test
    void oneCallRemovesLimitedDeadWaitersAndALiveOneIsServed() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        take(backend, owner);
        String waiters = "{reactivelock:a}:waiters";
        for (int i = 0; i < 250; i++) {
            queue(backend, claim("a"));
        }
        fixture.redis
                .hgetall(waiters)
                .forEach((id, waiter) -> fixture.redis.hset(waiters, id, waiter.replaceFirst(" \\d+ ", " 1 ")));
        Claim alive = claim("a");
        queue(backend, alive);

        assertThat(release(backend, owner)).isTrue();

        assertThat(fixture.redis.zcard("{reactivelock:a}:queue")).isEqualTo(151);
        assertThat(next(signals)).isEqualTo(new Signal.Recheck("a"));
        assertThat(ask(backend, claim("a", LEASE, Claim.Mode.TRY)))
                .as("nobody who came later")
                .isInstanceOf(ClaimResult.Busy.class);
        eventually("whoever lives is served", () -> ask(backend, alive) instanceof ClaimResult.Granted);
        assertThat(fixture.redis.zcard("{reactivelock:a}:queue")).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 99, 100, 101, 450})
    void aTryFindsAFreeLockBehindHoweverManyDeadPlaces(int places) {
        leaveDead(places);

        take(backend, attempt());
        assertThat(fixture.redis.exists("{reactivelock:a}:queue")).isZero();
    }

    @Test
    void aShareTryAndAVoteFindAFreeLockBehindDeadPlaces() {
        leaveDead(250);
        Claim share = share(Share.ONE);
        take(backend, share);
        assertThat(release(backend, share)).isTrue();

        leaveDead(250);
        QuorumNode node = (QuorumNode) backend;
        assertThat(node.vote(attempt(), 0, 0, Duration.ZERO).block().result()).isInstanceOf(ClaimResult.Granted.class);
    }

    /** A hundred of them are counted off a call; the one that lives keeps the mark that the lock is shared. */
    @Test
    void aTryFindsTheRoomOfHoweverManyPermitsWhoseLeasesAreOver() {
        Share permit = Share.permits(1, 451);
        for (int i = 0; i < 451; i++) {
            take(backend, share(permit));
        }
        List<String> holders = fixture.redis.zrange("{reactivelock:a}:queue", 0, -1);
        holders.subList(1, 451).forEach(id -> fixture.redis.zadd("{reactivelock:a}:queue", -1, id));

        assertThat(((LockInfo.Held) backend.inspect("a").block()).shares().units())
                .isEqualTo(1);
        take(backend, share(Share.permits(450, 451)));
    }

    @Test
    void whatSharesLeaveBehindWhenTheirKeyIsLostHoldsNobodyUp() {
        take(backend, share(Share.ONE));
        take(backend, share(Share.ONE));
        fixture.redis.del("{reactivelock:a}");

        Claim writer = claim("a");
        take(backend, writer);
        assertThat(release(backend, writer)).isTrue();
        take(backend, share(Share.ONE));
        take(backend, share(Share.ONE));
        fixture.redis.del("{reactivelock:a}");
        Claim alone = share(Share.ONE);
        take(backend, alone);
        assertThat(release(backend, alone)).isTrue();

        take(backend, claim("a"));
    }

    @Test
    void aReleaseServesAHundredACallAndHasTheRestAsk() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        take(backend, owner);
        for (int i = 0; i < 250; i++) {
            queue(backend, share(Share.ONE, Claim.Mode.QUEUE));
        }
        Claim last = share(Share.ONE, Claim.Mode.QUEUE);
        queue(backend, last);

        assertThat(release(backend, owner)).isTrue();

        for (int i = 0; i < 100; i++) {
            assertThat(next(signals)).isInstanceOf(Signal.Grant.class);
        }
        assertThat(next(signals)).isEqualTo(new Signal.Recheck("a"));
        assertThat(fixture.redis.get("{reactivelock:a}")).startsWith("= 100 ");
        assertThat(ask(backend, last)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(ask(backend, last)).isInstanceOf(ClaimResult.Granted.class);
    }

    private static Claim share(Share share) {
        return share(share, Claim.Mode.TRY);
    }

    private static Claim share(Share share, Claim.Mode mode) {
        return new Claim("a", attempt().id(), "a share", LEASE, mode, Claim.Keeping.RENEWED, share);
    }

    /** The lock is free, and before all who ask now are claims of a process that has ended. */
    private void leaveDead(int places) {
        Claim owner = claim("a");
        take(backend, owner);
        for (int i = 0; i < places; i++) {
            queue(backend, claim("a"));
        }
        String waiters = "{reactivelock:a}:waiters";
        fixture.redis
                .hgetall(waiters)
                .forEach((id, waiter) -> fixture.redis.hset(waiters, id, waiter.replaceFirst(" \\d+ ", " 1 ")));
        fixture.redis.del("{reactivelock:a}");
    }

    @Test
    void waitersAreServedInTheOrderOfArrivalWithRisingTokens() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        long token = take(backend, owner);
        List<Claim> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(claim("a"));
            queue(backend, waiting.get(i));
        }
        queue(backend, waiting.get(0)); // asking again keeps the place
        queue(backend, waiting.get(2));

        for (Claim waiter : waiting) {
            assertThat(release(backend, owner)).isTrue();
            Signal.Grant grant = (Signal.Grant) next(signals);
            assertThat(grant.claimId()).isEqualTo(waiter.id());
            assertThat(grant.fencingToken()).isGreaterThan(token);
            assertThat(take(backend, waiter)).isEqualTo(grant.fencingToken());
            token = grant.fencingToken();
            owner = waiter;
        }
    }

    @Test
    void aGrantGoesToTheWaitersOwnClient() {
        LockBackend other = fixture.backend();
        BlockingQueue<Signal> mine = fixture.signals(backend);
        BlockingQueue<Signal> theirs = fixture.signals(other);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(other, waiter);

        release(backend, owner);

        assertThat(((Signal.Grant) next(theirs)).claimId()).isEqualTo(waiter.id());
        assertThat(mine).isEmpty();
    }

    @Test
    void aReleaseByAnybodyButTheOwnerOnlyLeavesTheQueue() {
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(backend, waiter);

        assertThat(release(backend, claim("a"))).isFalse();
        assertThat(release(backend, waiter)).isFalse();
        assertThat(release(backend, waiter)).isFalse();

        assertThat(fixture.keysOf("a")).containsExactlyInAnyOrder("{reactivelock:a}", "{reactivelock:a}:token");
    }

    @Test
    void aReleaseRepeatedDoesNotTouchTheSuccessor() {
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(backend, waiter);

        assertThat(release(backend, owner)).isTrue();
        assertThat(release(backend, owner)).isFalse();

        assertThat(release(backend, waiter)).isTrue();
    }

    @Test
    void aWaiterThatDidNotAskForAWholeLeaseIsPassedOver() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        Claim dead = claim("a", Duration.ofMillis(1), Claim.Mode.QUEUE);
        Claim alive = claim("a");
        take(backend, owner);
        queue(backend, dead);
        queue(backend, alive);
        eventually("the first waiter is dead", () -> waiters() == 1);

        release(backend, owner);

        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(alive.id());
    }

    @Test
    void aFreeLockGoesToTheFirstInTheQueue() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim first = claim("a");
        Claim second = claim("a");
        take(backend, claim("a"));
        queue(backend, first);
        fixture.redis.del("{reactivelock:a}");

        queue(backend, second);

        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(first.id());
        assertThat(release(backend, first)).isTrue();
        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(second.id());
    }

    @Test
    void theFirstInTheQueueTakesAFreeLockWhenItAsks() {
        Claim first = claim("a");
        take(backend, claim("a"));
        queue(backend, first);
        fixture.redis.del("{reactivelock:a}");

        take(backend, first);

        assertThat(waiters()).isZero();
    }

    @Test
    void aTryLeavesNothingBehindAndDoesNotJumpTheQueue() {
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        assertThat(ask(backend, attempt())).isInstanceOf(ClaimResult.Busy.class);
        assertThat(waiters()).isZero();

        queue(backend, waiter);
        fixture.redis.del("{reactivelock:a}");
        assertThat(ask(backend, attempt())).isInstanceOf(ClaimResult.Busy.class);

        assertThat(release(backend, waiter)).isTrue();
        take(backend, attempt());
    }

    @Test
    void renewalTellsEachClaimHowItStands() {
        Claim kept = claim("kept", Duration.ofSeconds(60), Claim.Mode.QUEUE);
        Claim expired = claim("expired");
        Claim taken = claim("taken");
        Claim overwritten = claim("overwritten");
        List<Claim> all = List.of(kept, expired, taken, overwritten);
        all.forEach(claim -> take(backend, claim));
        fixture.redis.pexpire("{reactivelock:kept}", 20_000);
        fixture.redis.del("{reactivelock:expired}", "{reactivelock:taken}", "{reactivelock:overwritten}");
        take(backend, claim("taken"));
        fixture.redis.rpush("{reactivelock:overwritten}", "x");

        RenewalResult result = backend.renew(all).block();

        assertThat(result.renewed()).containsExactly(kept.id());
        assertThat(result.lost())
                .containsOnlyKeys(expired.id(), taken.id(), overwritten.id())
                .containsEntry(expired.id(), LossReason.EXPIRED)
                .containsEntry(taken.id(), LossReason.TAKEN_OVER);
        assertThat(fixture.redis.pttl("{reactivelock:kept}")).isGreaterThan(20_000);
        assertThat(fixture.redis.exists("{reactivelock:expired}")).isZero();
    }

    @Test
    void aForcedReleaseTellsTheOwnerAndServesTheNext() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        long token = take(backend, owner);
        queue(backend, waiter);

        assertThat(backend.forceRelease("a", token).block()).isTrue();

        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(waiter.id());
        assertThat(next(signals)).isEqualTo(new Signal.Suspect(owner.id(), LossReason.FORCED));
        assertThat(release(backend, owner)).isFalse();
        assertThat(backend.forceRelease("a", token).block()).as("the successor").isFalse();
        assertThat(release(backend, waiter)).isTrue();
        assertThat(backend.forceRelease("a", token).block()).as("nobody").isFalse();
    }

    @Test
    void aLookShowsOwnerTokenLeaseAndLiveWaiters() {
        assertThat(backend.inspect("a").block()).isEqualTo(new LockInfo.Free("a"));
        long token = take(backend, claim("a"));
        queue(backend, claim("a"));

        assertThat(backend.inspect("a").block()).isInstanceOfSatisfying(LockInfo.Held.class, held -> {
            assertThat(held.owner()).isEqualTo("a test");
            assertThat(held.fencingToken()).isEqualTo(token);
            assertThat(held.remaining()).isBetween(Duration.ofSeconds(1), LEASE);
            assertThat(held.waiters()).isOne();
        });
    }

    @Test
    void aRecallGoesToTheOwnersClientAndNamesTheNextClaim() {
        LockBackend other = fixture.backend();
        BlockingQueue<Signal> mine = fixture.signals(backend);
        BlockingQueue<Signal> theirs = fixture.signals(other);
        Claim owner = recallable();
        Claim waiter = claim("a");
        take(backend, owner);
        assertThat(((LockInfo.Held) backend.inspect("a").block()).recallable()).isTrue();

        queue(other, waiter);
        backend.recall("a").block();

        assertThat(next(mine)).isEqualTo(new Signal.Recall(owner.id()));
        assertThat(next(mine)).isEqualTo(new Signal.Recall(owner.id()));
        assertThat(theirs).isEmpty();
        release(backend, owner);
        assertThat(backend.inspect("a").block()).isInstanceOfSatisfying(LockInfo.Held.class, held -> {
            assertThat(held.owner()).isEqualTo("a test");
            assertThat(held.recallable()).isFalse();
        });
    }

    /** It waits for what it has called back, and the release serves it as any other. */
    @Test
    void aTryBehindARecallableOwnerIsQueuedUnlessOthersThatLiveWait() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = recallable();
        Claim tries = attempt();
        take(backend, owner);
        queue(backend, claim("a", Duration.ofMillis(1), Claim.Mode.QUEUE));
        assertThat(next(signals)).isEqualTo(new Signal.Recall(owner.id()));
        eventually("the one that waits is dead", () -> waiters() == 0);

        queue(backend, tries);
        assertThat(ask(backend, attempt())).isInstanceOf(ClaimResult.Busy.class);
        queue(backend, tries);
        release(backend, owner);

        assertThat(next(signals)).isEqualTo(new Signal.Recall(owner.id()));
        assertThat(next(signals)).isEqualTo(new Signal.Recall(owner.id()));
        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(tries.id());
    }

    @Test
    void aLockThatIsKeptBeyondItsHoldIsCalledBackFromNoClient() {
        Claim owner = recallable();
        take(backend, owner);

        assertThat(backend.keep(owner, claim("a")).block()).isTrue();

        assertThat(((LockInfo.Held) backend.inspect("a").block()).recallable()).isFalse();
        assertThat(ask(backend, attempt())).isInstanceOf(ClaimResult.Busy.class);
    }

    /** By the server's own count: what a claim that waits and a try cost where the owner is not to be called back. */
    @Test
    void withoutRetentionNothingIsPublishedAndATryLooksAtNoQueue() {
        take(backend, claim("a"));
        queue(backend, claim("a"));
        fixture.redis.configResetstat();

        assertThat(ask(backend, attempt())).isInstanceOf(ClaimResult.Busy.class);
        backend.recall("a").block();

        assertThat(fixture.calls()).doesNotContainKeys("publish", "zrangebyscore", "hget", "zadd");
    }

    private static Claim recallable() {
        Claim plain = claim("a");
        return new Claim("a", plain.id(), plain.owner(), LEASE, plain.mode(), Claim.Keeping.RENEWED, Share.WHOLE, true);
    }

    private static Claim attempt() {
        return claim("a", LEASE, Claim.Mode.TRY);
    }

    private long waiters() {
        LockInfo info = backend.inspect("a").block();
        return info instanceof LockInfo.Held held ? held.waiters() : 0;
    }
}
