package io.github.reactivelock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** What the store pushes, to whom and in which order. */
class InMemorySignalsTest extends InMemoryFixture {

    @Test
    void aReleaseGrantsTheFirstInLineAndPushesToItsClientOnly() {
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
    void aForcedReleaseTellsTheOwnerAndServesTheNext() {
        List<Signal> signals = signals(store);
        Claim owner = queued("k");
        Claim next = queued("k");
        long token = ((ClaimResult.Granted) claim(owner)).fencingToken();
        claim(next);

        assertThat(store.forceRelease("k", token).block()).isTrue();

        assertThat(signals).contains(new Signal.Suspect(owner.id(), LossReason.FORCED));
        assertThat(claim(next)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(store.forceRelease("k", token).block()).isFalse();
        assertThat(store.forceRelease("free", token).block()).isFalse();
    }

    @Test
    void eventsBeginWithASnapshotAndFollowTheOwners() {
        Claim owner = queued("k");
        Claim next = queued("k");
        long first = grant(owner).fencingToken();
        claim(next);

        StepVerifier.create(store.events("k").take(4))
                .assertNext(event -> assertThat(event)
                        .isEqualTo(new LockEvent.Snapshot(new LockInfo.Held(
                                "k",
                                "me",
                                first,
                                LEASE,
                                1,
                                Duration.ZERO,
                                List.of(new LockInfo.Waiting("me", Duration.ZERO))))))
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

        signals.verify(Duration.ofSeconds(60));
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
    void parallelClaimsAndReleasesMissNoSignalAndKeepTheOrder() throws InterruptedException {
        int threads = 4;
        int rounds = 2_000;
        List<LockEvent> events = new CopyOnWriteArrayList<>();
        Disposable watching = store.events("k").skip(1).subscribe(events::add);
        CountDownLatch done = new CountDownLatch(threads * rounds);
        List<Disposable> clients = Flux.range(0, threads)
                .map(i -> client(store.connect(), rounds, done))
                .collectList()
                .block();

        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();

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
}
