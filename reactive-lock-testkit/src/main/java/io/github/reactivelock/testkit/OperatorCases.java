package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Calls for operators: inspect, events, forced release. */
abstract class OperatorCases extends Cases {

    OperatorCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void aClientIsReadyWhenItsStoreHasAnswered() {
        LockBackend backend = contract.newBackend();
        LockClient client = client(backend, settings -> settings);

        Await.run(client.ready());

        assertThat(backend.isReady()).isTrue();
        Await.run(client.ready());
        Await.run(client.withLock(key, Mono.empty()));
    }

    @Test
    void inspectShowsOwnerTokenLeaseAndWaiters() {
        LockClient client = client(contract.newBackend(), settings -> settings.name("worker-7"));
        LockClient other = client();
        assertThat(Await.get(other.inspect(key))).isEqualTo(new LockInfo.Free(key));
        LockHandle held = Await.get(client.acquire(key));
        CompletableFuture<LockHandle> waiting =
                client().with(DEFAULTS.withOwner("report job")).acquire(key).toFuture();
        untilQueued(other, key, 1);

        LockInfo.Held info = (LockInfo.Held) Await.get(other.inspect(key));

        assertThat(info.key()).isEqualTo(key);
        assertThat(info.owner()).isEqualTo("worker-7");
        assertThat(info.fencingToken()).isEqualTo(held.fencingToken());
        assertThat(info.remaining()).isPositive().isLessThanOrEqualTo(DEFAULTS.lease());
        Await.run(held.release());
        Await.done(waiting);
        assertThat(((LockInfo.Held) Await.get(other.inspect(key))).owner()).isEqualTo("report job");
        Await.run(Await.get(waiting).release());
    }

    /** As the page on semantics has it. */
    @Test
    void workThatLostItsLockIsDoneAgainWithAHigherToken() {
        Retry afterALoss = Retry.max(3).filter(LockLostException.class::isInstance);
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        CompletableFuture<Long> done = client().withLock(key, held -> {
                    tokens.add(held.fencingToken());
                    return tokens.size() == 1 ? Mono.never() : Mono.just(held.fencingToken());
                })
                .retryWhen(afterALoss)
                .toFuture();
        Await.until("the work runs", () -> !tokens.isEmpty());

        assertThat(Await.get(client().forceRelease(key))).isTrue();

        assertThat(Await.get(done)).isGreaterThan(tokens.element());
        assertThat(tokens).hasSize(2);
        Mono<Long> failing = client().withLock(key, held -> {
            tokens.add(held.fencingToken());
            return Mono.error(new IllegalArgumentException("the work's own"));
        });
        assertThat(Await.error(failing.retryWhen(afterALoss).toFuture())).isInstanceOf(IllegalArgumentException.class);
        assertThat(tokens).hasSize(3);
    }

    @Test
    void eventsBeginWithASnapshotAndTellOfEveryOwner() {
        LockClient client = client();
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = client().events(key).subscribe(seen::add);
        Await.until("the watch is in force", () -> !seen.isEmpty());
        LockHandle first = Await.get(client.acquire(key));
        CompletableFuture<LockHandle> next =
                client().with(DEFAULTS.withOwner("next")).acquire(key).toFuture();
        untilQueued(client, key, 1);
        untilTold(2, seen);
        Await.run(first.release());
        LockHandle second = Await.get(next);
        untilTold(4, seen);
        Await.run(second.release());

        Await.until("five events", () -> seen.size() >= 5);

        assertThat(seen).hasSize(5);
        assertThat(seen.poll()).isEqualTo(new LockEvent.Snapshot(new LockInfo.Free(key)));
        assertThat(seen.poll())
                .isInstanceOfSatisfying(
                        LockEvent.Acquired.class,
                        acquired -> assertThat(acquired.fencingToken()).isEqualTo(first.fencingToken()));
        assertThat(seen.poll()).isEqualTo(new LockEvent.Released(key, first.fencingToken()));
        assertThat(seen.poll()).isEqualTo(new LockEvent.Acquired(key, "next", second.fencingToken()));
        assertThat(seen.poll()).isEqualTo(new LockEvent.Released(key, second.fencingToken()));
        watching.dispose();
    }

    @Test
    void aWatcherThatComesIsNoNewsForThoseThatAreThere() {
        LockClient observer = client();
        Queue<LockEvent> first = new ConcurrentLinkedQueue<>();
        Queue<LockEvent> second = new ConcurrentLinkedQueue<>();
        Disposable watching = observer.events(key).subscribe(first::add);
        Await.until("the watch is in force", () -> !first.isEmpty());
        Disposable joined = observer.events(key).subscribe(second::add);
        Await.until("the other one is", () -> !second.isEmpty());

        LockHandle held = Await.get(client().acquire(key));

        Await.until("both are told", () -> first.size() > 1 && second.size() > 1);
        assertThat(first).hasSize(2);
        watching.dispose();
        joined.dispose();
        Await.run(held.release());
    }

    private void untilTold(int events, Queue<LockEvent> seen) {
        if (contract.lacking().contains(Feature.BRIEF_OWNERS)) {
            Await.until(events + " events", () -> seen.size() >= events);
        }
    }

    @Test
    void awaitReleaseCompletesWhenTheLockIsReleased() {
        LockClient observer = client();
        Await.run(observer.awaitRelease(key));
        LockHandle held = Await.get(client().acquire(key));
        CompletableFuture<Void> released = observer.awaitRelease(key).toFuture();
        Queue<LockEvent> watched = new ConcurrentLinkedQueue<>();
        Disposable watching = observer.events(key).subscribe(watched::add);
        Await.until("another watch is in force", () -> !watched.isEmpty());
        assertThat(released).isNotDone();

        Await.run(held.release());

        Await.until("it completes", released::isDone);
        assertThat(released).isCompleted();
        watching.dispose();
    }

    @Test
    void awaitReleaseCompletesWhenTheLeaseRunsOut() {
        LockHandle abandoned = Await.get(client().with(notRenewed()).acquire(key));

        Await.run(client().awaitRelease(key));

        assertThat(abandoned.isHeld()).isFalse();
    }

    @Test
    void aForcedReleaseServesTheNextAndTheHolderIsToldWhy() {
        needs(Feature.PUSHED_LOSS);
        LockClient operator = client();
        FaultyBackend backend = faulty();
        LockHandle held = Await.get(client(backend).acquire(key));
        CompletableFuture<LockHandle> next = client().acquire(key).toFuture();
        untilQueued(operator, key, 1);
        // An earlier push has no listener, and the holder would learn of it by its next renewal.
        Await.run(backend.listening());

        assertThat(Await.get(operator.forceRelease(key))).isTrue();

        assertThat(Await.get(held.lost()).reason()).isEqualTo(LossReason.FORCED);
        assertThat(held.isHeld()).isFalse();
        assertThat(Await.error(held.release().toFuture())).isInstanceOf(LockLostException.class);
        assertThat(Await.get(next).isHeld()).isTrue();
        Await.run(Await.get(next).renew());
        Await.run(Await.get(next).release());
    }

    @Test
    void aHolderThatMissedAForcedReleaseLearnsOfItByRenewing() {
        FaultyBackend backend = faulty();
        backend.onSignal(signal -> false);
        LockHandle held = Await.get(client(backend).with(shortLease()).acquire(key));

        Await.get(client().forceRelease(key));

        assertThat(Await.get(held.lost()).fencingToken()).isEqualTo(held.fencingToken());
    }

    @Test
    void aForcedReleaseOfAFreeLockIsFalse() {
        assertThat(Await.get(client().forceRelease(key))).isFalse();
    }
}
