package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockHandle;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The same key again, below its own hold. */
abstract class ReentrancyCases extends Cases {

    ReentrancyCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void aKeyBelowItsHoldJoinsItWithoutARoundTrip() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend);
        LockClient other = client();

        Mono<String> nested = client.withLock(
                key,
                client.withLock(key, client.withLock(key, Mono.just("inside")))
                        .flatMap(inside -> Mono.fromCallable(() -> inside)
                                .filterWhen(unused ->
                                        other.tryAcquire(key).hasElement().map(got -> !got))));

        assertThat(Await.get(nested)).as("held until the outermost ends").isEqualTo("inside");
        assertThat(backend.claims()).hasSize(1);
        assertThat(isFree(other, key)).isTrue();
    }

    @Test
    void aReentrantAcquisitionDoesNotWaitBehindThoseInTheQueue() {
        LockClient client = client();
        LockClient other = client();
        Sinks.Empty<Void> gate = Sinks.empty();
        CompletableFuture<String> nested = client.withLock(
                        key, gate.asMono().then(client.withLock(key, Mono.just("inside"))))
                .toFuture();
        Await.until("the outer lock is held", () -> !isFree(other, key));
        CompletableFuture<LockHandle> waiting = other.acquire(key).toFuture();
        untilQueued(other, key, 1);

        gate.tryEmitEmpty().orThrow();

        assertThat(Await.get(nested)).isEqualTo("inside");
        Await.run(Await.get(waiting).release());
    }

    @Test
    void branchesBesideEachOtherExcludeOneAnother() {
        LockClient client = client();
        LostUpdateCounter counter = new LostUpdateCounter();

        Await.run(Flux.range(0, 20)
                .flatMap(branch -> client.withLock(key, counter.increment()))
                .then());

        counter.verify();
        assertThat(counter.value()).isEqualTo(20);
    }

    @Test
    void acquireIsReentrantForTheOwnerNamedInTheContext() {
        LockClient client = client();
        LockClient other = client();

        Mono<Boolean> freeInBetween = client.acquire(key)
                .flatMap(first -> client.acquire(key)
                        .filter(second -> second.fencingToken() == first.fencingToken())
                        .flatMap(LockHandle::release)
                        .then(other.tryAcquire(key).hasElement())
                        .delayUntil(unused -> first.release()))
                .contextWrite(LockContext.owner("saga-17"));

        assertThat(Await.get(freeInBetween)).isFalse();
        assertThat(isFree(other, key)).isTrue();
    }

    @Test
    void anotherOwnerOfTheContextIsSomebodyElse() {
        LockClient client = client();
        LockHandle held = Await.get(client.acquire(key).contextWrite(LockContext.owner("one")));

        assertThat(Await.isEmpty(client.tryAcquire(key).contextWrite(LockContext.owner("other"))))
                .isTrue();
        Await.run(held.release());
    }

    @Test
    void aHoldOfAnotherClientIsNotJoined() {
        LockClient client = client();
        LockClient other = client();

        assertThat(Await.get(client.withLock(key, other.tryAcquire(key).hasElement())))
                .isFalse();
    }

    @Test
    void anInnerBranchThatOutlivesTheOuterOneKeepsTheLock() {
        LockClient client = client();
        LockClient other = client();
        Sinks.Empty<Void> gate = Sinks.empty();
        Queue<CompletableFuture<Void>> inner = new ConcurrentLinkedQueue<>();

        Await.run(client.withLock(key, Mono.deferContextual(context -> {
            inner.add(client.withLock(key, gate.asMono()).contextWrite(context).toFuture());
            return Mono.empty();
        })));

        assertThat(Await.isEmpty(other.tryAcquire(key))).isTrue();
        gate.tryEmitEmpty().orThrow();
        Await.until("the inner branch is over", inner.element()::isDone);
        Await.run(Await.get(other.tryAcquire(key)).release());
    }
}
