package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiting, and giving up. */
abstract class WaitingCases extends Cases {

    private static final Duration SOON = Duration.ofMillis(200);

    WaitingCases(LockBackendContract contract) {
        super(contract);
    }

    @ParameterizedTest
    @EnumSource
    void aWaitThatTakesTooLongFailsAndLeavesTheQueue(Fairness fairness) {
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        LockClient waiting = client().with(DEFAULTS.withFairness(fairness).withWaitTimeout(SOON));
        CompletableFuture<LockHandle> first = waiting.acquire(key).toFuture();
        CompletableFuture<LockHandle> second = waiting.acquire(key).toFuture();

        for (CompletableFuture<LockHandle> waiter : List.of(first, second)) {
            assertThat(Await.error(waiter))
                    .isInstanceOfSatisfying(
                            LockTimeoutException.class,
                            timeout -> assertThat(timeout.key()).isEqualTo(key))
                    .hasMessageContaining(key);
        }

        untilQueued(holding, key, 0);
        Await.run(held.release());
        // A claim that the store takes that late is granted and given back.
        Await.until("it is free", () -> isFree(holding, key));
    }

    @Test
    void oneFlowThatTimesOutDoesNotTakeTheOthersOfItsClientAlong() {
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        LockClient waiting = client();
        CompletableFuture<LockHandle> impatient =
                waiting.with(DEFAULTS.withWaitTimeout(SOON)).acquire(key).toFuture();
        CompletableFuture<LockHandle> patient = waiting.acquire(key).toFuture();

        assertThat(Await.error(impatient)).isInstanceOf(LockTimeoutException.class);
        Await.run(held.release());

        Await.run(Await.get(patient).release());
    }

    @Test
    void aWaitWithoutAnAnswerReportsASilentStoreNotATakenLock() {
        FaultyBackend backend = faulty();
        backend.onClaim(FaultyBackend::silent);
        LockClient client = impatient(backend).with(DEFAULTS.withWaitTimeout(SOON));

        assertThat(Await.error(client.acquire(key).toFuture())).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aWaiterThatTheStoreForgotQueuesAgainAndIsServed() {
        FaultyBackend backend = faulty();
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> next =
                client(backend).with(shortLease()).acquire(key).toFuture();
        untilQueued(holding, key, 1);
        Claim queued = backend.claims().get(0);

        LockBackend behindItsBack = contract.newBackend();
        Await.get(behindItsBack.release(queued));
        Await.run(behindItsBack.close());
        int asked = backend.claims().size();
        Await.until("it has asked since", () -> backend.claims().size() > asked);
        untilQueued(holding, key, 1);
        Await.run(held.release());

        Await.run(Await.get(next).release());
    }

    @Test
    void aWaiterKeepsItsPlaceForLongerThanItsLease() {
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        CompletableFuture<LockHandle> next =
                client().with(shortLease()).acquire(key).toFuture();
        untilQueued(holding, key, 1);
        Duration three = contract.shortLease().multipliedBy(3);
        assertThat(Await.error(client().with(DEFAULTS.withWaitTimeout(three))
                        .acquire(key)
                        .toFuture()))
                .isInstanceOf(LockTimeoutException.class);

        untilQueued(holding, key, 1);
        Await.run(held.release());
        Await.run(Await.get(next).release());
    }

    @Test
    void aWaiterIsServedWhenTheHoldersLeaseRunsOut() {
        LockHandle abandoned = Await.get(client().with(notRenewed()).acquire(key));

        LockHandle next = Await.get(client().acquire(key));

        assertThat(abandoned.isHeld()).isFalse();
        Await.run(next.release());
    }
}
