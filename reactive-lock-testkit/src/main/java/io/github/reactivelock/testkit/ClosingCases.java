package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.Snapshots;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LossReason;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The end of a client. */
abstract class ClosingCases extends Cases {

    ClosingCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void closeReleasesWhatIsHeldAndServesTheNext() {
        LockClient closing = client();
        LockClient other = client();
        LockHandle held = Await.get(closing.acquire(key));
        CompletableFuture<LockHandle> next = other.acquire(key).toFuture();
        untilQueued(other, key, 1);

        Await.run(closing.close());

        assertThat(Await.get(held.lost()).reason()).isEqualTo(LossReason.CLIENT_CLOSED);
        assertThat(held.isHeld()).isFalse();
        Await.run(Await.get(next).release());
    }

    /** A log that says of several stores which one did not close. */
    @Test
    void aStoreSaysWhichItIs() {
        LockBackend backend = contract.newBackend();
        client(backend);

        assertThat(backend.toString())
                .isNotBlank()
                .doesNotContain(backend.getClass().getName() + "@");
    }

    @Test
    void noSnapshotOfTheProcessIsTakenWhileAKeyIsHeld() {
        LockHandle held = Await.get(client().acquire(key));

        try {
            assertThatThrownBy(Snapshots::begin)
                    .hasMessageContaining(key)
                    .hasMessageContaining("close it before the snapshot and make another one after it");
        } finally {
            Snapshots.end();
        }
        Await.run(held.release());
    }

    @Test
    void closeCancelsWorkUnderALock() {
        LockClient closing = client();
        AtomicBoolean begun = new AtomicBoolean();
        AtomicBoolean cancelled = new AtomicBoolean();
        CompletableFuture<Object> work = closing.withLock(
                        key,
                        Mono.never()
                                .doOnSubscribe(subscription -> begun.set(true))
                                .doOnCancel(() -> cancelled.set(true)))
                .toFuture();
        Await.until("the work is under way", begun::get);

        Await.run(closing.close());

        assertThat(Await.error(work)).isInstanceOf(LockLostException.class);
        assertThat(cancelled).isTrue();
    }

    @Test
    void closeFailsWhatWaitsAndLeavesTheQueue() {
        LockClient closing = client();
        LockClient other = client();
        LockHandle held = Await.get(other.acquire(key));
        List<CompletableFuture<LockHandle>> waiting = List.of(
                closing.acquire(key).toFuture(),
                closing.acquire(key).toFuture(),
                closing.with(FIFO).acquire(key).toFuture());
        untilQueued(other, key, 2);

        Await.run(closing.close());

        waiting.forEach(waiter -> assertThat(Await.error(waiter))
                .isInstanceOf(LockClientClosedException.class)
                .hasMessageContaining(key));
        untilQueued(other, key, 0);
        Await.run(held.release());
    }

    @Test
    void aGrantThatComesAfterCloseBeganIsGivenBack() {
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> gate = Sinks.empty();
        backend.onClaim(claim -> claim.delayUntil(answer -> gate.asMono()));
        LockClient closing = client(backend);
        CompletableFuture<LockHandle> waiting = closing.acquire(key).toFuture();
        LockClient other = client();
        Await.until("the store has granted", () -> !isFree(other, key));

        CompletableFuture<Void> closed = closing.close().toFuture();
        gate.tryEmitEmpty().orThrow();

        Await.until("it is closed", closed::isDone);
        assertThat(Await.error(waiting)).isInstanceOf(LockClientClosedException.class);
        Await.run(Await.get(other.acquire(key)).release());
    }

    @Test
    void whatIsClosedRefusesEverything() {
        LockClient closed = client();
        Await.run(closed.withLock(key, Mono.empty()));
        Await.run(closed.close());
        Await.run(closed.close());

        for (Mono<?> refused : List.of(
                closed.acquire(key),
                closed.tryAcquire(key),
                closed.withLock(key, Mono.just("never")),
                closed.withLock(List.of(key), Mono.just("never")),
                closed.inspect(key),
                closed.events(key).next(),
                closed.awaitRelease(key),
                closed.forceRelease(key))) {
            assertThat(Await.error(refused.toFuture())).isInstanceOf(LockClientClosedException.class);
        }
    }

    @Test
    void closeEndsWhatWatches() {
        LockClient closing = client();
        LockHandle held = Await.get(client().acquire(key));
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> watching =
                closing.events(key).doOnNext(seen::add).then().toFuture();
        CompletableFuture<Void> released = closing.awaitRelease(key).toFuture();
        Await.until("the watch is in force", () -> !seen.isEmpty());

        Await.run(closing.close());

        assertThat(Await.error(watching)).isInstanceOf(LockClientClosedException.class);
        assertThat(Await.error(released)).isInstanceOf(LockClientClosedException.class);
        Await.run(held.release());
    }

    @Test
    void aBackendThatItsClientClosedMayBeClosedAgain() {
        LockBackend used = contract.newBackend();
        LockBackend idle = contract.newBackend();
        LockClient closing = client(used);
        Await.run(closing.withLock(key, Mono.empty()));

        Await.run(closing.close());
        Await.run(client(idle).close());

        Await.run(used.close());
        Await.run(idle.close());
    }

    @Test
    void closeIsBoundedWhenTheStoreIsSilent() {
        FaultyBackend backend = faulty();
        LockClient closing = impatient(backend);
        acquired(closing);
        backend.onRelease(FaultyBackend::answerLost);

        Await.run(closing.close());

        assertThat(backend.releases()).isPositive();
    }

    @Test
    void aClosedClientLeavesNoThread() {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        LockClient closing = client();
        Await.run(closing.withLock(key, Mono.empty()));

        Await.run(closing.close());

        Await.until(
                "no thread of the lock client is left",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName)
                        .filter(name -> !name.startsWith("reactive-lock-work-")) // of all clients
                        .noneMatch(name -> name.startsWith("reactive-lock")));
    }

    @Test
    void theClientGivenByTheUserSurvivesClose() {
        Optional<LockBackendContract.Lent> lent = contract.lent();
        assumeTrue(lent.isPresent(), "this backend takes no client of the user");
        LockBackendContract.Lent given = lent.orElseThrow();
        LockClient closing = client(given.backend());
        Await.run(closing.withLock(key, Mono.empty()));

        Await.run(closing.close());

        assertThat(given.clientWorks().getAsBoolean()).isTrue();
    }
}
