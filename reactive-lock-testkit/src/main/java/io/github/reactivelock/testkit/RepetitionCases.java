package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/**
 * Every verb is idempotent: a driver whose connection broke sends commands without an answer again, and the store may
 * have carried them out the first time. The cases call the store itself, without the engine.
 */
abstract class RepetitionCases extends Cases {

    RepetitionCases(LockBackendContract contract) {
        super(contract);
    }

    /** A backend with a subscriber to its signals, as stores expect. */
    private LockBackend backend() {
        LockBackend made = contract.newBackend();
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        disposedAtTheEnd(made.signals().subscribe(signals::add, error -> {}));
        Await.until("pushes arrive", () -> !signals.isEmpty());
        return closedAtTheEnd(made);
    }

    private Claim claim() {
        return claim(key, Share.WHOLE);
    }

    private static Claim claim(String key, Share share) {
        String id = UUID.randomUUID().toString().substring(0, 22);
        return new Claim(
                key, id, "a repetition", Duration.ofMinutes(1), Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
    }

    private static long granted(LockBackend backend, Claim claim) {
        ClaimResult.Granted[] granted = new ClaimResult.Granted[1];
        Await.until("the claim is granted", () -> {
            granted[0] = Await.get(backend.claim(claim)) instanceof ClaimResult.Granted grant ? grant : null;
            return granted[0] != null;
        });
        return granted[0].fencingToken();
    }

    private static ClaimResult.Queued queued(LockBackend backend, Claim claim) {
        ClaimResult answer = Await.get(backend.claim(claim));
        assertThat(answer).isInstanceOf(ClaimResult.Queued.class);
        return (ClaimResult.Queued) answer;
    }

    private LockInfo.Held held(LockBackend backend) {
        return (LockInfo.Held) Await.get(backend.inspect(key));
    }

    @Test
    void aClaimSaidTwiceIsOneGrantOrOnePlace() {
        LockBackend backend = backend();
        Claim owner = claim();
        Claim waiter = claim();
        long token = granted(backend, owner);
        queued(backend, waiter);

        assertThat(Await.get(backend.claim(owner)))
                .isInstanceOfSatisfying(
                        ClaimResult.Granted.class,
                        again -> assertThat(again.fencingToken()).isEqualTo(token));
        queued(backend, waiter);

        assertThat(held(backend).waiters()).isEqualTo(1);
        assertThat(Await.get(backend.release(waiter))).isFalse();
        assertThat(Await.get(backend.release(owner))).isTrue();
        assertThat(Await.get(backend.inspect(key))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void aRenewalSaidTwiceRenewsAndBringsNothingBack() {
        LockBackend backend = backend();
        Claim owner = claim();
        Claim waiter = claim();
        long token = granted(backend, owner);
        queued(backend, waiter);

        for (int i = 0; i < 2; i++) {
            assertThat(Await.get(backend.renew(List.of(owner))).renewed()).containsExactly(owner.id());
        }
        assertThat(held(backend).fencingToken()).isEqualTo(token);
        Await.run(backend.release(owner));
        for (int i = 0; i < 2; i++) {
            assertThat(Await.get(backend.renew(List.of(owner))).lost()).containsOnlyKeys(owner.id());
        }

        assertThat(granted(backend, waiter)).isGreaterThan(token);
        assertThat(Await.get(backend.release(waiter))).isTrue();
    }

    /** One lock of a batch is spoiled at the store, and costs no other of them. */
    @Test
    void eachLockOfABatchIsRenewedForItself() {
        LockBackend backend = backend();
        List<Claim> batch = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            batch.add(claim(key("batch " + i), Share.WHOLE));
            if (backend.supports(Share.ONE)) {
                batch.add(claim(key("shared batch " + i), Share.ONE));
            }
        }
        batch.forEach(claim -> assertThat(granted(backend, claim)).isPositive());
        List<Claim> spoiled = batch.subList(0, batch.size() / 3);
        List<Claim> others = batch.subList(spoiled.size(), batch.size());
        List<Runnable> mends =
                spoiled.stream().map(claim -> contract.spoil(claim.key())).toList();

        // Some stores learn of what was ended beside them by a push, which may come after the first renewal.
        Await.until("what was spoiled is not renewed, and the others are each time", () -> {
            Set<String> renewed = Await.get(backend.renew(batch)).renewed();
            assertThat(renewed).containsAll(others.stream().map(Claim::id).toList());
            return renewed.size() == others.size();
        });
        mends.forEach(Runnable::run);

        others.forEach(claim ->
                assertThat(Await.get(backend.release(claim))).as(claim.key()).isTrue());
        // As an owner does that has lost its hold: a minority of a quorum may have kept it.
        spoiled.forEach(claim ->
                assertThat(Await.get(backend.release(claim))).as(claim.key()).isFalse());
    }

    @Test
    void aReleaseSaidTwiceLeavesTheSuccessorAlone() {
        LockBackend backend = backend();
        Claim owner = claim();
        Claim waiter = claim();
        long token = granted(backend, owner);
        queued(backend, waiter);

        assertThat(Await.get(backend.release(owner))).isTrue();
        long next = granted(backend, waiter);
        assertThat(Await.get(backend.release(owner))).isFalse();

        assertThat(next).isGreaterThan(token);
        assertThat(held(backend).fencingToken()).isEqualTo(next);
        assertThat(Await.get(backend.release(waiter))).isTrue();
    }

    @Test
    void aForcedReleaseSaidTwiceLeavesTheSuccessorAlone() {
        LockBackend backend = backend();
        LockBackend operator = backend();
        Claim owner = claim();
        Claim waiter = claim();
        long token = granted(backend, owner);
        queued(backend, waiter);

        assertThat(Await.get(operator.forceRelease(key, token))).isTrue();
        long next = granted(backend, waiter);
        assertThat(Await.get(operator.forceRelease(key, token))).isFalse();

        assertThat(held(backend).fencingToken()).isEqualTo(next);
        assertThat(Await.get(backend.renew(List.of(waiter))).renewed()).containsExactly(waiter.id());
        assertThat(Await.get(backend.release(owner))).isFalse();
        assertThat(Await.get(backend.release(waiter))).isTrue();
    }

    @Test
    void aForcedReleaseOfAGrantThatIsNotInForceDoesNothing() {
        LockBackend backend = backend();
        Claim first = claim();
        long ended = granted(backend, first);
        assertThat(Await.get(backend.release(first))).isTrue();
        assertThat(Await.get(backend.forceRelease(key, ended)))
                .as("the lock is free")
                .isFalse();
        Claim second = claim();
        long token = granted(backend, second);

        assertThat(Await.get(backend.forceRelease(key, ended)))
                .as("a token before")
                .isFalse();
        assertThat(Await.get(backend.forceRelease(key, token + FencingTokens.of(1))))
                .as("a token never given")
                .isFalse();

        assertThat(held(backend).fencingToken()).isEqualTo(token);
        assertThat(Await.get(backend.release(second))).isTrue();
    }

    @Test
    void aQueuedAnswersTokenLiesBetweenTheLastGrantAndTheNext() {
        LockBackend backend = backend();
        LockBackend operator = backend();
        Claim holder = claim();
        Claim next = claim();
        Claim again = claim();
        long held = granted(backend, holder);
        long before = queued(backend, again).newestToken();
        assertThat(Await.get(operator.forceRelease(key, held))).isTrue();
        long ended = granted(backend, again);
        assertThat(Await.get(operator.forceRelease(key, ended))).isTrue();
        long between = granted(operator, next);

        ClaimResult.Queued answer = queued(backend, again);

        assertThat(Await.get(operator.release(next))).isTrue();
        long later = granted(backend, again);
        assertThat(before).isLessThan(ended);
        assertThat(answer.newestToken()).isGreaterThanOrEqualTo(ended).isLessThan(later);
        assertThat(List.of(held, ended, between, later)).isSorted().doesNotHaveDuplicates();
        assertThat(Await.get(backend.release(holder))).isFalse();
        assertThat(Await.get(backend.release(again))).isTrue();
    }
}
