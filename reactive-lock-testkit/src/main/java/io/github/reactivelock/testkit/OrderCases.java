package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Which waiter is next, and how it learns of its grant. */
abstract class OrderCases extends Cases {

    /** So long that no waiter is served by a poll. */
    private static final LockOptions HOURS = DEFAULTS.withLease(Duration.ofHours(10));

    private final Queue<String> served = new ConcurrentLinkedQueue<>();

    OrderCases(LockBackendContract contract) {
        super(contract);
    }

    private CompletableFuture<Void> flow(LockClient client, String name) {
        return client.<Void>withLock(key, Mono.fromRunnable(() -> served.add(name)))
                .toFuture();
    }

    /** A backend whose answers never ask for another question. */
    private FaultyBackend neverLookingAgain() {
        FaultyBackend backend = faulty();
        backend.onClaim(claim -> claim.map(answer ->
                answer instanceof ClaimResult.Queued ? new ClaimResult.Queued(Duration.ofDays(365)) : answer));
        return backend;
    }

    @ParameterizedTest
    @ValueSource(strings = {"012012012", "000111222", "011100220"})
    void fifoServesAllClientsInOrderOfArrival(String clientsOfFlows) {
        needs(Feature.ARRIVAL_ORDER);
        List<LockClient> clients =
                IntStream.range(0, 3).mapToObj(i -> client().with(FIFO)).toList();
        LockClient observer = client();
        LockHandle held = Await.get(observer.acquire(key));
        List<CompletableFuture<Void>> flows = new ArrayList<>();
        List<String> arrived = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            flows.add(flow(clients.get(clientsOfFlows.charAt(i) - '0'), "flow " + i));
            arrived.add("flow " + i);
            untilQueued(observer, key, i + 1);
        }

        Await.run(held.release());
        flows.forEach(Await::done);

        assertThat(served).containsExactlyElementsOf(arrived);
    }

    @Test
    void neighboursOfOneClientPassTheLockOnWithoutTheStore() {
        needs(Feature.NEIGHBOURS);
        FaultyBackend backend = faulty();
        LockClient client = client(backend, settings -> settings.passBudget(3, Duration.ofMinutes(1)))
                .with(FIFO);
        LockHandle held = Await.get(client.acquire(key));
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Void>> flows = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            flows.add(client.<Void>withLock(key, hold -> Mono.fromRunnable(() -> tokens.add(hold.fencingToken())))
                    .toFuture());
            int told = i + 2;
            Await.until("the client knows its place", () -> backend.answered() == told);
        }
        long token = held.fencingToken();

        Await.run(held.release());
        flows.forEach(Await::done);

        assertThat(tokens).containsExactly(token + 1, token + 2, token + 3);
        Await.until("no flow waits or holds", () -> isFree(client, key));
    }

    @Test
    void aCohortPassesTheLockOnInOrderWithoutTheStore() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend, settings -> settings.passBudget(100, Duration.ofMinutes(1)));
        LockHandle held = Await.get(client.acquire(key));
        List<CompletableFuture<Void>> flows =
                IntStream.range(0, 20).mapToObj(i -> flow(client, "flow " + i)).toList();

        Await.run(held.release());
        flows.forEach(Await::done);

        assertThat(served)
                .containsExactlyElementsOf(
                        IntStream.range(0, 20).mapToObj(i -> "flow " + i).toList());
        assertThat(backend.claims()).hasSize(1);
    }

    @Test
    void aCohortWhosePassesAreSpentGivesTheNextClientItsTurn() {
        needs(Feature.ARRIVAL_ORDER);
        LockClient busy = client(contract.newBackend(), settings -> settings.passBudget(3, Duration.ofMinutes(1)));
        LockClient other = client();
        LockHandle held = Await.get(busy.acquire(key));
        List<CompletableFuture<Void>> flows = new ArrayList<>(
                IntStream.range(0, 12).mapToObj(i -> flow(busy, "busy")).toList());
        flows.add(flow(other, "other"));
        untilQueued(other, key, 1);

        Await.run(held.release());
        flows.forEach(Await::done);

        assertThat(served).hasSize(13);
        assertThat(List.copyOf(served).indexOf("other")).isEqualTo(3);
    }

    @Test
    void aClientThatWaitsIsServedByThePushedGrantAlone() {
        needs(Feature.PUSHED_GRANTS);
        FaultyBackend backend = neverLookingAgain();
        LockClient waiting = client(backend).with(HOURS);
        LockClient holding = client().with(HOURS);
        Await.run(waiting.withLock(key, Mono.empty()));
        Await.run(backend.listening());
        // It would ask once more: each shard of a cluster begins to push by itself.
        backend.onSignal(signal -> !(signal instanceof Signal.Reconnected));
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 1);
        int asked = backend.claims().size();

        Await.run(held.release());

        Await.run(Await.get(next).release());
        assertThat(backend.claims()).hasSize(asked);
    }

    @Test
    void aGrantThatOvertakesTheAnswerOfItsClaimIsNotMissed() {
        needs(Feature.PUSHED_GRANTS);
        FaultyBackend backend = neverLookingAgain();
        LockClient waiting = client(backend).with(HOURS);
        LockClient holding = client().with(HOURS);
        Await.run(waiting.withLock(key, Mono.empty()));
        Await.run(backend.listening()); // a grant is pushed once, and a question has no answer
        LockHandle held = Await.get(holding.acquire(key));
        backend.onClaim(FaultyBackend::answerLost);
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 1);

        Await.run(held.release());

        Await.run(Await.get(next).release());
    }

    @Test
    void aWakeUpLostWithAConnectionIsRepeatedOnReconnect() {
        FaultyBackend backend = neverLookingAgain();
        LockClient waiting = client(backend).with(HOURS);
        LockClient holding = client().with(HOURS);
        Await.run(waiting.withLock(key, Mono.empty()));
        Await.run(backend.listening());
        backend.onSignal(signal -> false);
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 1);
        Await.run(held.release());
        assertThat(next).isNotDone();

        backend.mend();
        backend.interruptSignals();

        Await.run(Await.get(next).release());
    }

    @Test
    void aWaiterThatIsWokenForNothingGoesOnWaiting() {
        FaultyBackend backend = faulty();
        LockClient waiting = client(backend);
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 1);
        int asked = backend.claims().size();

        backend.forge(new Signal.Recheck(key));
        backend.forge(new Signal.Grant("an unknown claim", FencingTokens.of(1)));
        Await.until("the waiter has asked again", () -> backend.claims().size() > asked);

        assertThat(next).isNotDone();
        Await.run(held.release());
        Await.run(Await.get(next).release());
    }
}
