package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.engine.hold.Unwinding;
import io.github.reactivelock.engine.user.ThreadLocals;
import io.github.reactivelock.spi.Claim;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
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
 * loss in between.
 *
 * <pre>
 * state       leaves on                                     and does
 * NEW         first request                                 waits for the first key -> WAITING
 * GRANTED     grant of the last key                         calls the work and subscribes to it -> STARTING
 * or TAKING   loss of a key that is held already            stops waiting, gives back -> FAILING
 * STARTING    that call has returned                        -> WORKING
 * or WORKING  the work ends                                 releases -> ENDING
 *             loss, by signal or seen by the clock          cancels the work, gives back -> FAILING
 * FAILING     its turn on the work scheduler                emits the loss -> DONE
 * ENDING      the releases have answered, or at once        emits the work's outcome -> DONE
 *             where they are not awaited
 * INSTEAD     that has ended                                -> ENDING, with nothing to release
 * STARTING    cancel, by another thread or by the work      cancels the work -> LEAVING
 * LEAVING     the call or the cancel has returned           the first -> DONE, the second gives back
 * WORKING     cancel; INSTEAD too                           cancels the work, gives back -> DONE
 * any other   failure to acquire; cancel                    -> DONE, giving back what is held and what comes late
 * </pre>
 *
 * <p>It is the state of the {@link Waiter}, and {@link KeysInOrder} has what comes before. Every change
 * is one compare-and-set, and only its winner acts. Who moves what:
 *
 * <pre>
 * the thread of the grant, or of the outer lock's work      GRANTED, TAKING -> STARTING -> WORKING
 * any thread that cancels                                   any -> DONE, or STARTING -> LEAVING -> DONE
 * one of the work scheduler, of a loss                      any that has a lock -> FAILING -> DONE
 * the thread that the work ends on                          STARTING, WORKING, INSTEAD -> ENDING
 * that of the last release's answer                         ENDING -> DONE
 * </pre>
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
    private static final int STARTING = MORE;
    private static final int WORKING = MORE + 1;
    private static final int ENDING = MORE + 2;
    private static final int FAILING = MORE + 3;
    private static final int LEAVING = MORE + 4;

    final CoreSubscriber<? super T> actual;
    private final Function<? super ContextHolds, ? extends Publisher<T>> work;
    private final @Nullable Publisher<T> ifTaken;
    private final Operators.DeferredSubscription upstream = new Operators.DeferredSubscription();

    private Context context;
    /** What the work ended with, if not well. */
    private @Nullable Throwable workFailure;

    LockedWork(
            Locks locks,
            List<String> keys,
            LockOptions options,
            Function<? super ContextHolds, ? extends Publisher<T>> work,
            @Nullable Publisher<T> ifTaken,
            CoreSubscriber<? super T> actual) {
        super(locks, keys, options, ifTaken == null ? Claim.Mode.QUEUE : Claim.Mode.TRY, actual.currentContext());
        this.work = work;
        this.ifTaken = ifTaken;
        this.actual = actual;
        this.context = ThreadLocals.keptIn(actual.currentContext());
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
        int before = STATE.getAndUpdate(this, now -> now == STARTING || now == LEAVING ? LEAVING : DONE);
        if (before == INSTEAD) {
            upstream.cancel();
            discard();
        } else if (before == STARTING || before == WORKING) {
            ContextHolds all = held();
            if (all != null && all.unwinds()) {
                Unwinding.run(Unwinding.Signal.CANCEL, all, () -> cancelWork(before));
            } else {
                cancelWork(before);
            }
        } else if (isAcquiring(before)) {
            stopAcquiring();
            if (before == WAITING) {
                tellCancelled();
            }
        }
    }

    private void beginToAcquire() {
        try {
            acquireNext();
        } catch (Throwable e) { // there is no stack left, say
            int before = STATE.getAndUpdate(this, now -> isAcquiring(now) ? DONE : now);
            if (!isAcquiring(before)) {
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

    private void cancelWork(int before) {
        try {
            upstream.cancel();
        } finally {
            discard();
            afterCancels(() -> {
                if (before == WORKING || !move(LEAVING, DONE)) {
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
        if (!move(GRANTED, STARTING) && !move(TAKING, STARTING)) {
            return;
        }
        try {
            context = used(all).in(context);
            if (isLost() || state != STARTING) {
                return;
            }
            if (ThreadLocals.areKept(context)) {
                ThreadLocals.of(context, () -> work.apply(all).subscribe(this));
            } else {
                work.apply(all).subscribe(this);
            }
        } catch (Throwable e) { // a fatal one too, or the locks would be kept
            threw(e);
        } finally {
            if (!move(STARTING, WORKING) && !move(LEAVING, DONE) && state == DONE) {
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
            end(failure);
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
            ThreadLocals.of(context, () -> Objects.requireNonNull(ifTaken).subscribe(this));
        } catch (Throwable e) {
            threw(e);
        }
    }

    /** Called on the work scheduler, and where this finds it out itself. */
    @Override
    public final void lost(LockLostException loss) {
        if (move(GRANTED, FAILING) || move(TAKING, FAILING)) {
            stopAcquiring();
        } else if (!stopWorking(FAILING)) {
            return;
        }
        try {
            ThreadLocals.of(context, upstream::cancel);
        } finally {
            discard();
            afterCancels(this::giveBack);
            locks.services().userCallbacks.run(() -> {
                if (move(FAILING, DONE)) {
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
        boolean unused = upstream.set(subscription);
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
        if (state == INSTEAD || (isWorking() && !isLost())) {
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
        end(failure);
    }

    @Override
    public final void onComplete() {
        if (state == INSTEAD || !isLost()) {
            end(null);
        }
    }

    private void end(@Nullable Throwable failure) {
        boolean instead = move(INSTEAD, ENDING);
        if (instead || stopWorking(ENDING)) {
            workFailure = failure;
            if (!instead && options.isReleaseAwaited()) {
                leaveAll(this);
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
        if (!move(ENDING, DONE)) {
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
        int now = state;
        return now == STARTING || now == WORKING || now == INSTEAD;
    }

    /** In this order, because STARTING may become WORKING meanwhile and not the other way round. */
    private boolean stopWorking(int to) {
        return move(STARTING, to) || move(WORKING, to);
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
            return state == DONE;
        }
        return key == Attr.RUN_STYLE ? Attr.RunStyle.ASYNC : null;
    }

    @Override
    public final String stepName() {
        return "withLock";
    }
}
