package io.github.reactivelock.adapters;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.blocking.BlockingLockClient;
import io.github.reactivelock.blocking.HeldLock;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * A lock that ends at a time that its holder says, unless the holder extends it. An extension joins the hold and lets
 * its lease start anew, so the fencing token stays. The store knows the first lease only: where the hold is to last
 * longer it is renewed until the last lease ends in time, and where it is to end sooner it is given back then.
 */
public final class LeasedLock {

    /** What {@link LockOptions#withLease} takes. */
    private static final Duration SHORTEST = Duration.ofMillis(100);

    private final BlockingLockClient locks;
    /** Of the first of all extensions: below one another they would be ever deeper. */
    private final ContextView hold;

    private final HeldLock held;
    /** At the store. */
    private final Duration lease;

    private final long endsAt;
    private final Disposable timer;

    private LeasedLock(
            BlockingLockClient locks, ContextView hold, HeldLock held, Duration lease, Duration atMost, long from) {
        this.locks = locks;
        this.hold = hold;
        this.held = held;
        this.lease = lease;
        this.endsAt = from + atMost.toNanos();
        this.timer = atMost.compareTo(lease) > 0
                ? FireAndForget.cancellable("a renewal of " + handle(held).key(), renewals())
                : atMost.compareTo(SHORTEST) < 0
                        ? FireAndForget.cancellable(
                                "the end of " + handle(held).key(),
                                Mono.delay(atMost, DriverThreads.timer())
                                        .then(Mono.defer(() -> handle(held).release())))
                        : Disposables.disposed();
    }

    /**
     * Takes a lock if it is free.
     *
     * @param locks whose options are kept, but for the lease and what goes with it
     * @param key the lock's key
     * @param atMost after which it ends, more than zero
     * @param atLeast how long it stays taken although it is released; zero for no longer
     * @return empty if it is taken
     */
    public static Optional<LeasedLock> take(BlockingLockClient locks, String key, Duration atMost, Duration atLeast) {
        BlockingLockClient leased = leased(locks, atMost, atLeast);
        return throughInterrupts(() -> leased.tryAcquire(key))
                .map(held -> new LeasedLock(
                        locks, held.context(), held, leased.options().lease(), atMost, System.nanoTime()));
    }

    private static BlockingLockClient leased(BlockingLockClient locks, Duration atMost, Duration atLeast) {
        if (atMost.isZero() || atMost.isNegative()) {
            throw new IllegalArgumentException(
                    "a lock that ends after " + atMost + " would never be held; give it a longer time");
        }
        LockOptions options = locks.options()
                .withoutRetention()
                .withoutRenewal()
                .withLease(atMost.compareTo(SHORTEST) < 0 ? SHORTEST : atMost);
        return locks.with(atLeast.toMillis() > 0 ? options.withMinHold(atLeast) : options);
    }

    /** {@return whether the holder may still act} */
    public boolean isHeld() {
        return endsAt - System.nanoTime() > 0 && held.isHeld();
    }

    /**
     * Lets it last from now on for other times; this object is of no more use then.
     *
     * @param atMost after which it ends, more than zero
     * @param atLeast how long it stays taken although it is released; what was said before is not shortened
     * @return empty if it is over
     * @throws LockUnavailableException if the store did not answer; this lock is then as it was
     */
    public Optional<LeasedLock> extend(Duration atMost, Duration atLeast) {
        BlockingLockClient joining = leased(locks, atMost, atLeast).within(hold);
        if (!isHeld()) {
            release();
            return Optional.empty();
        }
        String key = handle(held).key();
        long from = System.nanoTime();
        HeldLock joined = throughInterrupts(() -> joining.tryAcquire(key)).orElse(null);
        // Over meanwhile, it may have been taken by another, or anew here.
        boolean isSame = joined != null && joined.fencingToken() == held.fencingToken();
        if (joined == null || !isSame || !renewOrGiveBack(joined) || !release()) {
            giveBack(joined);
            release();
            return Optional.empty();
        }
        return Optional.of(new LeasedLock(locks, hold, joined, lease, atMost, from));
    }

    private static boolean renewOrGiveBack(HeldLock joined) {
        try {
            return renew(joined);
        } catch (LockUnavailableException e) {
            giveBack(joined);
            throw e;
        }
    }

    /** False if it is lost. */
    private static boolean renew(HeldLock joined) {
        try {
            Void unused = handle(joined).renew().toFuture().join();
            return true;
        } catch (CompletionException e) {
            if (e.getCause() instanceof LockLostException) {
                return false;
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : e;
        }
    }

    /** Until the lease that begins with the last one ends in time. */
    private Mono<Void> renewals() {
        long last = endsAt - lease.toNanos();
        Duration pause = lease.dividedBy(3);
        return Mono.defer(() -> {
                    Duration rest = Duration.ofNanos(Math.max(0, last - System.nanoTime()));
                    Mono<Void> renewed = handle(held).renew().onErrorComplete(LockUnavailableException.class);
                    return Mono.delay(rest.compareTo(pause) < 0 ? rest : pause, DriverThreads.timer())
                            .then(renewed);
                })
                .repeat(() -> last - System.nanoTime() > 0)
                .then();
    }

    /**
     * Ends it. Again it does nothing.
     *
     * @return false if it was over before
     */
    public boolean release() {
        boolean wasHeld = isHeld();
        timer.dispose();
        return giveBack(held) && wasHeld;
    }

    private static boolean giveBack(@Nullable HeldLock held) {
        try {
            if (held != null) {
                held.close();
            }
            return true;
        } catch (LockLostException e) {
            return false;
        }
    }

    private static LockHandle handle(HeldLock held) {
        return held.handles().get(0);
    }

    /** What an interrupt ends. */
    private interface Question<T> {
        T ask() throws InterruptedException;
    }

    /** Asks until there is an answer; an interrupt is on the thread again afterwards. */
    private static <T> T throughInterrupts(Question<T> question) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return question.ask();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
