package io.github.reactivelock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testkit.FaultyBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Clients of a store in memory, recorded; some of the stores have a fault, which the checker has to find. */
class RecordedFaultTest {

    private static final LockOptions OPTIONS = LockOptions.defaults().withLease(Duration.ofSeconds(5));
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final Queue<HistoryEvent> events = new ConcurrentLinkedQueue<>();
    private final List<LockClient> clients = new ArrayList<>();
    private final AtomicLong tokens = new AtomicLong(1L << 40);

    private record Recorded(History history, LockClient client) {

        <T> Mono<T> withLock(Mono<T> work) {
            return history.withLock(client, "k", held -> work);
        }
    }

    private Recorded client(Consumer<FaultyBackend> fault) {
        FaultyBackend backend = new FaultyBackend(store.connect());
        fault.accept(backend);
        History history = new History("client " + clients.size(), events::add);
        LockClient client = LockClient.builder(history.observe(backend))
                .options(OPTIONS)
                .passBudget(0, Duration.ZERO)
                .build();
        clients.add(client);
        return new Recorded(history, client);
    }

    /** Four clients of the kind take forty turns each, of two milliseconds. */
    private HistoryReport contend(Consumer<FaultyBackend> fault) {
        Flux.range(0, 4)
                .map(i -> client(fault))
                .flatMap(client -> client.withLock(Mono.delay(Duration.ofMillis(2)))
                        .onErrorResume(lost -> Mono.empty())
                        .repeat(39))
                .then()
                .block(LIMIT);
        return report();
    }

    private HistoryReport report() {
        return new HistoryChecker(OPTIONS.lease()).check(events, List.of());
    }

    private ClaimResult granted(long token) {
        return new ClaimResult.Granted(token << LockBackend.PASS_BITS, OPTIONS.lease());
    }

    @AfterEach
    void close() {
        Flux.fromIterable(clients).flatMap(LockClient::close).then().block(LIMIT);
    }

    @Test
    void aSoundStoreHasACleanHistory() {
        HistoryReport report = contend(backend -> {});

        report.verify();
        assertThat(report.acquisitions()).isEqualTo(160);
        assertThat(events).anyMatch(event -> event.kind() == HistoryEvent.Kind.SERVED);
    }

    @Test
    void aStoreThatGrantsTwiceIsFound() {
        HistoryReport report = contend(backend -> backend.onClaim(claim -> claim.map(
                answer -> answer instanceof ClaimResult.Granted ? answer : granted(tokens.incrementAndGet()))));

        assertThat(report.overlaps()).isNotEmpty();
    }

    @Test
    void aStoreWhoseTokensGoBackIsFound() {
        Consumer<FaultyBackend> falling = backend -> backend.onClaim(claim -> claim.map(
                answer -> answer instanceof ClaimResult.Granted ? granted(tokens.decrementAndGet()) : answer));
        Flux.just(client(falling), client(falling))
                .concatMap(client -> client.withLock(Mono.empty()))
                .then()
                .block(LIMIT);
        HistoryReport report = report();

        assertThat(report.tokenRegressions()).isNotEmpty();
    }

    @Test
    void aWakeUpThatTheStoreForgetsIsFound() {
        Recorded holder = client(backend -> {});
        Recorded waiter = client(backend -> {
            backend.onSignal(signal -> !(signal instanceof Signal.Grant));
            backend.onClaim(claim -> claim.map(answer -> new ClaimResult.Queued(Duration.ofSeconds(5))));
        });
        waiter.withLock(Mono.just("never"))
                .timeout(Duration.ofMillis(2_300))
                .onErrorComplete()
                .mergeWith(holder.withLock(Mono.just("short")))
                .then()
                .block(LIMIT);

        assertThat(report().lostWakeups()).isNotEmpty();
    }

    @Test
    void aHoldThatIsNeverGivenUpIsFound() {
        Recorded holder = client(backend -> {});
        var held = holder.withLock(Mono.never()).subscribe();
        Mono<LockHandle> second = client(backend -> {}).client().tryAcquire("k");

        assertThat(second.hasElement().block(LIMIT)).isFalse();
        assertThat(report().leaks()).singleElement().asString().contains("still holds");
        held.dispose();
    }
}
