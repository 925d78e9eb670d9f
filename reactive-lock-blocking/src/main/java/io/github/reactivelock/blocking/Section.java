package io.github.reactivelock.blocking;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * One stay of a thread under locks. To the engine it is a flow whose work emits nothing and ends when the thread says
 * so; thus the engine waits, watches the clock, tells of a loss and releases as it does for any work, and a cancel
 * gives back what a grant that crosses it brought. The thread waits on latches only, never inside a monitor.
 */
final class Section implements CoreSubscriber<Void> {

    /** Which locks, and how they are asked for: the engine's own {@code withLock} around a work. */
    interface Locks {
        Mono<Void> around(Function<List<LockHandle>, Mono<Void>> work);
    }

    private final Thread thread = Thread.currentThread();
    private final Mono<Void> locked;
    private final Object named;
    private final Context above;
    private final boolean interrupts;
    /** Opens with the grant, or without one. */
    private final CountDownLatch answered = new CountDownLatch(1);
    /** Opens when the engine has done with it. */
    private final CountDownLatch ended = new CountDownLatch(1);

    private volatile @Nullable Subscription flow;

    // The rest is guarded by this.
    private @Nullable HeldLock held;
    private @Nullable Throwable failure;
    /** The thread is in. */
    private boolean runs;

    private boolean wasInterrupted;

    /** Refuses bad keys, and asks for nothing yet. */
    Section(Locks locks, Object named, Context above, boolean interrupts) {
        this.locked = locks.around(this::work);
        this.named = named;
        this.above = above;
        this.interrupts = interrupts;
    }

    private void ask() {
        if (EventLoops.isCurrent()) {
            throw new IllegalStateException("lock '" + named + "' was not asked for: a call that blocks is refused on "
                    + thread.getName()
                    + ", which must not block; call on another thread, a virtual one say, or use LockClient here");
        }
        locked.subscribe(this);
    }

    private Mono<Void> work(List<LockHandle> handles) {
        return Mono.deferContextual(below -> Mono.create(work -> granted(new HeldLock(handles, below, work, this))));
    }

    private void granted(HeldLock lock) {
        synchronized (this) {
            held = lock;
        }
        answered.countDown();
    }

    /**
     * Asks and waits; null if the locks are taken and not waited for. An interrupt withdraws the claim, or what it
     * brought.
     */
    @Nullable
    HeldLock await() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        ask();
        try {
            answered.await();
        } catch (InterruptedException e) {
            Subscription asked = flow;
            if (asked != null) {
                asked.cancel();
            }
            throw e;
        }
        return entered();
    }

    /** As {@link #await}; an interrupt stays on the thread, and ends nothing. */
    @Nullable
    HeldLock awaitThroughInterrupts() {
        ask();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    answered.await();
                    return entered();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                thread.interrupt();
            }
        }
    }

    private synchronized @Nullable HeldLock entered() {
        if (failure != null) {
            throw told(failure);
        }
        runs = held != null;
        return held;
    }

    /** Ends the work, and waits for the release where that may be waited for. */
    void end() {
        HeldLock lock;
        synchronized (this) {
            if (!runs || held == null) {
                return;
            }
            lock = held;
            runs = false;
            if (wasInterrupted && Thread.currentThread() == thread) {
                boolean unused = Thread.interrupted(); // it was meant for the work, which is over
            }
        }
        lock.endWork();
        if (!EventLoops.isCurrent()) {
            try {
                ended.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the release goes on
            }
        }
        synchronized (this) {
            if (failure != null) {
                throw told(failure);
            }
        }
    }

    /** Ends a work that threw. A loss is the reason to tell, and what the work threw then comes with it. */
    void endAfter(Throwable thrown) {
        try {
            end();
        } catch (RuntimeException loss) {
            if (thrown != loss && !(thrown instanceof InterruptedException)) {
                loss.addSuppressed(thrown);
            }
            throw loss;
        }
    }

    /** Was made on another thread, so it says where it came to this one, as {@code block()} does. */
    private static RuntimeException told(Throwable failure) {
        if (failure instanceof LockException) {
            failure.addSuppressed(new Exception("the call that blocked for the lock"));
        }
        return Exceptions.propagate(failure);
    }

    // ---- the engine's signals, one after the other

    @Override
    public Context currentContext() {
        return above;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        flow = subscription;
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Void nothing) {}

    /** While the thread is in, this is the loss, and comes before the lease can have run out. */
    @Override
    public void onError(Throwable told) {
        synchronized (this) {
            failure = told;
            if (runs && interrupts) {
                wasInterrupted = true;
                thread.interrupt();
            }
        }
        answered.countDown();
        ended.countDown();
    }

    @Override
    public void onComplete() {
        answered.countDown();
        ended.countDown();
    }
}
