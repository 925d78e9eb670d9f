package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.LossSignal;
import io.github.reactivelock.engine.hold.Unwinding;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.HeardRequest;
import io.github.reactivelock.spi.Claim;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A flow that takes the locks of one or more keys, one after the other in their order, so that two flows never wait for
 * each other, and gives them back together.
 *
 * <p>{@code held} is written before it is asked whether the flow still wants more, and the end of the flow is written
 * before {@code held} is read: so a grant that crosses the end is given back by one of the two, or by both, which a
 * {@link Handle} takes as one.
 */
abstract class KeysInOrder extends Waiter implements LossSignal.Work {

    private static final AtomicIntegerFieldUpdater<KeysInOrder> ADVANCING =
            AtomicIntegerFieldUpdater.newUpdater(KeysInOrder.class, "advancing");

    private static final AtomicIntegerFieldUpdater<KeysInOrder> UNANSWERED =
            AtomicIntegerFieldUpdater.newUpdater(KeysInOrder.class, "unanswered");

    private final List<String> keys;
    private volatile long deadline = Timing.NEVER;
    /** The time for all keys runs: the first was asked for, and the store has answered at some time. */
    private volatile boolean begun;

    private final @Nullable ContextHolds outer;

    @SuppressWarnings("UnusedVariable") // only ever used through ADVANCING
    private volatile int advancing;

    @SuppressWarnings("UnusedVariable") // counted down through UNANSWERED
    private volatile int unanswered;

    private volatile @Nullable ContextHolds held;
    private volatile int granted;
    private volatile Waiter waiting = this;

    KeysInOrder(Locks locks, List<String> keys, LockOptions options, Claim.Mode mode, ContextView context) {
        super(locks, keys.get(0), options, mode);
        this.keys = keys;
        this.outer = ContextHolds.of(context);
        this.held = outer;
    }

    /** All locks are held, which may have been too late. */
    abstract void allHeld(ContextHolds all);

    /** One of the locks will not be held; called once, if the flow has not ended otherwise. */
    abstract void tell(RuntimeException failure);

    /** One of the locks is taken, and nothing is held; called once, if the flow has not ended otherwise. */
    abstract void runInstead();

    /** False once the flow has ended, or has all locks. */
    private boolean isAcquiring() {
        return state.isAcquiring();
    }

    /** For all keys together. */
    @Override
    final long beginAnew() {
        deadline = super.beginAnew();
        begun = true;
        return deadline;
    }

    private long deadlineOfAll() {
        return begun ? deadline : beginAnew();
    }

    /** One key after the other; a loop and not a recursion, because a store may answer at once and keys be many. */
    final void acquireNext() {
        if (ADVANCING.getAndIncrement(this) == 0) {
            do {
                Waiter next = granted == 0 ? this : new LaterKey(keys.get(granted), waiting);
                waiting = next;
                if (isAcquiring()) {
                    next.acquire();
                }
            } while (ADVANCING.decrementAndGet(this) != 0);
        }
    }

    /** Called by who ended the flow while it was acquiring. */
    final void stopAcquiring() {
        Waiter last = waiting;
        if (last == this) {
            leaveQueue();
        } else {
            last.cancelWait();
        }
        giveBack();
    }

    @Override
    public final boolean wantsMore() {
        return granted + 1 < keys.size();
    }

    @Override
    public final void granted(Handle handle) {
        ContextHolds all = keep(handle);
        if (all != null && all.unwinds()) {
            unwind(all);
        } else if (all != null) {
            allHeld(all);
        }
    }

    /** Where the subscriber subscribes, but for every so many levels of nested locks. */
    @Override
    final void joined(Handle handle) {
        ContextHolds all = keep(handle);
        if (all != null && keys.size() == 1 && !all.unwinds()) {
            allHeld(all);
        } else if (all != null) { // perhaps inside the event that granted the key before
            locks.services().userCallbacks.schedule(() -> unwind(all));
        }
    }

    private void unwind(ContextHolds all) {
        Unwinding.run(Unwinding.Signal.WORK, all, () -> allHeld(all));
    }

