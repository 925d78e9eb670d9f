package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** A lock that stays taken for its minimum, although its hold was shorter. */
abstract class MinHoldCases extends Cases {

    /** Longer than any round trip, and a whole second as etcd counts them, so that it is over soon. */
    private static final Duration LEAST = Duration.ofSeconds(2);

    MinHoldCases(LockBackendContract contract) {
        super(contract);
    }

    private static LockOptions least(Duration time) {
        return DEFAULTS.withMinHold(time);
    }

    /** A hold that ends at once; when it began, at the earliest. */
    private long shortHold(LockClient client) {
        long before = System.nanoTime();
        Await.run(client.withLock(key, Mono.just("done")));
        return before;
    }

    private static void assertOver(long before, Duration least) {
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(least.toNanos());
    }

    @Test
    void aShortHoldKeepsTheLockForTheRest() {
        LockClient observer = client();
        long before = shortHold(client().with(least(LEAST)));

        boolean wasTaken = Await.get(observer.inspect(key)).isHeld() && Await.isEmpty(observer.tryAcquire(key));
        boolean wasEarly = System.nanoTime() - before < LEAST.toNanos();

        assertThat(wasTaken || !wasEarly).isTrue();
        LockHandle next = Await.get(observer.acquire(key));
        assertOver(before, LEAST);
        Await.run(next.release());
    }

    @Test
    void theTokenStaysAndTheNextOneIsHigher() {
        LockClient client = client().with(least(LEAST));
        long token = Await.get(client.withLock(key, held -> Mono.just(held.fencingToken())));
        LockInfo after = Await.get(client.inspect(key));

        assertThat(after.held().map(LockInfo.Held::fencingToken).orElse(token)).isEqualTo(token);
        LockHandle next = Await.get(client().acquire(key));
        assertThat(next.fencingToken()).isGreaterThan(token);
        Await.run(next.release());
    }

    @ParameterizedTest
    @EnumSource
    void flowsOfTheSameClientWaitForTheRestToo(Fairness fairness) {
        LockClient client = client().with(least(LEAST).withFairness(fairness));
        long before = System.nanoTime();
        LockHandle held = Await.get(client.acquire(key));
        CompletableFuture<LockHandle> next =
                client.with(DEFAULTS.withFairness(fairness)).acquire(key).toFuture();
        Await.run(held.release());

        assertThat(held.isHeld()).isFalse();
        LockHandle after = Await.get(next);
        assertOver(before, LEAST);
        Await.run(after.release());
    }

    @Test
    void waitersOfOtherClientsGetItSoonAfterTheRest() {
        LockHandle held = Await.get(client().with(least(LEAST)).acquire(key));
        LockClient other = client();
        CompletableFuture<LockHandle> next = other.acquire(key).toFuture();
        untilQueued(other, key, 1);

        Await.run(held.release());

        Await.run(Await.get(next).release());
    }

    @Test
    void aHoldThatLastedLongerFreesTheLock() {
        LockClient client = client().with(least(Duration.ofMillis(1)));
        Await.run(client.withLock(key, Mono.delay(Duration.ofMillis(100))));

        assertThat(isFree(client, key)).isTrue();
    }

    @Test
    void itIsKeptWhenTheClientIsGone() {
        needs(Feature.OUTLASTS_CLIENT);
        LockClient gone = client().with(least(LEAST));
        LockClient observer = client();
        long before = shortHold(gone);
        Await.run(gone.close());

        Await.run(Await.get(observer.acquire(key)).release());

        assertOver(before, LEAST);
    }

    @Test
    void aClientThatIsClosedKeepsWhatItsHoldsPromised() {
        needs(Feature.OUTLASTS_CLIENT);
        LockClient gone = client().with(least(LEAST));
        LockClient observer = client();
        long before = System.nanoTime();
        LockHandle held = Await.get(gone.acquire(key));
        assertThat(held.isHeld()).isTrue();
        Await.run(gone.close());

        Await.run(Await.get(observer.acquire(key)).release());

        assertOver(before, LEAST);
    }

    @Test
    void anOperatorEndsIt() {
        LockClient client = client().with(least(Duration.ofSeconds(15)));
        LockClient operator = client();
        Await.run(client.withLock(key, Mono.just("done")));

        boolean ended = Await.get(operator.forceRelease(key));

        assertThat(ended).isTrue();
        assertThat(isFree(operator, key)).isTrue();
    }

    @Test
    void aLostAnswerIsAskedForAgainAndKeepsNothingLonger() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend).with(least(LEAST));
        AtomicInteger asked = new AtomicInteger();
        backend.onRelease(release -> asked.getAndIncrement() == 0 ? FaultyBackend.answerFails(release) : release);
        long before = System.nanoTime();
        Await.run(client.withLock(key, Mono.just("done")));

        LockHandle next = Await.get(client().acquire(key));

        assertOver(before, LEAST);
        assertThat(asked).hasValueGreaterThan(1);
        assertThat(next.isHeld()).isTrue();
        Await.run(next.release());
    }

    /** As a store sees it: a late command for a claim that has left its lock to another concerns no lock. */
    @Test
    void whatIsSaidLateOfTheHoldChangesNothing() {
        LockBackend store = closedAtTheEnd(contract.newBackend());
        Claim held = claim(Duration.ofMinutes(1));
        Claim kept = claim(Duration.ofMinutes(2));
        assertThat(Await.get(store.claim(held))).isInstanceOf(ClaimResult.Granted.class);

        assertThat(Await.get(store.keep(held, kept))).isTrue();
        assertThat(Await.get(store.keep(held, kept))).isTrue();
        assertThat(Await.get(store.release(held))).isFalse();
        assertThat(Await.get(store.renew(List.of(held))).renewed()).isEqualTo(Set.of());
        assertThat(Await.get(store.inspect(key)).isHeld()).isTrue();

        assertThat(Await.get(store.release(kept))).isTrue();
        assertThat(Await.get(store.keep(held, kept))).isFalse();
        assertThat(Await.get(store.inspect(key)).isFree()).isTrue();
    }

    @Test
    void aLockOfAnotherIsNotKept() {
        LockBackend store = closedAtTheEnd(contract.newBackend());
        Claim owner = claim(Duration.ofMinutes(1));
        Claim stranger = claim(Duration.ofMinutes(1));
        assertThat(Await.get(store.claim(owner))).isInstanceOf(ClaimResult.Granted.class);

        assertThat(Await.get(store.keep(stranger, claim(Duration.ofMinutes(1)))))
                .isFalse();

        assertThat(Await.get(store.release(owner))).isTrue();
    }

    private Claim claim(Duration lease) {
        String id = UUID.randomUUID().toString().substring(0, 22);
        return new Claim(key, id, "a minimum", lease, Claim.Mode.QUEUE);
    }
}
