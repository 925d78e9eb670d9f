package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Only one holder at a time. */
abstract class ExclusionCases extends Cases {

    ExclusionCases(LockBackendContract contract) {
        super(contract);
    }

    @ParameterizedTest
    @EnumSource
    void noUpdateIsLostAmongSeveralClients(Fairness fairness) {
        List<LockClient> clients = IntStream.range(0, 4)
                .mapToObj(i -> client().with(DEFAULTS.withFairness(fairness)))
                .toList();
        LostUpdateCounter counter = new LostUpdateCounter();
        // A store that does not push takes the time of one poll for every change of client.
        int rounds = contract.lacking().contains(Feature.PUSHED_GRANTS) ? 3 : 20;

        Await.run(
                Flux.range(0, 40)
                        .flatMap(
                                flow -> clients.get(flow % 4)
                                        .withLock(key, counter.increment())
                                        .repeat(rounds - 1),
                                40)
                        .then(),
                Await.LONG_LIMIT);

        counter.verify();
        assertThat(counter.value()).isEqualTo(40L * rounds);
    }

    @Test
    void threeFlowsOnOneThreadExcludeOneAnother() {
        Scheduler one = disposedAtTheEnd(Schedulers.newSingle("contract-single", true));
        LockClient client = client(contract.newBackend(), settings -> settings.workScheduler(one));
        LostUpdateCounter counter = new LostUpdateCounter();

        Await.run(Flux.range(0, 3)
                .flatMap(flow -> client.withLock(key, counter.increment().publishOn(one))
                        .subscribeOn(one)
                        .repeat(19))
                .then());

        counter.verify();
        assertThat(counter.value()).isEqualTo(60);
    }

    @Test
    void tryAcquireIsEmptyWhileAnotherClientHoldsTheLock() {
        LockClient one = client();
        LockClient other = client();
        LockHandle held = Await.get(one.acquire(key));

        assertThat(Await.isEmpty(other.tryAcquire(key))).isTrue();
        assertThat(Await.isEmpty(one.tryAcquire(key))).isTrue();

        Await.run(held.release());
        Await.run(Await.get(other.tryAcquire(key)).release());
    }

    @Test
    void theSameMonoSubscribedTwiceIsTwoAcquisitions() {
        Mono<LockHandle> acquire = client().acquire(key);
        LockHandle first = Await.get(acquire);
        CompletableFuture<LockHandle> second = acquire.toFuture();
        LockClient observer = client();
        assertThat(Await.isEmpty(observer.tryAcquire(key))).isTrue();

        assertThat(second).isNotDone();
        Await.run(first.release());

        assertThat(Await.get(second).fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(Await.isEmpty(observer.tryAcquire(key))).isTrue();
        Await.run(Await.get(second).release());
    }

    @Test
    void differentKeysDoNotWaitForOneAnother() {
        LockClient client = client();
        LockHandle held = Await.get(client.acquire(key));

        assertThat(Await.get(client.withLock(key("other"), Mono.just("done")))).isEqualTo("done");
        Await.run(held.release());
    }

    @Test
    void severalKeysTakenInOppositeOrdersDoNotDeadlock() {
        String a = key("a");
        String b = key("b");
        String c = key("c");
        LockClient one = client();
        LockClient other = client();
        LostUpdateCounter counter = new LostUpdateCounter();

        Await.run(Flux.merge(
                        one.withLock(List.of(a, b, c), counter.increment()).repeat(29),
                        other.withLock(List.of(c, b, a), counter.increment()).repeat(29),
                        one.withLock(List.of(b, a), counter.increment()).repeat(29))
                .then());

        counter.verify();
        assertThat(counter.value()).isEqualTo(90);
    }

    @Test
    void severalKeysAreAllOrNothing() {
        String a = key("a");
        String b = key("b");
        LockClient one = client();
        LockClient other = client();
        LockHandle held = Await.get(one.acquire(b));

        Duration patience = Duration.ofMillis(200);
        Throwable failure = failureToHave(other, patience, a, b);
        while (String.valueOf(failure.getMessage()).contains(a)
                && patience.toSeconds() < 10) { // a busy machine: not even the free lock was acquired
            patience = patience.multipliedBy(2);
            failure = failureToHave(other, patience, a, b);
        }

        assertThat(failure).hasMessageContaining(b);
        Await.until("the first key was given back", () -> isFree(one, a));
        Await.run(held.release());
    }

    private static Throwable failureToHave(LockClient client, Duration patience, String... keys) {
        return Await.error(client.with(DEFAULTS.withWaitTimeout(patience))
                .withLock(List.of(keys), Mono.just("never"))
                .toFuture());
    }
}
