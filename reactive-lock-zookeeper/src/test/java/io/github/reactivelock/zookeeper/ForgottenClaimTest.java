package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/**
 * Claims of a client that is alive of which no more is said: only the client itself can end them, its session goes on.
 */
class ForgottenClaimTest extends ProxiedFixture {

    private static final Duration SHORT = Duration.ofSeconds(7);
    private static final Duration LONG_SESSION = Duration.ofSeconds(40);

    @Test
    void aHoldThatWasToBeRenewedAndIsNotEndsWithItsLease() throws InterruptedException {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim silent = claim(key, Claim.Mode.QUEUE, SHORT, Claim.Keeping.RENEWED);
        Claim renewed = claim(key + "renewed", Claim.Mode.QUEUE, SHORT, Claim.Keeping.RENEWED);
        granted(ZooKeepers.get(backend.claim(renewed)));
        granted(ZooKeepers.get(backend.claim(silent)));

        ZooKeepers.until("the other one is over", () -> {
            assertThat(ZooKeepers.get(backend.renew(List.of(renewed))).renewed())
                    .containsExactly(renewed.id());
            return ZooKeepers.claims(zookeeper).size() == 1;
        });

        ZooKeepers.until(
                "its owner is told", () -> signals.contains(new Signal.Suspect(silent.id(), LossReason.EXPIRED)));
        assertThat(ZooKeepers.get(backend.renew(List.of(silent))).lost())
                .containsEntry(silent.id(), LossReason.EXPIRED);
    }

    /** The lock client says no more of it once its lease must be over. */
    @Test
    void aMinimumOfWhichTheStoreDidNotHearEndsWithTheLease() throws InterruptedException {
        LockClient client = promptClient(behindProxy(LONG_SESSION))
                .with(LockOptions.defaults().withLease(SHORT).withMinHold(Duration.ofMinutes(10)));
        LockHandle held = ZooKeepers.get(ZooKeepers.patiently(client.acquire(key)));

        proxy.cut();
        assertThat(ZooKeepers.error(held.release())).isInstanceOf(LockUnavailableException.class);
        long askedLast = System.nanoTime() + SHORT.plusSeconds(3).toNanos();
        ZooKeepers.until("the client asks no more", () -> System.nanoTime() - askedLast >= 0);
        proxy.mend();

        ZooKeepers.until("the lock is free", () -> ZooKeepers.claims(zookeeper).isEmpty());
    }

    @Test
    void aWaitEndsThoughTheLastQuestionAboutItFailed() throws InterruptedException {
        Claim owner = claim();
        ZooKeepers.get(backend().claim(owner));
        ZooKeeperLockBackend backend = opened(soonGivingUp());
        ZooKeepers.get(backend.inspect(key).retry());
        Claim waiting = claim(key, Claim.Mode.QUEUE, SHORT, Claim.Keeping.RENEWED);
        assertThat(ZooKeepers.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Queued.class);

        proxy.cut();
        assertThat(ZooKeepers.error(backend.claim(waiting))).hasMessageContaining("ZooKeeper at 127.0.0.1");
        proxy.mend();

        ZooKeepers.until("its node is gone", () -> ZooKeepers.claims(zookeeper).size() == 1);
        assertThat(ZooKeepers.claims(zookeeper).get(0)).contains(owner.id());
    }
}
