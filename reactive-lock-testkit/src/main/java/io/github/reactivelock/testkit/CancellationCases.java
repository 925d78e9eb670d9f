package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A flow may be cancelled at any moment: it leaves nothing behind, and the next waiter is served. */
abstract class CancellationCases extends Cases {

    CancellationCases(LockBackendContract contract) {
        super(contract);
    }

    private static <T> UnaryOperator<Mono<T>> answeredAfter(Mono<Void> gate) {
        return command -> command.delayUntil(answer -> gate);
    }

    /** Keeps every value. A subscribed lambda would not see a value that comes during its cancel. */
    private static final class Keeping extends BaseSubscriber<LockHandle> {

        private final Queue<LockHandle> emitted;

        Keeping(Queue<LockHandle> emitted) {
            this.emitted = emitted;
        }

        @Override
        protected void hookOnNext(LockHandle handle) {
            emitted.add(handle);
        }
    }

    private void assertAnotherClientGetsIt() {
        Await.run(Await.get(client().acquire(key)).release());
    }

    @Test
    void rightAfterSubscribing() {
        LockClient client = client();
        Queue<LockHandle> emitted = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 200; i++) {
            client.acquire(key).subscribeWith(new Keeping(emitted)).dispose();
            client.withLock(key, Mono.never()).subscribe().dispose();
        }
        Await.until("what was emitted before its cancel is given back", () -> {
            for (LockHandle late = emitted.poll(); late != null; late = emitted.poll()) {
                Await.run(late.release());
            }
            return isFree(client, key);
        });

