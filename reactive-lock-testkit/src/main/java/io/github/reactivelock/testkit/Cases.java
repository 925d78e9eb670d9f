package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Shared by the groups of the contract: clients that are closed at the end, unique keys, and a check that nothing is
 * left.
 */
abstract class Cases {

    static final LockOptions DEFAULTS = LockOptions.defaults();
    static final LockOptions FIFO = DEFAULTS.withFairness(Fairness.FIFO);

    static final Duration IMPATIENCE = Duration.ofMillis(500);

    /** How many questions of one kind go to the store at once, so that each is answered soon on a busy machine too. */
    static final int AT_ONCE = 16;

    final LockBackendContract contract;
    private final String unique = UUID.randomUUID().toString();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<String> keys = new ArrayList<>();
    private final AtomicInteger probes = new AtomicInteger();
    private final List<Disposable> schedulers = new ArrayList<>();
    final String key = key("k");

    Cases(LockBackendContract contract) {
        this.contract = contract;
    }

    final LockClient client() {
        return client(contract.newBackend());
    }

    final LockClient client(LockBackend backend) {
        return client(backend, settings -> settings);
    }

    final LockClient client(LockBackend backend, UnaryOperator<LockClientBuilder> settings) {
        LockClient made = settings.apply(LockClient.builder(backend).commandTimeout(contract.commandTimeout()))
                .build();
        clients.add(made);
        return contract.view(made);
    }

    /** For a backend that is or will be silent: waits for an answer no longer than a case can wait. */
    final LockClient impatient(LockBackend backend) {
        return client(backend, settings -> settings.commandTimeout(IMPATIENCE));
    }

    /** Acquires through an impatient client, and retries if the store is busy. */
    final LockHandle acquired(LockClient impatient) {
        return Await.get(impatient
                .acquire(key)
                .retryWhen(Retry.indefinitely().filter(error -> error instanceof LockUnavailableException)));
    }

    /** For a backend that is used without a client. */
    final LockBackend closedAtTheEnd(LockBackend backend) {
        clients.add(LockClient.create(backend));
        return backend;
    }

    final FaultyBackend faulty() {
        return new FaultyBackend(contract.newBackend());
    }

    /** For a scheduler that the clients use until they are closed. */
    final <T extends Disposable> T disposedAtTheEnd(T scheduler) {
        schedulers.add(scheduler);
        return scheduler;
    }

    /** A key that only this case uses. */
    final String key(String name) {
        String made = unique + name;
        keys.add(made);
        return made;
    }

    final String oddKey(String before, String after) {
        String made = before + unique + after;
        keys.add(made);
        return made;
    }

    final LockOptions shortLease() {
        return DEFAULTS.withLease(contract.shortLease());
    }

    /** Longer, so that a renewal may wait three seconds for a thread or an answer of a busy machine. */
    final LockOptions renewed() {
        return DEFAULTS.withLease(renewedLease());
    }

    final Duration renewedLease() {
        return contract.shortLease().multipliedBy(5).dividedBy(2);
    }

    final LockOptions notRenewed() {
        return shortLease().withoutRenewal();
    }

    final void needs(Feature feature) {
        assumeFalse(contract.lacking().contains(feature), "this store lacks " + feature);
    }

    static long waiters(LockClient observer, String key) {
        return Await.get(observer.inspect(key)) instanceof LockInfo.Held held ? held.waiters() : 0;
    }

    static void untilQueued(LockClient observer, String key, long waiters) {
        Await.until(waiters + " claims wait for " + key, () -> waiters(observer, key) == waiters);
    }

    static boolean isFree(LockClient observer, String key) {
        return Await.get(observer.inspect(key)) instanceof LockInfo.Free;
    }

    @AfterEach
    void nothingIsLeft() {
        close();
        LockBackend probe = contract.newBackend();
        try {
            Await.run(
                    Flux.fromIterable(keys)
                            .flatMap(used -> isLeftFree(probe, used), AT_ONCE)
                            .then(),
                    Await.LONG_LIMIT);
            contract.assertStoreIsClean();
        } finally {
            Await.run(probe.close());
        }
    }

    final void close() {
        Await.run(Flux.fromIterable(clients).flatMap(LockClient::close).then());
        schedulers.forEach(Disposable::dispose);
    }

    /** Waits until the store grants a fresh claim, and no claim waits behind it. */
    private Mono<Boolean> isLeftFree(LockBackend probe, String key) {
        return Mono.defer(() -> isNowFree(probe, key))
                .repeatWhenEmpty(tries -> tries.delayElements(Duration.ofMillis(5)))
                .timeout(Await.LIMIT)
                .onErrorMap(
                        TimeoutException.class,
                        e -> new AssertionError("'" + key + "' cannot be acquired, or a claim waits for it", e));
    }

    private Mono<Boolean> isNowFree(LockBackend probe, String key) {
        // No random name: making one may block the thread of an answer.
        String id = unique.substring(0, 13) + "-" + probes.incrementAndGet();
        Claim claim = new Claim(key, id, "probe", Duration.ofMinutes(1), Claim.Mode.TRY);
        return probe.claim(claim)
                .map(answer -> answer instanceof ClaimResult.Granted)
                .flatMap(granted -> probe.inspect(key)
                        .map(seen -> granted && seen instanceof LockInfo.Held held && held.waiters() == 0)
                        .flatMap(alone -> probe.release(claim)
                                .doOnNext(released -> assertThat(released).isEqualTo(granted))
                                .filter(released -> alone)));
    }
}
