package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Fencing tokens always rise. */
abstract class TokenCases extends Cases {

    private final Queue<Long> tokens = new ConcurrentLinkedQueue<>();

    TokenCases(LockBackendContract contract) {
        super(contract);
    }

    private Mono<Void> recorded(LockClient client) {
        return client.withLock(key, held -> Mono.fromRunnable(() -> tokens.add(held.fencingToken())));
    }

    private void assertStrictlyRising(int count) {
        List<Long> seen = List.copyOf(tokens);
        assertThat(seen).hasSize(count).doesNotHaveDuplicates().isSorted();
    }

    @Test
    void tokensRiseWhenClientsTakeTurnsAtALockThatIsFreeInBetween() {
        List<LockClient> clients = IntStream.range(0, 3).mapToObj(i -> client()).toList();

        Await.run(Flux.range(0, 15).concatMap(i -> recorded(clients.get(i % 3))).then());

        assertStrictlyRising(15);
    }

    @Test
    void tokensRiseWithEveryPassInsideAClient() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend, settings -> settings.passBudget(1_000, Duration.ofMinutes(1)));
        LockHandle held = Await.get(client.acquire(key));
        tokens.add(held.fencingToken());
        CompletableFuture<Void> others =
                Flux.range(0, 50).flatMap(i -> recorded(client), 50).then().toFuture();

        Await.run(held.release());
        Await.until("all flows had their turn", others::isDone);

        assertStrictlyRising(51);
        assertThat(backend.claims()).hasSize(1);
    }

    @Test
    void tokensRiseWhenSeveralClientsContend() {
        List<LockClient> clients = IntStream.range(0, 3).mapToObj(i -> client()).toList();

        Await.run(
                Flux.range(0, 90).flatMap(i -> recorded(clients.get(i % 3)), 90).then());

        assertStrictlyRising(90);
    }

    @Test
    void tokensRiseAcrossAForcedRelease() {
        LockClient client = client();
        LockHandle forced = Await.get(client.acquire(key));
        tokens.add(forced.fencingToken());

        Await.get(client.forceRelease(key));
        Await.run(recorded(client()));

        assertStrictlyRising(2);
    }

    @Test
    void aReentrantAcquisitionHasTheTokenOfItsHold() {
        LockClient client = client();

        Long difference = Await.get(client.withLock(
                key, outer -> client.withLock(key, inner -> Mono.just(inner.fencingToken() - outer.fencingToken()))));

        assertThat(difference).isZero();
    }
}
