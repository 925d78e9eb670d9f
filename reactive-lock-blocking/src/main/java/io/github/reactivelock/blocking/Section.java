package io.github.reactivelock.blocking;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.state.LossReason;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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

    /** Those that know of a loss and have not ended, of all threads. */
    private static final Set<Section> TOLD = ConcurrentHashMap.newKeySet();

    /** Threads that wait through interrupts, and hear of a loss afterwards. */
    private static final Set<Thread> WAITING = ConcurrentHashMap.newKeySet();

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
    /** The interrupt that the thread may have now came from here. */
    private boolean wasInterrupted;
    /** All were held when the work ended, so the store is asked; one that was not may be lost, which is to be told. */
    private boolean releases;

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
        (above.isEmpty() ? locked.contextCapture() : locked).subscribe(this);
    }

    /** A loss cancels the work before the lock is given back, where there is anything to give back. */
    private Mono<Void> work(List<LockHandle> handles) {
        return Mono.deferContextual(below -> Mono.create(work -> {
            work.onCancel(this::interrupt);
            granted(new HeldLock(handles, below, work, this));
        }));
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
        awaitThrough(answered);
        return entered();
    }

    /** An interrupt that is taken off the thread meanwhile is on it again afterwards. */
    private static void awaitThrough(CountDownLatch latch) {
        Thread waiting = Thread.currentThread();
        boolean interrupted = false;
        WAITING.add(waiting);
        try {
            while (latch.getCount() > 0) {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                waiting.interrupt();
            }
            WAITING.remove(waiting); // between the two, see interrupt()
            TOLD.stream().filter(told -> told.thread.equals(waiting)).forEach(Section::interruptLate);
        }
    }

    /** The thread may have had no turn between the grant and now, so it looks at the clock. */
    private @Nullable HeldLock entered() {
        HeldLock got;
        synchronized (this) {
            if (failure != null) {
                throw told(failure);
            }
            got = held;
            runs = got != null;
        }
        if (got != null) {
            for (LockHandle each : got.handles()) {
                if (!each.isHeld()) {
                    finish();
                    throw new LockLostException(each.key(), each.fencingToken(), LossReason.EXPIRED, null);
                }
            }
        }
        return got;
    }

    /**
     * Before the lease can have run out, and once; not a thread that is interrupted, which sees that, nor one that
     * waits through interrupts, which asks afterwards. That has its interrupt on before and after it is among these, so
     * the look at them stands between two at the thread.
     */
    private synchronized void interrupt() {
        if (runs
                && interrupts
                && TOLD.add(this)
                && !thread.isInterrupted()
                && !WAITING.contains(thread)
                && !thread.isInterrupted()) {
            wasInterrupted = true;
            thread.interrupt();
        }
    }

    /** It was told, perhaps while the thread waited through interrupts; the thread calls this. */
    private synchronized void interruptLate() {
        if (runs && !wasInterrupted && !thread.isInterrupted()) {
            wasInterrupted = true;
            thread.interrupt();
        }
    }

    /**
     * The interrupt of another section of this thread was taken back, which may have been this one's too: code that
     * catches one and sets it again leaves a moment in which both are sent.
     */
    private synchronized void interruptAgain(boolean wasThere) {
        if (runs && (wasThere || !wasInterrupted)) {
            wasInterrupted = true;
            thread.interrupt();
        }
    }

    /** Was meant for the work, which is over. Others that this thread is in may have been lost as well. */
    private void takeBackInterrupt() {
        boolean ours;
        synchronized (this) {
            TOLD.remove(this);
            ours = wasInterrupted && Thread.currentThread() == thread;
            if (ours) {
                wasInterrupted = false;
            }
        }
        if (ours) {
            boolean wasThere = Thread.interrupted();
            TOLD.stream().filter(told -> told.thread.equals(thread)).forEach(told -> told.interruptAgain(wasThere));
        }
    }

    /** Ends the work, and waits for the release where that may be waited for; said again it does nothing. */
    void end() {
        if (leave()) {
            awaitRelease();
        }
    }

    /** The same, also where another thread or the work itself has ended it: the caller gets the loss. */
    void finish() {
        leave();
        awaitRelease();
    }

    private boolean leave() {
        boolean ends;
        synchronized (this) {
            ends = runs;
            runs = false;
            if (ends) {
                releases = BlockingLockClient.granted(held).isHeld();
            }
        }
        takeBackInterrupt();
        return ends;
    }

    private void awaitRelease() {
        HeldLock lock = BlockingLockClient.granted(held);
        lock.endWork();
        if (!EventLoops.isCurrent()) {
            if (releases) {
                awaitUnlessInterrupted(ended); // the release goes on
            } else {
                awaitThrough(ended); // what comes then does not wait for the store
            }
        }
        synchronized (this) {
            if (failure != null) {
                throw told(failure);
            }
        }
    }

    private static void awaitUnlessInterrupted(CountDownLatch latch) {
        if (!Thread.currentThread().isInterrupted()) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends a work that threw. A loss is the reason to tell, and what the work threw then comes with it. */
    void finishAfter(Throwable thrown) {
        try {
            finish();
        } catch (RuntimeException loss) {
            if (!isCausedBy(thrown, loss) && !(thrown instanceof InterruptedException)) {
                loss.addSuppressed(thrown);
            }
            throw loss;
        }
    }

    /** A loss that an inner call threw is one object with that of the outer one. */
    private static boolean isCausedBy(Throwable thrown, Throwable loss) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>()); // causes may be a circle
        Throwable each = thrown;
        while (each != null && seen.add(each)) {
            each = each.getCause();
        }
        return seen.contains(loss);
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
        }
        interrupt(); // unless the cancelled work did
        answered.countDown();
        ended.countDown();
    }

    @Override
    public void onComplete() {
        answered.countDown();
        ended.countDown();
    }
}
