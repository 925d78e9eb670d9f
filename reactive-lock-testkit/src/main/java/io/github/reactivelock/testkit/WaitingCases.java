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
    private static final Duration LONGEST = Duration.ofSeconds(15);

    WaitingCases(LockBackendContract contract) {
        super(contract);
    }

    @ParameterizedTest
    @EnumSource
    void aWaitThatTakesTooLongFailsAndLeavesTheQueue(Fairness fairness) {
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        LockClient waiting = client().with(DEFAULTS.withFairness(fairness));

        List<Throwable> failures = failuresToWait(waiting, SOON);
        for (Duration longer = SOON.multipliedBy(4);
                isUnanswered(failures) && longer.compareTo(LONGEST) < 0;
                longer = longer.multipliedBy(4)) {
            failures = failuresToWait(waiting, longer);
        }

        assertThat(failures)
                .allSatisfy(failure -> assertThat(failure)
                        .isInstanceOfSatisfying(
                                LockTimeoutException.class,
                                timeout -> assertThat(timeout.key()).isEqualTo(key))
                        .hasMessageContaining(key));

        untilQueued(holding, key, 0);
        Await.run(held.release());
        // A claim that the store takes that late is granted and given back.
        Await.until("it is free", () -> isFree(holding, key));
    }

    /** Of two flows. */
    private List<Throwable> failuresToWait(LockClient waiting, Duration patience) {
        LockClient impatient = waiting.with(waiting.options().withWaitTimeout(patience));
        CompletableFuture<LockHandle> first = impatient.acquire(key).toFuture();
        CompletableFuture<LockHandle> second = impatient.acquire(key).toFuture();
        return List.of(Await.error(first), Await.error(second));
    }

    /** On a busy machine a store may answer later than a flow wants to wait, which is told so. */
    private static boolean isUnanswered(List<Throwable> failures) {
        return failures.stream().anyMatch(LockUnavailableException.class::isInstance);
    }

    @Test
    void oneFlowThatTimesOutDoesNotTakeTheOthersOfItsClientAlong() {
        LockClient holding = client();
        LockHandle held = Await.get(holding.acquire(key));
        LockClient waiting = client();
        CompletableFuture<LockHandle> impatient =
                waiting.with(DEFAULTS.withWaitTimeout(SOON)).acquire(key).toFuture();
        CompletableFuture<LockHandle> patient = waiting.acquire(key).toFuture();

        Throwable failure = Await.error(impatient);
        if (isUnanswered(List.of(failure))) {
            failure = Await.error(
                    waiting.with(DEFAULTS.withWaitTimeout(LONGEST)).acquire(key).toFuture());
        }
        assertThat(failure).isInstanceOf(LockTimeoutException.class);
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