    /** What the flow was under when it began. */
    final @Nullable ContextHolds around() {
        return outer;
    }

    /** What the flow is under, its own holds included. */
    final @Nullable ContextHolds held() {
        return held;
    }

    /** Keeps a grant, unless it comes too late; all of them if it was the last one. */
    private @Nullable ContextHolds keep(Handle handle) {
        ContextHolds now = new ContextHolds(handle, held, ContextHolds.levelUnder(outer));
        held = now;
        int count = granted + 1;
        granted = count;
        handle.enter(this);
        if (!isAcquiring()) {
            handle.exit(this);
            handle.giveBack();
            return null;
        }
        if (count == keys.size()) {
            return now;
        }
        move(FlowState.GRANTED, FlowState.TAKING);
        acquireNext();
        return null;
    }

    @Override
    final void failed(RuntimeException failure) {
        if (move(FlowState.OVER, FlowState.DONE)) {
            tell(failure);
        }
    }

    @Override
    final void busy() {
        if (move(FlowState.OVER, FlowState.INSTEAD)) {
            runInstead();
        }
    }

    private void busyLater() {
        if (move(FlowState.TAKING, FlowState.YIELDING)) {
            giveBackAll(outcome -> {
                if (isLastAnswer() && move(FlowState.YIELDING, FlowState.INSTEAD)) {
                    runInstead();
                }
            });
        }
    }

    private void failedLater(RuntimeException failure) {
        if (move(FlowState.TAKING, FlowState.DONE)) {
            giveBack();
            tell(failure);
        }
    }

    /** The work is about to begin under all of them. */
    final ContextHolds used(ContextHolds all) {
        for (ContextHolds each = all; each != null && each != outer; each = each.outer()) {
            each.handle().hold.keepFor(options);
        }
        return all;
    }

    /**
     * Whether one of the locks is lost, of which the flow then hears; by the clock too, because a timer may be late.
     */
    final boolean isLost() {
        for (ContextHolds each = held; each != null && each != outer; each = each.outer()) {
            LockLostException loss = each.handle().loss();
            if (loss != null) {
                lost(loss);
                return true;
            }
        }
        return false;
    }

    /** Without waiting for the outcome. Idempotent. */
    final void giveBack() {
        for (ContextHolds each = held; each != null && each != outer; each = each.outer()) {
            each.handle().exit(this);
            each.handle().giveBack();
        }
    }

    /** Gives all back that were granted; each release has an answer, see {@link #isLastAnswer}. */
    final void giveBackAll(Consumer<@Nullable LockException> answered) {
        unanswered = granted;
        for (ContextHolds each = held; each != null && each != outer; each = each.outer()) {
            each.handle().exit(this);
            each.handle().giveBack(answered);
        }
    }

    /** Called once for each answer. */
    final boolean isLastAnswer() {
        return UNANSWERED.decrementAndGet(this) == 0;
    }

    /** The wait for a key after the first, which has this flow's own waiter. */
    private final class LaterKey extends Waiter {

        LaterKey(String key, Waiter before) {
            super(KeysInOrder.this.locks, key, KeysInOrder.this.options, KeysInOrder.this.mode());
            this.metOthers = before.metOthers;
            this.state = FlowState.WAITING;
        }

        @Override
        public boolean wantsMore() {
            return KeysInOrder.this.wantsMore();
        }

        /** Perhaps inside the event that granted the key before. */
        @Override
        void tellNews(HeardRequest request) {
            request.tellLater();
        }

        @Override
        long beginAnew() {
            return KeysInOrder.this.beginAnew();
        }

        @Override
        long deadline() {
            return deadlineOfAll();
        }

        @Override
        public boolean isTooLate(long now) {
            long deadline = deadlineOfAll();
            return deadline != Timing.NEVER && deadline - now <= 0;
        }

        @Override
        public void granted(Handle handle) {
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
        void busy() {
            KeysInOrder.this.busyLater();
        }

        @Override
        public ContextView context() {
            return KeysInOrder.this.context();
        }

        @Override
        Context heardContext() {
            return KeysInOrder.this.heardContext();
        }
    }
}
