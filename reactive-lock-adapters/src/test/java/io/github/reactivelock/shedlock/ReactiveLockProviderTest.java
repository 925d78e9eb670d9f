package io.github.reactivelock.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testkit.FaultyBackend;
import io.github.reactivelock.testservers.Pause;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import net.javacrumbs.shedlock.test.support.FuzzTester;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class ReactiveLockProviderTest {

    private static final Duration PATIENCE = ShedLockContract.PATIENCE;
    private static final Duration LONG = Duration.ofMinutes(5);
    /** For a machine that is busy: what ends before it is handed over is lost. */
    private static final Duration SHORT = Duration.ofSeconds(2);

    private final FaultyBackend store = new FaultyBackend(InMemoryLockBackend.create());
    private final LockClient client = LockClient.create(store);
    private final ExtensibleLockProvider provider = new ReactiveLockProvider(client);

    @AfterEach
    void close() {
        client.close().block(PATIENCE);
    }

    private static LockConfiguration task(Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.now(), "report", atMost, atLeast);
    }

    private SimpleLock lock(Duration atMost) {
        return provider.lock(task(atMost, Duration.ZERO)).orElseThrow();
    }

    private LockInfo look() {
        return client.inspect("report").block(PATIENCE);
    }

    private LockInfo.Held held() {
        return (LockInfo.Held) look();
    }

    private boolean isLocked() {
        return look() instanceof LockInfo.Held;
    }

    @Test
    void anExtensionKeepsTheFencingToken() {
        SimpleLock lock = lock(LONG);
        long token = held().fencingToken();

        SimpleLock extended = lock.extend(LONG.multipliedBy(3), Duration.ZERO).orElseThrow();

        assertThat(held().fencingToken()).isEqualTo(token);
        extended.unlock();
        assertThat(isLocked()).isFalse();
    }

    @Test
    void anExtensionThatIsShorterEndsTheLockSooner() {
        SimpleLock lock = lock(LONG);

        SimpleLock extended = lock.extend(SHORT, Duration.ZERO).orElseThrow();

        Pause.until("the lock ends with its extension", () -> !isLocked());
        assertThat(extended.extend(LONG, Duration.ZERO)).isEmpty();
    }

    @Test
    void aLongerExtensionEndsInItsTimeAsWell() {
        SimpleLock lock = lock(SHORT);

        SimpleLock extended = lock.extend(SHORT.plusSeconds(1), Duration.ZERO).orElseThrow();

        Pause.until("the lock ends with its extension", () -> !isLocked());
        extended.unlock();
    }

    @Test
    void aLockThatIsUnlockedIsNotRenewedAnyMore() {
        lock(SHORT).extend(LONG, Duration.ZERO).orElseThrow().unlock();

        assertThat(isLocked()).isFalse();
        lock(LONG).unlock();
    }

    @Test
    void aLockThatWasTakenAwayIsNotExtended() {
        SimpleLock lock = lock(LONG);
        assertThat(client.forceRelease("report").block(PATIENCE)).isTrue();

        assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();
        assertThat(isLocked()).isFalse();
    }

    @Test
    void aLockThatHasANewHolderIsNotExtended() {
        SimpleLock lock = lock(LONG);
        assertThat(client.forceRelease("report").block(PATIENCE)).isTrue();
        Pause.until(
                "another has it", () -> provider.lock(task(LONG, Duration.ZERO)).isPresent());
        long token = held().fencingToken();

        assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();

        assertThat(held().fencingToken()).isEqualTo(token);
    }

    @Test
    void unlockingALockWhoseTimeIsOverSaysNothing() {
        SimpleLock lock = lock(SHORT);
        Pause.until("its time is over", () -> !isLocked());

        lock.unlock();
    }

    @Test
    void theTaskOfAnInterruptedThreadKeepsItsLock() {
        Thread.currentThread().interrupt();

        SimpleLock extended = lock(LONG).extend(LONG, Duration.ZERO).orElseThrow();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(isLocked()).isTrue();
        extended.unlock();
        assertThat(isLocked()).isFalse();
    }

    /** ShedLock's keep-alive takes at least 30 seconds, so its clock goes a hundred times as fast here. */
    @Test
    void keepAliveLetsTheLeaseStartAnewUntilItIsUnlocked() throws Exception {
        CountDownLatch extensions = new CountDownLatch(3);
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long delay, long period, TimeUnit unit) {
                Runnable counted = () -> {
                    task.run();
                    extensions.countDown();
                };
                return super.scheduleAtFixedRate(counted, delay / 100, period / 100, unit);
            }
        };
        SimpleLock kept = new KeepAliveLockProvider(provider, timer)
                .lock(task(Duration.ofSeconds(30), Duration.ZERO))
                .orElseThrow();
        long token = held().fencingToken();

        assertThat(extensions.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(store.renewals()).isGreaterThanOrEqualTo(3);
        assertThat(held().fencingToken()).isEqualTo(token);
        kept.unlock();
        assertThat(isLocked()).isFalse();
        timer.shutdownNow();
    }

    @Test
    void theirFuzzTestPassesUnderKeepAlive() throws Exception {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

        new FuzzTester(new KeepAliveLockProvider(provider, timer)).doFuzzTest();

        timer.shutdownNow();
    }

    @Test
    void aStoreThatCannotBeAskedFailsTheLock() {
        store.onClaim(FaultyBackend::unreachable);

        assertThatThrownBy(() -> lock(LONG)).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void anExtensionThatTheStoreDoesNotHearLeavesTheLockAsItWas() {
        SimpleLock lock = lock(LONG);
        store.onRenewal(FaultyBackend::unreachable);

        assertThatThrownBy(() -> lock.extend(LONG, Duration.ZERO)).isInstanceOf(LockUnavailableException.class);

        assertThat(isLocked()).isTrue();
        lock.unlock();
        assertThat(isLocked()).isFalse();
    }

    @Test
    void badInputIsRefusedAtOnce() {
        assertThatThrownBy(() -> new ReactiveLockProvider(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("client");
        assertThatThrownBy(() -> new ReactiveLockProvider(client.shared()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("several times at once");
        assertThatThrownBy(() -> lock(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("would never be held");
        assertThatThrownBy(() -> lock(Duration.ofDays(366)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 365 days");
    }

    @Test
    void aThreadThatMustNotBlockIsRefused() {
        Mono<SimpleLock> asked = Mono.fromCallable(() -> lock(LONG)).subscribeOn(Schedulers.parallel());

        assertThatThrownBy(() -> asked.block(PATIENCE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("must not block");
    }
}
