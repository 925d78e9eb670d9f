package io.github.reactivelock;

import io.github.reactivelock.state.LossReason;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * How long a hold may go on while one handle that joined it is in: the longest hold that its options allow and, where
 * they ask for no renewal, its lease. Whichever comes first ends the hold for all of its handles.
 */
final class HoldLimit implements Disposable {

    private final Hold hold;
    private final LockOptions options;
    private final Disposable longest;
    private final Disposable.Swap lease = Disposables.swap();

    private HoldLimit(Hold hold, LockOptions options) {
        this.hold = hold;
        this.options = options;
        this.longest = options.maxHold()
                .map(time -> after(time.toNanos(), LossReason.HELD_TOO_LONG))
                .orElse(Disposables.disposed());
        renewed();
    }

    /** Refuses what a hold cannot give to an acquisition that joins it. */
    static void check(Hold hold, LockOptions wanted) {
        if (wanted.isRenewed() && !hold.options.isRenewed()) {
            throw new IllegalArgumentException("lock '" + hold.key()
                    + "' is held withoutRenewal() by this flow already, so a renewed acquisition cannot join that hold;"
                    + " ask for this one withoutRenewal() too, or renew the outer one");
        }
        if (wanted.delay().compareTo(hold.options.delay()) > 0) {
            throw new IllegalArgumentException(
                    "lock '" + hold.key() + "' is held by this flow already, with a lockDelay of "
                            + hold.options.delay() + ", so an acquisition with one of " + wanted.delay()
                            + " cannot join that hold; ask for as much outside");
        }
    }

    /** Null where there is none. */
    static @Nullable HoldLimit of(Hold hold, LockOptions options) {
        return options.isRenewed() && options.maxHold().isEmpty() ? null : new HoldLimit(hold, options);
    }

    /** The lease began anew, because the handle was asked to renew it. */
    void renewed() {
        if (!options.isRenewed()) {
            lease.update(after(options.lease().toNanos(), LossReason.EXPIRED));
        }
    }

    private Disposable after(long nanos, LossReason reason) {
        return hold.endAfter(nanos, reason);
    }

    @Override
    public void dispose() {
        longest.dispose();
        lease.dispose();
    }
}
