package io.github.reactivelock.blocking;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A key as a {@link Lock}; {@link BlockingLockClient#asLock} says what its methods do. */
final class ThreadLock implements Lock {

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(365);

    private final BlockingLockClient locks;
    private final String key;

    ThreadLock(BlockingLockClient locks, String key) {
        this.locks = locks;
        this.key = key;
    }

    @Override
    public void lock() {
        keep(BlockingLockClient.granted(joining(locks).asking(key).awaitThroughInterrupts()));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        keep(BlockingLockClient.granted(joining(locks).asking(key).await()));
    }

    @Override
    public boolean tryLock() {
        return isKept(joining(locks).askingIfFree(key).awaitThroughInterrupts());
    }

    /** No time to wait for others is a try, which an interrupt ends too. */
    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        Duration most = Duration.ofNanos(unit.toNanos(time));
        if (most.compareTo(SHORTEST) < 0) {
            return isKept(joining(locks).askingIfFree(key).await());
        }
        LockOptions options = locks.options().withWaitTimeout(most.compareTo(LONGEST) > 0 ? LONGEST : most);
        try {
            return isKept(joining(locks.with(options)).asking(key).await());
        } catch (LockTimeoutException e) {
            return false;
        }
    }

    @Override
    public void unlock() {
        HeldLock own = locks.threads.remove(key, locks.options().share());
        if (own == null) {
            throw new IllegalMonitorStateException("lock '" + key + "' is not held by "
                    + Thread.currentThread().getName() + ", and only the thread that locked it can unlock it");
        }
        own.close();
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a lock that several processes share has no conditions");
    }

    private BlockingLockClient joining(BlockingLockClient asked) {
        HeldLock own = locks.threads.innermost(key);
        return own == null ? asked : asked.within(own.context());
    }

    private boolean isKept(@Nullable HeldLock got) {
        if (got != null) {
            keep(got);
        }
        return got != null;
    }

    private void keep(HeldLock got) {
        locks.threads.add(key, locks.options().share(), got);
    }

    @Override
    public String toString() {
        return "Lock[" + key + "]";
    }
}
