package io.github.reactivelock.blocking;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.Pause;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;

/** Two clients of one store for each test, one that blocks and another one, and threads that have names. */
abstract class Fixture {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    final LockClient client = client(store);
    final LockClient other = client(store.connect());
    final BlockingLockClient locks = BlockingLockClient.of(client);

    static LockClient client(LockBackend backend) {
        return LockClient.builder(backend).commandTimeout(PATIENCE).build();
    }

    @AfterEach
    void close() {
        boolean unused = Thread.interrupted();
        client.close().block(PATIENCE);
        other.close().block(PATIENCE);
    }

    /** A thread of its own, that can be interrupted, and whose end can be awaited. */
    static final class Running<T> {
        final Thread thread;
        private final FutureTask<T> task;

        private Running(Callable<T> body) {
            task = new FutureTask<>(body);
            thread = new Thread(task, "a thread of the test");
            thread.setDaemon(true);
            thread.start();
        }

        T get() throws Exception {
            return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }

        Throwable error() throws Exception {
            try {
                throw new AssertionError("ended well instead of failing, with " + get());
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }

        boolean isDone() {
            return task.isDone();
        }

        /** Waits until it stands still, as it does in a call that blocks. */
        void untilItWaits() {
            Pause.until(
                    "the thread waits",
                    () -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
        }
    }

    static <T> Running<T> start(Callable<T> body) {
        return new Running<>(body);
    }

    /** A hold of the other client. */
    LockHandle holder(String key) {
        return other.acquire(key).block(PATIENCE);
    }

    static void release(LockHandle handle) {
        handle.release().block(PATIENCE);
    }

    LockInfo look(String key) {
        return other.inspect(key).block(PATIENCE);
    }

    boolean isHeld(String key) {
        return look(key) instanceof LockInfo.Held;
    }

    void untilOneWaits(String key) {
        Pause.until("a claim waits for " + key, () -> look(key) instanceof LockInfo.Held held && held.waiters() > 0);
    }

    void untilNoneWaits(String key) {
        Pause.until("no claim waits for " + key, () -> look(key) instanceof LockInfo.Held held && held.waiters() == 0);
    }

    void untilFree(String key) {
        Pause.until(key + " is free", () -> !isHeld(key));
    }

    /** On another thread, because the loss may interrupt this one before it has the answer. */
    void takeAway(String key) {
        Running<Boolean> unused = start(() -> other.forceRelease(key).block(PATIENCE));
    }

    /** Without a pause, which takes an interrupt off the thread for a moment. */
    static void spinUntil(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not so within " + PATIENCE + ": " + what);
            }
            Thread.onSpinWait();
        }
    }

    /** Blocks until it is interrupted. */
    static void block() throws InterruptedException {
        if (!new CountDownLatch(1).await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("was not interrupted");
        }
    }

    static void open(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("still " + latch.getCount() + " to come");
        }
    }
}