        assertAnotherClientGetsIt();
    }

    @Test
    void beforeAGrantIsAnswered() {
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> gate = Sinks.empty();
        backend.onClaim(answeredAfter(gate.asMono()));
        CompletableFuture<LockHandle> cancelled = client(backend).acquire(key).toFuture();
        LockClient observer = client();
        Await.until("the store has granted", () -> !isFree(observer, key));

        cancelled.cancel(false);
        gate.tryEmitEmpty().orThrow();

        assertAnotherClientGetsIt();
    }

    @Test
    void beforeAPlaceInTheQueueIsAnswered() {
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> gate = Sinks.empty();
        backend.onClaim(answeredAfter(gate.asMono()));
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> cancelled = client(backend).acquire(key).toFuture();
        untilQueued(holding, key, 1);

        cancelled.cancel(false);
        gate.tryEmitEmpty().orThrow();

        untilQueued(holding, key, 0);
        Await.run(held.release());
        assertAnotherClientGetsIt();
    }

    @Test
    void whenTheAnswerOfTheStoreIsLost() {
        FaultyBackend backend = faulty();
        backend.onClaim(FaultyBackend::answerLost);
        CompletableFuture<LockHandle> cancelled = client(backend).acquire(key).toFuture();
        LockClient observer = client();
        Await.until("the store has granted", () -> !isFree(observer, key));

        cancelled.cancel(false);

        assertAnotherClientGetsIt();
    }

    @Test
    void beforeTheClaimReachesAStoreThatCarriesItOutLater() {
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> gate = Sinks.empty();
        backend.onClaim(claim -> gate.asMono().then(claim));
        CompletableFuture<LockHandle> cancelled = client(backend).acquire(key).toFuture();
        Await.until("the claim is on its way", () -> backend.claims().size() == 1);

        cancelled.cancel(false);
        Await.until("it is withdrawn", () -> backend.releases() >= 1);
        gate.tryEmitEmpty().orThrow();

        Await.until("the late grant is given back", () -> backend.releases() >= 2);
        assertAnotherClientGetsIt();
    }

    @Test
    void inTheQueue() {
        LockClient holding = client();
        LockClient waiting = client().with(FIFO);
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> cancelled = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 1);
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 2);

        cancelled.cancel(false);

        untilQueued(holding, key, 1);
        Await.run(held.release());
        Await.run(Await.get(next).release());
    }

    @Test
    void inTheLineOfItsOwnClient() {
        LockClient client = client();
        LockHandle held = Await.get(client.acquire(key));
        CompletableFuture<LockHandle> cancelled = client.acquire(key).toFuture();
        CompletableFuture<LockHandle> next = client.acquire(key).toFuture();

        cancelled.cancel(false);

        Await.run(held.release());
        Await.run(Await.get(next).release());
    }

    @Test
    void afterTheStoreGrantedAndBeforeTheClientHearsOfIt() {
        FaultyBackend backend = faulty();
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        backend.onSignal(signal -> false);
        CompletableFuture<LockHandle> cancelled = client(backend).acquire(key).toFuture();
        untilQueued(holding, key, 1);
        backend.onClaim(answeredAfter(Mono.never())); // where nothing is pushed it asks again
        CompletableFuture<LockHandle> next = client().acquire(key).toFuture();
        untilQueued(holding, key, 2);
        Await.run(held.release());

        cancelled.cancel(false);

        Await.run(Await.get(next).release());
    }

    @Test
    void afterTheGrantAndBeforeItsDelivery() {
        Scheduler one = disposedAtTheEnd(Schedulers.fromExecutorService(Executors.newSingleThreadExecutor()));
        CountDownLatch busy = new CountDownLatch(1);
        LockClient client = client(contract.newBackend(), settings -> settings.workScheduler(one));
        Disposable blocking = one.schedule(() -> Await.open(busy));
        CompletableFuture<LockHandle> cancelled = client.acquire(key).toFuture();
        CompletableFuture<String> work =
                client.withLock(key, Mono.just("must not run")).toFuture();
        LockClient observer = client();
        Await.until("the store has granted", () -> !isFree(observer, key));

        cancelled.cancel(false);
        work.cancel(false);
        busy.countDown();

        assertAnotherClientGetsIt();
        Await.until("the thread is free again", blocking::isDisposed);
    }

    @Test
    void duringTheWork() {
        AtomicBoolean workBegun = new AtomicBoolean();
        AtomicBoolean workCancelled = new AtomicBoolean();
        Mono<Object> work =
                Mono.never().doOnSubscribe(begun -> workBegun.set(true)).doOnCancel(() -> workCancelled.set(true));
        Disposable flow = client().withLock(key, work).subscribe();
        Await.until("the work is under way", workBegun::get);

        flow.dispose();

        Await.until("the work is cancelled", workCancelled::get);
        assertAnotherClientGetsIt();
    }

    @Test
    void byADownstreamThatHasSeenEnough() {
        Flux<Integer> enough =
                client().withLockMany(key, held -> Flux.range(0, 100)).take(3);

        assertThat(enough.collectList().block(Await.LIMIT)).containsExactly(0, 1, 2);
        assertAnotherClientGetsIt();
    }

    @Test
    void duringTheRelease() {
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> gate = Sinks.empty();
        LockClient client = client(backend);
        backend.onRelease(release -> gate.asMono().then(release));
        CompletableFuture<String> cancelled =
                client.withLock(key, Mono.just("done")).toFuture();
        Await.until("the release is on its way", () -> backend.releases() >= 1);

        cancelled.cancel(false);
        gate.tryEmitEmpty().orThrow();

        assertAnotherClientGetsIt();
    }

    @Test
    void whileTheReleaseIsNeverAnswered() {
        FaultyBackend backend = faulty();
        LockClient client = impatient(backend);
        backend.onRelease(FaultyBackend::answerLost);
        CompletableFuture<String> cancelled =
                client.withLock(key, Mono.just("done")).toFuture();
        Await.until("the release is on its way", () -> backend.releases() >= 1);

        cancelled.cancel(false);

        assertAnotherClientGetsIt();
        backend.mend();
    }

    @Test
    @Timeout(300)
    void atARandomMomentOverAndOver() {
        CancelRaces races = new CancelRaces(List.of(client(), client(), client()), List.of(key, key("b"), key("c")));

        Await.run(races.run(contract.cancelRaces()), Duration.ofMinutes(4));

        races.verify();
        LockClient observer = client();
        Await.until(
                "all locks are free",
                () -> races.keys().stream()
                        .allMatch(raced -> Await.get(observer.inspect(raced)) instanceof LockInfo.Free));
    }
}
