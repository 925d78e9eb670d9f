package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Releases that are not awaited ({@link LockOptions#withReleaseInBackground}). */
abstract class BackgroundCases extends Cases {

    private static final LockOptions BACKGROUND = DEFAULTS.withReleaseInBackground();

    BackgroundCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void theOutcomeDoesNotWaitForTheStore() {
        Sinks.Empty<Void> answers = Sinks.empty();
        FaultyBackend backend = faulty();
        backend.onRelease(release -> answers.asMono().then(release));
        LockClient client = client(backend, settings -> settings.commandTimeout(Await.LIMIT.multipliedBy(2)))
                .with(BACKGROUND);

        assertThat(Await.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
        Await.run(client.withLock(key("many"), Flux.just(1, 2)).then());
        Await.until("both releases were sent", () -> backend.releases() >= 2);

        LockClient other = client();
        assertThat(isFree(other, key)).isFalse();
        answers.tryEmitEmpty().orThrow();
        Await.until("it is free", () -> isFree(other, key));
    }

    @Test
    void aLaterClaimOfTheSameClientFindsTheLockReleased() {
        LockClient client = client();
        LockClient background = client.with(BACKGROUND);

        for (int round = 0; round < 20; round++) {
            Await.run(background.withLock(key, Mono.empty()));
            LockHandle held = Await.get(client.acquire(key));
            assertThat(held.isHeld()).isTrue();
            Await.run(held.release());
        }
    }

    @ParameterizedTest
    @EnumSource
    void noUpdateIsLostAmongSeveralClients(Fairness fairness) {
        List<LockClient> clients = IntStream.range(0, 3)
                .mapToObj(i -> client().with(BACKGROUND.withFairness(fairness)))
                .toList();
        LostUpdateCounter counter = new LostUpdateCounter();
        int rounds = contract.lacking().contains(Feature.PUSHED_GRANTS) ? 3 : 20;

        Await.run(
                Flux.range(0, 12)
                        .flatMap(
                                flow -> clients.get(flow % 3)
                                        .withLock(key, counter.increment())
                                        .repeat(rounds - 1),
                                12)
                        .then(),
                Await.LONG_LIMIT);

        counter.verify();
        assertThat(counter.value()).isEqualTo(12L * rounds);
    }

    @Test
    void severalKeysAreAllReleased() {
        List<String> keys = List.of(key("a"), key("b"), key("c"));
        LockClient client = client();

        Await.run(client.with(BACKGROUND).withLock(keys, Mono.empty()));

        Await.run(client().withLock(keys, Mono.empty()));
    }

    @Test
    void aReleaseThatFailsIsToldToTheListenerAndTriedAgain() {
        FaultyBackend backend = faulty();
        Queue<LockUnavailableException> told = new ConcurrentLinkedQueue<>();
        LockClient client = client(
                        backend,
                        settings -> settings.listener(new LockListener() {
                            @Override
                            public void releaseFailed(LockRequest request, LockUnavailableException failure) {
                                told.add(failure);
                            }
                        }))
                .with(BACKGROUND);
        backend.onRelease(FaultyBackend::unreachable);

        assertThat(Await.get(client.withLock(key, Mono.just("done")))).isEqualTo("done");
        Await.until("the listener is called", () -> !told.isEmpty());
        assertThat(told.element()).hasMessageContaining(key);
        backend.mend();

        Await.until("it is free", () -> isFree(client(), key));
    }

    @Test
    void closingWaitsForTheRelease() {
        LockBackend backend = contract.newBackend();
        LockClient closed = client(backend);

        Await.run(closed.with(BACKGROUND).withLock(key, Mono.empty()));
        Await.run(closed.close());

        assertThat(isFree(client(), key)).isTrue();
    }
}
