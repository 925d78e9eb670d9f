package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Work that does not wait for its lock. */
abstract class IfFreeCases extends Cases {

    private static final String DONE = "done";
    private static final String TAKEN = "taken";

    IfFreeCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void aFreeLockRunsTheWorkAndFreesTheLock() {
        LockClient client = client();

        assertThat(Await.get(client.tryWithLock(key, Mono.just(DONE), Mono.just(TAKEN))))
                .isEqualTo(DONE);
        assertThat(Await.get(client.tryWithLock(key, Flux.just(DONE, DONE), Flux.just(TAKEN))
                        .collectList()))
                .containsExactly(DONE, DONE);
        assertThat(Await.get(client.tryWithLock(key, Mono.<String>empty(), Mono.just(TAKEN))
                        .defaultIfEmpty("empty")))
                .isEqualTo("empty");
        assertThat(isFree(client, key)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void aHeldLockIsTakenForItsOwnClientAndForOthers(Fairness fairness) {
        LockClient holding = client().with(DEFAULTS.withFairness(fairness));
        LockHandle held = Await.get(holding.acquire(key));

        assertTaken(holding);
        assertTaken(client());

        Await.run(held.release());
    }

    @Test
    void theWorkHasAHoldWithATokenThatRises() {
        LockClient client = client();
        long before = Await.get(client.withLock(key, held -> Mono.just(held.fencingToken())));

        long token = Await.get(client.tryWithLock(key, held -> Mono.just(held.fencingToken()), Mono.just(0L)));

        assertThat(token).isGreaterThan(before);
    }

    @Test
    void ofSeveralAllAreTakenOrNone() {
        String other = key("other");
        LockClient client = client();
        LockHandle held = Await.get(client().acquire(other));
        List<String> both = List.of(key, other);

        assertThat(Await.get(client.tryWithLock(both, Mono.just(DONE), Mono.just(TAKEN))))
                .isEqualTo(TAKEN);
        assertThat(isFree(client, key)).isTrue();
        Await.run(held.release());

        assertThat(Await.get(client.tryWithLock(both, Mono.just(DONE), Mono.just(TAKEN))))
                .isEqualTo(DONE);
    }

    @Test
    void aLockThatWaitersHadNextIsTaken() {
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        LockClient waiting = client();
        CompletableFuture<LockHandle> next = waiting.acquire(key).toFuture();
        untilQueued(holding, key, 1);

        Await.run(held.release());
        assertTaken(holding);

        Await.run(Await.get(next).release());
    }

    private void assertTaken(LockClient client) {
        assertThat(Await.get(client.tryWithLock(key, Mono.just(DONE), Mono.just(TAKEN))))
                .isEqualTo(TAKEN);
    }
}
