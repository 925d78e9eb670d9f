package io.github.reactivelock.testkit;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Acquisitions of all kinds, most of them cancelled at a random moment. */
final class CancelRaces {

    private static final int AT_ONCE = 24;
    private static final int LATEST_CANCEL_MICROS = 3_000;

    private final List<LockClient> clients;
    private final List<String> keys;
    private final Map<String, LostUpdateCounter> counters = new HashMap<>();

    CancelRaces(List<LockClient> clients, List<String> keys) {
        this.clients = clients;
        this.keys = keys;
        keys.forEach(key -> counters.put(key, new LostUpdateCounter()));
    }

    List<String> keys() {
        return keys;
    }

    Mono<Void> run(int races) {
        return Flux.range(0, races)
                .flatMap(i -> race().subscribeOn(Schedulers.parallel()), AT_ONCE)
                .then();
    }

    void verify() {
        counters.values().forEach(LostUpdateCounter::verify);
        if (counters.values().stream().allMatch(counter -> counter.written() == 0)) {
            throw new AssertionError("every race was cancelled before its work; the machine is too slow for this test");
        }
    }

    private Mono<Void> race() {
        return Mono.defer(() -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            String key = keys.get(random.nextInt(keys.size()));
            LockOptions options =
                    LockOptions.defaults().withFairness(random.nextInt(3) == 0 ? Fairness.FIFO : Fairness.COHORT);
            LockClient client = clients.get(random.nextInt(clients.size())).with(options);
            return flow(client, key, random.nextInt(4)).takeUntilOther(cancel(random));
        });
    }

    private Mono<Void> flow(LockClient client, String key, int kind) {
        LostUpdateCounter counter = counters.getOrDefault(key, new LostUpdateCounter());
        return switch (kind) {
            case 0 -> client.withLock(key, counter.increment());
            case 1 ->
                client.withLockMany(key, held -> counter.increment().thenMany(Flux.range(0, 3)))
                        .then();
            case 2 -> explicit(client.acquire(key), counter);
            default -> explicit(client.tryAcquire(key), counter);
        };
    }

    private static Mono<Void> explicit(Mono<LockHandle> acquired, LostUpdateCounter counter) {
        return Mono.usingWhen(acquired, held -> counter.increment(), LockHandle::release);
    }

    private static Mono<Long> cancel(ThreadLocalRandom random) {
        return switch (random.nextInt(8)) {
            case 0 -> Mono.never();
            case 1 -> Mono.just(0L);
            default -> Mono.delay(Duration.ofNanos(1_000L * random.nextInt(LATEST_CANCEL_MICROS)));
        };
    }
}
