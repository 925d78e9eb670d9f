package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * A flow that takes the locks of one or more keys, one after the other in their order, so that two flows never wait for
 * each other, and gives them back together.
 *
 * <p>{@code held} is written before it is asked whether the flow still wants more, and whoever ends the flow says so
 * before {@code held} is read: so a grant that crosses the end is given back by one of the two, or by both, which a
 * {@link Handle} takes as one.
 */
abstract class KeysInOrder extends Waiter implements LossSignal.Work {

    private static final AtomicIntegerFieldUpdater<KeysInOrder> ADVANCING =
            AtomicIntegerFieldUpdater.newUpdater(KeysInOrder.class, "advancing");

    private static final AtomicIntegerFieldUpdater<KeysInOrder> UNANSWERED =
            AtomicIntegerFieldUpdater.newUpdater(KeysInOrder.class, "unanswered");

    /** The first lock is held, and others are waited for; GRANTED is followed by this or by the work. */
    static final int TAKING = OWN;

    private final List<String> keys;
    private final long deadline;
    private final @Nullable ContextHolds outer;

    @SuppressWarnings("UnusedVariable") // only ever used through ADVANCING
    private volatile int advancing;

    @SuppressWarnings("UnusedVariable") // counted down through UNANSWERED
    private volatile int unanswered;

    private volatile @Nullable ContextHolds held;
    private volatile int granted;
    private volatile Waiter waiting = this;

    KeysInOrder(Locks locks, List<String> keys, LockOptions options, @Nullable ContextHolds outer) {
        super(locks, keys.get(0), options, Claim.Mode.QUEUE);
        this.keys = keys;
        this.deadline = locks.services().timing.deadline(options);
        this.outer = outer;
        this.held = outer;
    }

    /** All locks are held, which may have been too late. */
    abstract void allHeld(ContextHolds all);

    /** One of the locks will not be held; called once, if the flow has not ended otherwise. */
    abstract void tell(RuntimeException failure);

    /** False once the flow has ended, or has all locks. */
    private boolean isAcquiring() {
        return isAcquiring(state);
    }

    static boolean isAcquiring(int state) {
        return state == WAITING || state == GRANTED || state == TAKING;
    }

    /** One key after the other; a loop and not a recursion, because a store may answer at once and keys be many. */
    final void acquireNext() {
        if (ADVANCING.getAndIncrement(this) == 0) {
            do {
                Waiter next = granted == 0 ? this : new LaterKey(keys.get(granted));
                waiting = next;
                if (isAcquiring()) {
                    next.acquire(deadline);
                }
            } while (ADVANCING.decrementAndGet(this) != 0);
        }
    }

    /** Called by who ended the flow while it was acquiring. */
    final void stopAcquiring() {
        Waiter last = waiting;
        if (last == this) {
            leaveLine();
        } else {
            last.cancelWait();
        }
        giveBack();
    }

    @Override
    final boolean wantsMore() {
        return granted + 1 < keys.size();
    }

    @Override
    final void granted(Handle handle) {
        ContextHolds all = keep(handle);
        if (all != null) {
            allHeld(all);
        }
    }

    @Override
    final void joined(Handle handle) {
        ContextHolds all = keep(handle);
        if (all != null && keys.size() == 1) {
            allHeld(all);
        } else if (all != null) { // perhaps inside the event that granted the key before
            locks.services().userCallbacks.run(() -> allHeld(all));
        }
    }

    /** Keeps a grant, unless it comes too late; all of them if it was the last one. */
    private @Nullable ContextHolds keep(Handle handle) {
        ContextHolds now = new ContextHolds(handle, held);
        held = now;
        int count = granted + 1;
        granted = count;
        handle.hold.enter(this);
        if (!isAcquiring()) {
            handle.hold.exit(this);
            handle.giveBack();
            return null;
        }
        if (count == keys.size()) {
            return now;
        }
        boolean unused = move(GRANTED, TAKING);
        acquireNext();
        return null;
    }

    @Override
    final void failed(RuntimeException failure) {
        if (move(OVER, DONE)) {
            tell(failure);
        }
    }

    private void failedLater(RuntimeException failure) {
        if (move(TAKING, DONE)) {
            giveBack();
            tell(failure);
        }
    }

    /** Looks at the clock, because a timer may be late where the work is not. */
    final @Nullable LockLostException loss() {
        for (ContextHolds each = held; each != null && each != outer; each = each.outer()) {
            LockLostException loss = each.handle().hold.loss();
            if (loss != null) {
                return loss;
            }
        }
        return null;
    }

    /** Without waiting for the outcome. Idempotent. */
    final void giveBack() {
        for (ContextHolds each = held; each != null && each != outer; each = each.outer()) {
            each.handle().hold.exit(this);
            each.handle().giveBack();
        }
    }

    /** All that were granted; each release is told of, see {@link #isLastAnswer}. */
    final void leaveAll(Consumer<@Nullable LockException> answered) {
        unanswered = granted;
        for (ContextHolds each = held; each != null && each != outer; each = each.outer()) {
            each.handle().hold.exit(this);
            each.handle().leave(answered);
        }
    }

    /** Called once for each answer. */
    final boolean isLastAnswer() {
        return UNANSWERED.decrementAndGet(this) == 0;
    }

    /** The wait for a key after the first, which has this flow's own waiter. */
    private final class LaterKey extends Waiter {

        LaterKey(String key) {
            super(KeysInOrder.this.locks, key, KeysInOrder.this.options, Claim.Mode.QUEUE);
            boolean unused = begin();
        }

        @Override
        boolean wantsMore() {
            return KeysInOrder.this.wantsMore();
        }

        @Override
        void granted(Handle handle) {
            KeysInOrder.this.granted(handle);
        }

        @Override
        void joined(Handle handle) {
            KeysInOrder.this.joined(handle);
        }

        @Override
        void failed(RuntimeException failure) {
            KeysInOrder.this.failedLater(failure);
        }

        @Override
        ContextView context() {
            return KeysInOrder.this.context();
        }
    }
}
