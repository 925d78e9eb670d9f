package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.DriverThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The timers are the library's own, whatever the application does with Reactor's; and which refusals pass. */
class TimersTest extends ProxiedFixture {

    private void locksAndLimitsWork() throws InterruptedException {
        LockClient lock = client();
        for (int i = 0; i < 20; i++) {
            LockHandle held = ZooKeepers.get(lock.acquire(key + i));
            ZooKeepers.get(held.release());
        }
        ZooKeeperLockBackend silent = opened(behindProxy(Duration.ofSeconds(20)));
        Boolean connected = ZooKeepers.get(silent.ready().retry().thenReturn(true));
        proxy.freeze();
        assertThat(ZooKeepers.error(silent.inspect(key))).hasMessageContaining("did not answer in time");
        proxy.mend();
        ZooKeeperLockBackend other = backend();
        Claim once = claim(key, Claim.Mode.QUEUE, Duration.ofSeconds(1), Claim.Keeping.ONCE);
        granted(ZooKeepers.get(other.claim(once)));
        ZooKeepers.until("its lease is over", () -> ZooKeepers.claims(zookeeper).isEmpty());
        assertThat(connected).isTrue();
    }

    @Test
    void theyGoOnWhileAnotherTestHasVirtualTime() throws InterruptedException {
        VirtualTimeScheduler.set(VirtualTimeScheduler.create());
        try {
            locksAndLimitsWork();
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void theyGoOnWhileTheApplicationKeepsAllThreadsOfReactorsOwn() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        CountDownLatch kept = new CountDownLatch(Schedulers.DEFAULT_POOL_SIZE);
        for (int i = 0; i < Schedulers.DEFAULT_POOL_SIZE; i++) {
            Disposable unused = Schedulers.parallel().schedule(() -> {
                kept.countDown();
                spin(over);
            });
        }
        try {
            assertThat(kept.await(60, TimeUnit.SECONDS)).isTrue();
            locksAndLimitsWork();
        } finally {
            over.set(true);
        }
    }

    /** As a SIGSTOP does, what keeps the timer delays all limits, and answers are read before these are looked at. */
    @Test
    void whatPassesIsAskedAgainAfterAPauseLongerThanACommandsTime() {
        Duration pause = Duration.ofSeconds(3);
        AtomicBoolean refusalWasTold = new AtomicBoolean();
        ZooKeeperBackendOptions options = patient().withCommandTimeout(Duration.ofSeconds(2));
        Connection connection = new Connection(new ClientSource.Own(server.getConnectString(), patient()), options);
        ZooKeepers.until("it is connected", () -> ZooKeepers.get(connection.session()) != 0);
        AtomicInteger asked = new AtomicInteger();

        String answer = ZooKeepers.get(connection.ask(Rank.LOOK, async -> {
            if (asked.incrementAndGet() > 1) {
                return CompletableFuture.completedFuture("done");
            }
            Disposable unused = DriverThreads.timer().schedule(() -> spin(refusalWasTold));
            CompletableFuture<String> refused = new CompletableFuture<>();
            CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> {
                        refused.completeExceptionally(KeeperException.create(KeeperException.Code.NOTREADONLY, "/x"));
                        CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> refusalWasTold.set(true));
                    });
            return refused;
        }));

        assertThat(answer).isEqualTo("done");
        ZooKeepers.get(connection.close().thenReturn(true));
    }

    private static void spin(AtomicBoolean over) {
        while (!over.get()) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = KeeperException.Code.class,
            names = {"NOTREADONLY", "THROTTLEDOP"})
    void whatAServerRefusesForAMomentIsAskedAgain(KeeperException.Code code) {
        assertThat(ZooKeeperFailure.passes(KeeperException.create(code, "/x"))).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = KeeperException.Code.class,
            names = {"NOAUTH", "NONODE", "NODEEXISTS", "QUOTAEXCEEDED", "UNIMPLEMENTED", "CONNECTIONLOSS"})
    void whatLastsOrCuratorRepeatsIsNot(KeeperException.Code code) {
        assertThat(ZooKeeperFailure.passes(KeeperException.create(code, "/x"))).isFalse();
    }
}
