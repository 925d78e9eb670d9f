package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Lost answers, stores that refuse, listeners that throw. */
abstract class FailureCases extends Cases {

    FailureCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void aGrantWhoseAnswerWasLostIsNotLeaked() {
        FaultyBackend backend = faulty();
        LockClient client = impatient(backend);
        backend.onClaim(FaultyBackend::answerLost);

        assertThat(Await.error(client.acquire(key).toFuture())).isInstanceOf(LockUnavailableException.class);

        Await.run(Await.get(client().acquire(key)).release());
    }

    @Test
    void aSilenceIsToldInTheStoresOwnWords() {
        FaultyBackend backend = faulty();
        LockClient client = impatient(backend);
        Await.run(acquired(client).release());
        backend.onClaim(FaultyBackend::answerLost);

        Throwable failure = Await.error(client.acquire(key).toFuture());

        assertThat(backend.whySilent()).isNotBlank();
        assertThat(backend.whySilent(key)).isNotBlank();
        assertThat(failure).hasMessageContaining("did not answer within").hasMessageEndingWith(backend.whySilent(key));
    }

    @Test
    void aGrantWhoseAnswerBecameAnErrorIsNotLeaked() {
        FaultyBackend backend = faulty();
        backend.onClaim(FaultyBackend::answerFails);

        assertThat(Await.error(client(backend).acquire(key).toFuture()))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(key)
                .hasMessageContaining("planted fault");

        Await.run(Await.get(client().acquire(key)).release());
    }

