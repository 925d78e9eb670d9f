package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.UserCallbacks;
import io.github.reactivelock.state.LossReason;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * How long one handle that joined a hold lasts: the longest hold that its options allow and, where they ask for no
 * renewal, its lease. The earlier of the two ends that handle alone; the hold goes on for the others. Safe for use from
 * any thread.
 *
 * <pre>
 * state    leaves on                                  and does
 * OPEN     the handle leaves                          disposes the timers -> LEFT
 *          its time is over, by timer or by the clock cancels the work under it, then the handle leaves -> ENDED
 * </pre>
 */
final class HoldLimit implements Disposable {

    private final Handle handle;
    private final LockOptions options;
    private final Timing timing;
    private final long begun;
    private volatile long leaseBegun;
    private final LossSignal signal = new LossSignal();
    private final AtomicReference<@Nullable LockLostException> ended = new AtomicReference<>();
    private final Disposable longest;
    private final Disposable.Swap lease = Disposables.swap();

    private HoldLimit(Handle handle, LockOptions options) {
        this.handle = handle;
        this.options = options;
        this.timing = handle.hold.grant.services.timing;
        this.begun = timing.nowForCertain();
        this.longest = options.maxHold()
                .map(time -> after(time.toNanos(), LossReason.HELD_TOO_LONG))
                .orElse(Disposables.disposed());
        renewed();
    }

    /** Null where there is none. */
    static @Nullable HoldLimit of(Handle handle, LockOptions options) {
        return options.isRenewed() && options.maxHold().isEmpty() ? null : new HoldLimit(handle, options);
    }

    /** The lease began anew, because the handle was asked to renew it. */
    void renewed() {
        leaseBegun = timing.nowForCertain();
        if (!options.isRenewed()) {
            lease.update(after(options.lease().toNanos(), LossReason.EXPIRED));
        }
    }

    /** In nanoseconds, of both. */
    long remaining() {
        return ended.get() == null ? Math.max(0, Math.min(restOfLongest(), restOfLease())) : 0;
    }

    private long restOfLongest() {
        return options.maxHold()
                .map(time -> time.toNanos() - (timing.nowForCertain() - begun))
                .orElse(Long.MAX_VALUE);
    }

    private long restOfLease() {
        return options.isRenewed() ? Long.MAX_VALUE : options.lease().toNanos() - (timing.nowForCertain() - leaseBegun);
    }

    @Nullable
    LockLostException ended() {
        return ended.get();
    }

    /** A time that has passed is the end even if its timer has not run yet. */
    @Nullable
    LockLostException loss() {
        if (ended.get() == null && remaining() == 0) {
            lose(restOfLongest() <= 0 ? LossReason.HELD_TOO_LONG : LossReason.EXPIRED);
        }
        return ended.get();
    }

    private Disposable after(long nanos, LossReason reason) {
        return timing.after(nanos, () -> lose(reason));
    }

    private void lose(LossReason reason) {
        LockLostException lost = handle.hold.lossFor(reason);
        if (!handle.isGivenBack() && ended.compareAndSet(null, lost)) {
            UserCallbacks callbacks = handle.hold.grant.services.userCallbacks;
            callbacks.warn(lost);
            signal.lose(lost, callbacks, handle::giveBack);
        }
    }

    /** From now on the end of this handle ends the work, at once if it has come. */
    void enter(LossSignal.Work work) {
        signal.add(work);
        LockLostException lost = ended.get();
        if (lost != null) {
            LossSignal.tell(work, lost);
        }
    }

    void exit(LossSignal.Work work) {
        signal.remove(work);
    }

    /** Never completes empty. */
    public Mono<LockLostException> lost() {
        if (signal.begin() && loss() != null) {
            signal.complete(ended.get());
        }
        return signal.asMono();
    }

    @Override
    public void dispose() {
        longest.dispose();
        lease.dispose();
    }
}
