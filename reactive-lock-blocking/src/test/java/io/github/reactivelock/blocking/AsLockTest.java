package io.github.reactivelock.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** The contract of {@link Lock}, and what a lock of several processes adds to it. */
@SuppressWarnings("LockNotBeforeTry") // what happens between is what is shown
class AsLockTest extends Fixture {

    private final Lock lock = locks.asLock("a");

    @Test
    void whatIsWrittenUnderItIsSeenByTheNext() throws Exception {
        int[] count = new int[1];
        List<Running<Boolean>> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(start(() -> {
                for (int turn = 0; turn < 250; turn++) {
                    lock.lock();
                    try {
                        count[0]++;
                    } finally {
                        lock.unlock();
                    }
                }
                return true;
            }));
        }
        for (Running<Boolean> each : threads) {
            assertThat(each.get()).isTrue();
        }

        assertThat(count[0]).isEqualTo(1000);
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void aThreadThatHasItGetsItAgainAndNoOtherThreadDoes() throws Exception {
        Lock same = locks.asLock("a");
        lock.lock();
        same.lock();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.MINUTES)).isTrue();
        lock.lockInterruptibly();

        for (int held = 5; held > 0; held--) {
            assertThat(isHeld("a")).isTrue();
            assertThat(start(() -> same.tryLock()).get()).isFalse();
            lock.unlock();
        }

        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void onlyWhoLockedItCanUnlockIt() throws Exception {
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("'a'");
        lock.lock();

        assertThat(start(() -> {
                            lock.unlock();
                            return true;
                        })
                        .error())
                .isInstanceOf(IllegalMonitorStateException.class);
        assertThat(isHeld("a")).isTrue();

        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void lockWaitsThroughAnInterruptAndLeavesIt() throws Exception {
        LockHandle holder = holder("a");
        Running<Boolean> waiter = start(() -> {
            lock.lock();
            try {
                return Thread.currentThread().isInterrupted();
            } finally {
                lock.unlock();
            }
        });
        untilOneWaits("a");
        waiter.thread.interrupt();
        waiter.untilItWaits();
        assertThat(waiter.isDone()).isFalse();

        release(holder);

        assertThat(waiter.get()).isTrue();
        untilFree("a");
    }

    @Test
    void lockInterruptiblyEndsWithAnInterruptAndLeavesNothing() throws Exception {
        LockHandle holder = holder("a");
        Running<Boolean> waiter = start(() -> {
            lock.lockInterruptibly();
            return true;
        });
        untilOneWaits("a");

        waiter.thread.interrupt();

        assertThat(waiter.error()).isInstanceOf(InterruptedException.class);
        untilNoneWaits("a");
        release(holder);
    }

    @Test
    void aWaitWithATimeEndsWithAnInterrupt() throws Exception {
        LockHandle holder = holder("a");
        Running<Boolean> waiter = start(() -> lock.tryLock(1, TimeUnit.HOURS));
        untilOneWaits("a");

        waiter.thread.interrupt();

        assertThat(waiter.error()).isInstanceOf(InterruptedException.class);
        untilNoneWaits("a");
        release(holder);
    }

    @Test
    void aThreadThatIsInterruptedAlreadyGetsItOnlyWhereThatIsPromised() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(0, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();

        assertThat(lock.tryLock()).isTrue();
        lock.lock();
        assertThat(Thread.interrupted()).isTrue();
        lock.unlock();
        lock.unlock();
    }

    @Test
    void aWaitIsAsLongAsItsTime() throws Exception {
        LockHandle holder = holder("a");

        // First, because its time runs from the store's first answer, which is that the lock is taken.
        assertThat(lock.tryLock(500, TimeUnit.MILLISECONDS)).isFalse();
        untilNoneWaits("a");
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock(-1, TimeUnit.DAYS)).isFalse();
        assertThat(lock.tryLock(1, TimeUnit.NANOSECONDS)).isFalse();

        Running<Boolean> waiter = start(() -> lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
        untilOneWaits("a");
        release(holder);
        assertThat(waiter.get()).isTrue();
        assertThat(isHeld("a")).isTrue();
    }

    @Test
    void thereAreNoConditions() {
        assertThatThrownBy(lock::newCondition)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("conditions");
    }

    @Test
    void aLossInterruptsTheThreadAndUnlockTellsIt() throws Exception {
        lock.lock();
        takeAway("a");
        assertThatThrownBy(Fixture::block).isInstanceOf(InterruptedException.class);

        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        lock.lock();
        assertThat(isHeld("a")).isTrue();
        lock.unlock();
    }

    @Test
    void aWriterMayReadAndEachIsUnlockedByItself() throws Exception {
        Lock read = locks.shared().asLock("a");
        lock.lock();
        read.lock();
        lock.unlock();
        assertThat(start(() -> locks.asLock("a").tryLock()).get()).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        read.unlock();

        read.lock();
        assertThatThrownBy(lock::lock).isInstanceOf(IllegalStateException.class);
        read.unlock();
        assertThat(isHeld("a")).isFalse();
    }

    @Test
    void aTaskThatWasGivenToAnotherThreadIsAnother() throws Exception {
        CountDownLatch out = new CountDownLatch(1);
        lock.lock();
        Running<Boolean> task = start(() -> {
            lock.lock();
            lock.unlock();
            out.countDown();
            return true;
        });
        task.untilItWaits();
        assertThat(out.getCount()).isEqualTo(1);

        lock.unlock();
        assertThat(task.get()).isTrue();
    }

    @Test
    void aStoreThatCannotBeAskedIsNotTakenForATakenLock() {
        client.close().block(PATIENCE);

        assertThatThrownBy(lock::tryLock).isInstanceOf(LockClientClosedException.class);
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(LockClientClosedException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }
}