    @Test
    void aClientWorksAgainWhenItsStoreDoes() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend);
        backend.onClaim(FaultyBackend::unreachable);
        assertThat(Await.error(client.acquire(key).toFuture())).isInstanceOf(LockUnavailableException.class);
        assertThat(Await.error(client.tryAcquire(key).toFuture())).isInstanceOf(LockUnavailableException.class);

        backend.mend();

        assertThat(Await.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
    }

    @Test
    void aWaiterOutlivesOneQuestionThatFailed() {
        FaultyBackend backend = faulty();
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> waiting =
                client(backend).with(shortLease()).acquire(key).toFuture();
        untilQueued(holding, key, 1);
        Await.until("the client knows its place", () -> backend.answered() == 1);
        AtomicInteger asked = new AtomicInteger();
        backend.onClaim(claim -> asked.getAndIncrement() == 0 ? FaultyBackend.unreachable(claim) : claim);
        Await.until("a question failed", () -> asked.get() > 0);

        Await.run(held.release());

        Await.run(Await.get(waiting).release());
    }

    @Test
    void aReleaseRepeatedAfterALostAnswerDoesNotFreeTheSuccessor() {
        FaultyBackend backend = faulty();
        LockClient client = impatient(backend);
        LockHandle held = acquired(client);
        LockClient other = client();
        CompletableFuture<LockHandle> successor = other.acquire(key).toFuture();
        untilQueued(other, key, 1);
        backend.onRelease(FaultyBackend::answerLost);

        assertThat(Await.error(held.release().toFuture())).isInstanceOf(LockUnavailableException.class);
        Await.done(successor);
        int asked = backend.releases();
        Await.until("the release was repeated twice", () -> backend.releases() >= asked + 2);

        Await.run(Await.get(successor).renew());
        assertThat(Await.get(successor).isHeld()).isTrue();
        assertThat(Await.isEmpty(client().tryAcquire(key))).isTrue();
        backend.mend();
        Await.run(Await.get(successor).release());
    }

    @Test
    void aReleaseThatDidNotReachTheStoreIsRepeated() {
        FaultyBackend backend = faulty();
        LockHandle held = Await.get(client(backend).acquire(key));
        backend.onRelease(FaultyBackend::unreachable);
        assertThat(Await.error(held.release().toFuture())).isInstanceOf(LockUnavailableException.class);

        backend.mend();

        Await.run(Await.get(client().acquire(key)).release());
    }

    @Test
    void aClaimsAnswerDuringTheReleaseDoesNotReplaceTheReleases() {
        needs(Feature.PUSHED_GRANTS);
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> claimed = Sinks.empty();
        Sinks.Empty<Void> released = Sinks.empty();
        LockClient client = client(backend);
        Await.run(client.withLock(key, Mono.empty()));
        LockClient other = client();
        LockHandle before = Await.get(other.acquire(key));
        int asked = backend.releases();
        backend.onClaim(claim -> claim.delayUntil(answer -> claimed.asMono()));
        backend.onRelease(release -> released.asMono().then(release));
        CompletableFuture<LockHandle> waiting = client.acquire(key).toFuture();
        untilQueued(other, key, 1);
        Await.run(before.release());
        CompletableFuture<Void> release = Await.get(waiting).release().toFuture();
        Await.until("the release is on its way", () -> backend.releases() > asked);

        claimed.tryEmitEmpty().orThrow();
        assertThat(backend.releases()).isEqualTo(asked + 1);
        released.tryEmitEmpty().orThrow();

        Await.until("the release is answered", release::isDone);
        assertThat(release).isCompleted();
    }

    @Test
    void releaseIsIdempotentAndRepeatsItsOutcome() {
        FaultyBackend backend = faulty();
        LockHandle held = Await.get(client(backend).acquire(key));
        Mono<Void> release = held.release();
        assertThat(held.isHeld()).as("not before a subscription").isTrue();

        Await.run(Flux.merge(release, release, held.release()).then());
        LockHandle next = Await.get(client().acquire(key));
        Await.run(held.release());

        assertThat(backend.releases()).isEqualTo(1);
        assertThat(held.isHeld()).isFalse();
        assertThat(Await.isEmpty(held.lost())).isTrue();
        Await.run(next.renew());
        Await.run(next.release());
    }

    @Test
    void theValueOfTheWorkOutlivesAReleaseThatFailed() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend);
        backend.onRelease(FaultyBackend::answerFails);

        assertThat(Await.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
        backend.mend();
    }

    @Test
    void theErrorOfTheWorkIsNotHiddenByAReleaseThatFailed() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend);
        backend.onRelease(FaultyBackend::answerFails);
        ArithmeticException own = new ArithmeticException("the work's own");

        assertThat(Await.error(client.withLock(key, Mono.error(own)).toFuture()))
                .isSameAs(own);
        backend.mend();
    }

    @Test
    void theErrorOfTheWorkIsNotHiddenByALoss() {
        LockClient client = client();
        ArithmeticException own = new ArithmeticException("the work's own");

        Throwable failure =
                Await.error(client.withLock(key, client.forceRelease(key).then(Mono.<String>error(own)))
                        .toFuture());

        assertThat(failure)
                .satisfiesAnyOf(
                        e -> assertThat(e).isSameAs(own), e -> assertThat(e).isInstanceOf(LockLostException.class));
    }

    @Test
    void aListenerThatThrowsBreaksNothing() {
        AtomicInteger told = new AtomicInteger();
        FaultyBackend backend = faulty();
        LockClient client = client(backend, settings -> settings.listener(new Throwing(told)));
        LockClient other = client();

        assertThat(Await.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
        LockHandle forced = Await.get(client.acquire(key));
        Await.get(other.forceRelease(key));
        Await.until("enough nodes of a quorum have heard of it", () -> isFree(other, key));
        Await.error(forced.release().toFuture());
        backend.onRelease(FaultyBackend::answerFails);
        Await.run(client.withLock(key, Mono.empty()));
        backend.mend();

        Await.until("acquired 3 times, released once, ended by force, failed once", () -> told.get() >= 6);
        Await.run(Await.get(other.acquire(key)).release());
    }

    private static final class Throwing implements LockListener {

        private final AtomicInteger told;

        Throwing(AtomicInteger told) {
            this.told = told;
        }

        private void fail() {
            told.incrementAndGet();
            throw new IllegalStateException("a listener that throws (a planted fault)");
        }

        @Override
        public void acquired(LockRequest request, long fencingToken, Duration waited) {
            fail();
        }

        @Override
        public void released(LockRequest request, long fencingToken, Duration held) {
            fail();
        }

        @Override
        public void lost(LockRequest request, LockLostException loss) {
            fail();
        }

        @Override
        public void releaseFailed(LockRequest request, LockUnavailableException failure) {
            fail();
        }
    }
}
