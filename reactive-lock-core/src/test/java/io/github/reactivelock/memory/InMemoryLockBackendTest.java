package io.github.reactivelock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockEvent;
import io.github.reactivelock.spi.LockInfo;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class InMemoryLockBackendTest {

    private static final Duration LEASE = Duration.ofSeconds(10);

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock::get);
    private final AtomicInteger ids = new AtomicInteger();

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
    void aWaitingClaimIsToldWhatIsLeftOfTheOwnersLease() {
        claim(queued("k"));
        pass(Duration.ofSeconds(4));

        assertThat(claim(queued("k"))).isEqualTo(new ClaimResult.Queued(Duration.ofSeconds(6)));
    }

    @Test
    void aReleaseHandsTheLockToTheFirstInLineAndPushesTheGrantToItsClientOnly() {
        InMemoryLockBackend second = store.connect();
        List<Signal> toFirst = signals(store);
        List<Signal> toSecond = signals(second);
        Claim owner = queued("k");
        Claim next = queued("k");
        Claim last = queued("k");
        long token = grant(owner).fencingToken();
        claim(second, next);
        claim(store, last);

        assertThat(release(owner)).isTrue();

        assertThat(toFirst).containsExactly(new Signal.Reconnected());
        assertThat(toSecond).hasSize(2).first().isEqualTo(new Signal.Reconnected());
        Signal.Grant pushed = (Signal.Grant) toSecond.get(1);
        assertThat(pushed.claimId()).isEqualTo(next.id());
        assertThat(pushed.fencingToken())
                .isGreaterThan(token)
                .isEqualTo(grant(next).fencingToken());
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
    void aLockWhoseLeaseRanOutGoesToTheFirstInLineAndNotToWhoeverAsks() {
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
    void aClaimThatIsGrantedInItsOwnAnswerIsNotSignalled() {
        List<Signal> signals = signals(store);
        claim(queued("k", Duration.ofSeconds(1)));
        Claim waiting = queued("k");
        claim(waiting);
        pass(Duration.ofSeconds(2));

        assertThat(claim(waiting)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(signals).containsExactly(new Signal.Reconnected());
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
    void aForcedReleaseTellsTheOwnerAndServesTheNext() {
        List<Signal> signals = signals(store);
        Claim owner = queued("k");
        Claim next = queued("k");
        claim(owner);
        claim(next);

        assertThat(store.forceRelease("k").block()).isTrue();

        assertThat(signals).contains(new Signal.Suspect(owner.id(), LossReason.FORCED));
        assertThat(claim(next)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(store.forceRelease("free").block()).isFalse();
    }

    @Test
    void eventsBeginWithASnapshotAndFollowTheOwners() {
        Claim owner = queued("k");
        Claim next = queued("k");
        long first = grant(owner).fencingToken();
        claim(next);

        StepVerifier.create(store.events("k").take(4))
                .assertNext(event -> assertThat(event)
                        .isEqualTo(new LockEvent.Snapshot(new LockInfo.Held("k", "me", first, LEASE, 1))))
                .then(() -> release(owner))
                .expectNext(new LockEvent.Released("k", first))
                .assertNext(event -> assertThat(event)
                        .isInstanceOfSatisfying(
                                LockEvent.Acquired.class,
                                acquired -> assertThat(acquired.fencingToken()).isGreaterThan(first)))
                .then(() -> release(next))
                .expectNextMatches(LockEvent.Released.class::isInstance)
                .verifyComplete();
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

    @Test
    void whatIsClosedRefusesWhileOtherConnectionsGoOn() {
        InMemoryLockBackend other = store.connect();
        Claim held = queued("k");
        claim(held);
        StepVerifier signals = StepVerifier.create(store.signals())
                .expectNext(new Signal.Reconnected())
                .expectErrorMatches(e -> e.getMessage().contains("closed"))
                .verifyLater();

        store.close().block();
        store.close().block();

        signals.verify(Duration.ofSeconds(5));
        assertThatThrownBy(() -> claim(held)).isInstanceOf(IllegalStateException.class);
        StepVerifier.create(store.events("k")).verifyError(IllegalStateException.class);
        StepVerifier.create(store.signals()).verifyError(IllegalStateException.class);
        assertThat(other.release(held).block()).isTrue();
    }

    @Test
    void aSubscriberThatAsksTheStoreFromWithinASignalIsServed() {
        List<Claim> waiting =
                Flux.range(0, 2_000).map(i -> queued("k")).collectList().block();
        Map<String, Claim> byId = waiting.stream().collect(Collectors.toMap(Claim::id, c -> c));
        AtomicInteger served = new AtomicInteger();
        Disposable listening = store.signals().ofType(Signal.Grant.class).subscribe(grant -> {
            served.incrementAndGet();
            release(byId.get(grant.claimId()));
        });
        Claim owner = queued("k");
        claim(owner);
        waiting.forEach(claim -> claim(store, claim));

        release(owner);

        assertThat(served).hasValue(waiting.size());
        assertThat(store.size()).isZero();
        listening.dispose();
    }

    @Test
    void threadsThatClaimAndReleaseAtOnceMissNoSignalAndKeepTheOrderOfEvents() throws InterruptedException {
        int threads = 4;
        int rounds = 2_000;
        List<LockEvent> events = new CopyOnWriteArrayList<>();
        Disposable watching = store.events("k").skip(1).subscribe(events::add);
        CountDownLatch done = new CountDownLatch(threads * rounds);
        List<Disposable> clients = Flux.range(0, threads)
                .map(i -> client(store.connect(), rounds, done))
                .collectList()
                .block();

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();

        assertThat(events).hasSize(2 * threads * rounds);
        long last = 0;
        for (int i = 0; i < events.size(); i += 2) {
            LockEvent.Acquired acquired = (LockEvent.Acquired) events.get(i);
            assertThat(acquired.fencingToken()).isGreaterThan(last);
            assertThat(events.get(i + 1)).isEqualTo(new LockEvent.Released("k", acquired.fencingToken()));
            last = acquired.fencingToken();
        }
        assertThat(store.size()).isZero();
        clients.forEach(Disposable::dispose);
        watching.dispose();
    }

    /** Claims and releases one key over and over, waiting for pushed grants. */
    private Disposable client(InMemoryLockBackend backend, int rounds, CountDownLatch done) {
        Flux<Signal.Grant> grants =
                backend.signals().ofType(Signal.Grant.class).replay(1).autoConnect(0);
        return Flux.range(0, rounds)
                .concatMap(i -> {
                    Claim claim = queued("k");
                    return backend.claim(claim)
                            .flatMap(answer -> answer instanceof ClaimResult.Granted
                                    ? Mono.just(claim)
                                    : grants.filter(grant -> grant.claimId().equals(claim.id()))
                                            .next()
                                            .thenReturn(claim))
                            .flatMap(backend::release)
                            .doOnNext(owned -> done.countDown());
                })
                .subscribeOn(Schedulers.parallel())
                .subscribe();
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private Claim queued(String key) {
        return queued(key, LEASE);
    }

    private Claim queued(String key, Duration lease) {
        return new Claim(key, "id-" + ids.incrementAndGet(), "me", lease, Claim.Mode.QUEUE);
    }

    private Claim tried(String key) {
        return new Claim(key, "id-" + ids.incrementAndGet(), "me", LEASE, Claim.Mode.TRY);
    }

    /** Error Prone knows it by its name. */
    private @interface CanIgnoreReturnValue {}

    @CanIgnoreReturnValue
    private ClaimResult claim(Claim claim) {
        return claim(store, claim);
    }

    @CanIgnoreReturnValue
    private static ClaimResult claim(InMemoryLockBackend backend, Claim claim) {
        return backend.claim(claim).block();
    }

    private ClaimResult.Granted grant(Claim claim) {
        return (ClaimResult.Granted) claim(claim);
    }

    @CanIgnoreReturnValue
    private Map<String, LossReason> renew(Claim claim) {
        return store.renew(List.of(claim)).block().lost();
    }

    @CanIgnoreReturnValue
    private boolean release(Claim claim) {
        return store.release(claim).block();
    }

    private LockInfo inspect(String key) {
        return store.inspect(key).block();
    }

    private LockInfo.Held inspected(String key) {
        return (LockInfo.Held) inspect(key);
    }

    @CanIgnoreReturnValue
    private static List<Signal> signals(InMemoryLockBackend backend) {
        List<Signal> seen = new CopyOnWriteArrayList<>();
        Disposable unused = backend.signals().subscribe(seen::add);
        return seen;
    }
}
