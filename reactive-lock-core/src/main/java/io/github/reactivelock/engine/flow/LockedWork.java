package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.engine.hold.Unwinding;
import io.github.reactivelock.engine.user.ThreadLocals;
import io.github.reactivelock.spi.Claim;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.Scannable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Work under the locks of one or more keys, from the wait to the release. Not composed of {@code usingWhen}, which can
 * lose a resource that arrives while it is cancelled, drops the value when the clean-up fails, and has no place for a
 * loss in between. {@link FlowState} has its states, and {@link KeysInOrder} what comes before the work.
 *
 * <p>Where locks are nested, each of these passes one level after the other, inwards or outwards, and every so many
 * levels through {@link Unwinding}: then a level has moved and the next one moves later, on the same thread. Inwards
 * that is a grant which nothing has been done with (GRANTED), which a cancel gives back; outwards a release that was
 * answered (ENDING), which a cancel makes silent. A cancel moves every level when it comes there, and none gives its
 * lock back before all that is inside it was cancelled. Values are not put off, so that none is behind the end.
 *
 * <p>Reactor's operators throw fatal errors on. What comes back here by a call of the work, of the subscriber or of
 * what is run instead ends the flow, or the one around it, whose operators will signal nothing any more
 * ({@link #threw}).
 */
abstract class LockedWork<T> extends KeysInOrder
        implements CoreSubscriber<T>, Subscription, Scannable, Consumer<@Nullable LockException> {

    private static final Logger log = LoggerFactory.getLogger(LockedWork.class);

    final CoreSubscriber<? super T> actual;
    private final WithLock<T> asked;
    private final Operators.DeferredSubscription upstream = new Operators.DeferredSubscription();

    private Context context;
    /** What the work ended with, if not well. */
    private @Nullable Throwable workFailure;

    LockedWork(WithLock<T> asked, CoreSubscriber<? super T> actual) {
        super(asked.locks(), asked.keys(), asked.options(), mode(asked), actual.currentContext());
        this.asked = asked;
        this.actual = actual;
        this.context = ThreadLocals.keptIn(actual.currentContext());
    }

    private static Claim.Mode mode(WithLock<?> asked) {
        return asked.ifTaken() == null ? Claim.Mode.QUEUE : Claim.Mode.TRY;
    }

    // ---- what a Mono and a Flux do differently

    /** How much of the work is asked for when the subscriber asks for n. */
    abstract long demand(long n);

    /**
     * A value of the work, under locks that are held; returned is what is around this directly and has not got it yet.
     */
    abstract @Nullable LockedWork<? super T> next(T value);

    /** Emits what there is left to emit, and completes. */
    abstract void complete();

    /** Drops what was kept for later, once. */
    void discard() {}

    // ---- downstream

    @Override
    public final void request(long n) {
        if (Operators.validate(n)) {
            askFor(demand(n));
            if (begin()) {
                beginToAcquire();
            }
        }
    }

    @Override
    public final void cancel() {
        FlowState before = STATE.getAndUpdate(
                this,
                now -> now == FlowState.STARTING || now == FlowState.LEAVING ? FlowState.LEAVING : FlowState.DONE);
        if (before == FlowState.INSTEAD) {
            upstream.cancel();
            discard();
        } else if (before == FlowState.STARTING || before == FlowState.WORKING) {
            ContextHolds all = held();
            if (all != null && all.unwinds()) {
                Unwinding.run(Unwinding.Signal.CANCEL, all, () -> cancelWork(before));
            } else {
                cancelWork(before);
            }
        } else if (before.isAcquiring()) {
            stopAcquiring();
            if (before == FlowState.WAITING) {
                tellCancelled();
            }
        }
    }

    private void beginToAcquire() {
        try {
            acquireNext();
        } catch (Throwable e) { // there is no stack left, say
            FlowState before = STATE.getAndUpdate(this, now -> now.isAcquiring() ? FlowState.DONE : now);
            if (!before.isAcquiring()) {
                throw e;
            }
            stopAcquiring();
            emit(e);
        }
    }

    private void askFor(long more) {
        ContextHolds all = held();
        if (all != null && all.unwinds()) {
            Unwinding.run(Unwinding.Signal.REQUEST, all, () -> upstream.request(more));
        } else {
            upstream.request(more);
        }
    }

    private void cancelWork(FlowState before) {
        try {
            upstream.cancel();
        } finally {
            discard();
            afterCancels(() -> {
                if (before == FlowState.WORKING || !move(FlowState.LEAVING, FlowState.DONE)) {
                    giveBack();
                }
            });
        }
    }

    /** Locks are given back when all that is inside them has been cancelled. */
    private void afterCancels(Runnable task) {
        ContextHolds all = held();
        if (all != null && all.isDeep()) {
            Unwinding.afterCancels(all, task);
        } else {
            task.run();
        }
    }

    // ---- the locks

    @Override
    final void allHeld(ContextHolds all) {
        if (!move(FlowState.GRANTED, FlowState.STARTING) && !move(FlowState.TAKING, FlowState.STARTING)) {
            return;
        }
        try {
            context = used(all).in(context);
            if (isLost() || state != FlowState.STARTING) {
                return;
            }
            if (ThreadLocals.areKept(context)) {
                ThreadLocals.of(context, () -> asked.under(all).subscribe(this));
            } else {
                asked.under(all).subscribe(this);
            }
        } catch (Throwable e) { // a fatal one too, or the locks would be kept
            threw(e);
        } finally {
            if (!move(FlowState.STARTING, FlowState.WORKING)
                    && !move(FlowState.LEAVING, FlowState.DONE)
                    && state == FlowState.DONE) {
                giveBack();
            }
        }
    }

    /** An error that a hook or the work's cancelling throws now must not keep the locks. */
    @Override
    public final void threw(Throwable failure) {
        try {
            upstream.cancel();
        } catch (Throwable e) {
            failure.addSuppressed(e);
        }
        try {
            workEnded(failure);
        } catch (Throwable e) {
            log.error("lock '{}': a hook threw what work under it had thrown", key, e);
        }
    }

    /** An error is signalled to code of a user. */
    private void emit(Throwable failure) {
        try {
            actual.onError(failure);
        } catch (Throwable e) {
            if (!ContextHolds.tellAround(around(), e)) {
                throw e;
            }
        }
    }

    /**
     * What the subscriber threw that was to get a value or the end; it may not know yet that there is nothing to come.
     */
    private void subscriberThrew(Throwable thrown) {
        if (ContextHolds.tellAround(around(), thrown)) {
            return;
        }
        try {
            actual.onError(thrown);
        } catch (Throwable e) {
            thrown.addSuppressed(e);
        }
        throw Exceptions.propagate(thrown);
    }

    @Override
    final void tell(RuntimeException failure) {
        emit(failure);
    }

    @Override
    final void runInstead() {
        try {
            ThreadLocals.of(
                    context, () -> Objects.requireNonNull(asked.ifTaken()).subscribe(this));
        } catch (Throwable e) {
            threw(e);
        }
    }

    /** Called on the work scheduler, and where this finds it out itself. */
    @Override
    public final void lost(LockLostException loss) {
        if (move(FlowState.GRANTED, FlowState.FAILING) || move(FlowState.TAKING, FlowState.FAILING)) {
            stopAcquiring();
        } else if (!stopWorking(FlowState.FAILING)) {
            return;
        }
        try {
            ThreadLocals.of(context, upstream::cancel);
        } finally {
            discard();
            afterCancels(this::giveBack);
            locks.services().userCallbacks.schedule(() -> {
                if (move(FlowState.FAILING, FlowState.DONE)) {
                    emit(loss);
                }
            });
        }
    }

    // ---- the work

    @Override
    public final Context currentContext() {
        return context;
    }

    @Override
    public final void onSubscribe(Subscription subscription) {
        upstream.set(subscription);
    }

    @Override
    public final void onNext(T value) {
        LockedWork<? super T> at = this;
        while (at != null) { // and not a call of the next one, because locks may be nested thousands deep
            at = at.passed(value);
        }
    }

    /** Null, or whose value it is now. */
    private @Nullable LockedWork<? super T> passed(T value) {
        if (state == FlowState.INSTEAD || (isWorking() && !isLost())) {
            try {
                return next(value);
            } catch (Throwable e) {
                valueThrew(e);
                return null;
            }
        }
        Operators.onDiscard(value, context);
        return null;
    }

    /**
     * The flow around this ends and cancels it; and if there is none, or it does not get so far, this ends by itself.
     */
    private void valueThrew(Throwable thrown) {
        boolean isTold = ContextHolds.tellAround(around(), thrown);
        if (!isTold || isWorking()) {
            threw(thrown);
        }
    }

    @Override
    public final void onError(Throwable failure) {
        workEnded(failure);
    }

    @Override
    public final void onComplete() {
        if (state == FlowState.INSTEAD || !isLost()) {
            workEnded(null);
        }
    }

    private void workEnded(@Nullable Throwable failure) {
        boolean instead = move(FlowState.INSTEAD, FlowState.ENDING);
        if (instead || stopWorking(FlowState.ENDING)) {
            workFailure = failure;
            if (!instead && options.isReleaseAwaited()) {
                giveBackAll(this);
            } else {
                giveBack();
                finish();
            }
        } else if (failure != null) {
            Operators.onErrorDropped(failure, context);
        }
    }

    /** One of the releases was answered. */
    @Override
    public final void accept(@Nullable LockException outcome) {
        if (isLastAnswer()) {
            finish();
        }
    }

    private void finish() {
        ContextHolds all = held();
        if (all != null && all.unwinds()) {
            Unwinding.run(Unwinding.Signal.WORK, all, this::tellEnd);
        } else {
            tellEnd();
        }
    }

    private void tellEnd() {
        Throwable failure = workFailure;
        if (!move(FlowState.ENDING, FlowState.DONE)) {
            discard();
        } else if (failure != null) {
            discard();
            emit(failure);
        } else {
            try {
                complete();
            } catch (Throwable e) {
                subscriberThrew(e);
            }
        }
    }

    /** Or what is run instead does. */
    final boolean isWorking() {
        return state.isWorking();
    }

    /** In this order, because STARTING may become WORKING meanwhile and not the other way round. */
    private boolean stopWorking(FlowState to) {
        return move(FlowState.STARTING, to) || move(FlowState.WORKING, to);
    }

    // ---- what others look at

    @Override
    public final ContextView context() {
        return context;
    }

    /** It is kept there since the subscription. */
    @Override
    final Context heardContext() {
        return context;
    }

    @Override
    public final @Nullable Object scanUnsafe(@SuppressWarnings("rawtypes") Attr key) {
        if (key == Attr.PARENT) {
            return upstream;
        }
        if (key == Attr.ACTUAL) {
            return actual;
        }
        if (key == Attr.CANCELLED || key == Attr.TERMINATED) {
            return state == FlowState.DONE;
        }
        return key == Attr.RUN_STYLE ? Attr.RunStyle.ASYNC : null;
    }

    @Override
    public final String stepName() {
        return "withLock";
    }
}
