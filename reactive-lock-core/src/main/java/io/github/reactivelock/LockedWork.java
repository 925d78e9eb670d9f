package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Work under a lock, from the wait to the release. Not composed of {@code usingWhen}, which can lose a resource that
 * arrives while it is cancelled, drops the value when the clean-up fails, and has no place for a loss in between.
 *
 * <pre>
 * phase       leaves on                                     and does
 * NEW         first request                                 waits -> ACQUIRING
 * ACQUIRING   grant                                         calls the work and subscribes to it -> STARTING
 * STARTING    that is done                                  -> WORKING
 * both        the work ends                                 releases -> ENDING
 * both        loss, by signal or seen by the clock          cancels the work -> FAILING
 * FAILING     its turn on the work scheduler                emits the loss -> DONE
 * ENDING      the release has answered                      emits the work's outcome -> DONE
 * STARTING    cancel, by another thread or by the work      cancels the work -> LEAVING
 * LEAVING     the call or the cancel has returned           the first -> DONE, the second gives back
 * WORKING     cancel                                        cancels the work, gives back -> DONE
 * any other   failure to acquire; cancel                    -> DONE, giving back what comes late
 * </pre>
 *
 * <p>Where the work is itself one of these, as with several keys, the call lasts until the inner one's has returned, so
 * that no lock is given back while code under it is called.
 *
 * <p>Every change of phase is one compare-and-set, and only its winner acts. A Mono's value is kept until the release
 * has answered; a Flux's values go on at once, through a serializing subscriber because a loss comes from another thread.
 */
final class LockedWork<T> extends Waiter implements CoreSubscriber<T>, Subscription {

    private static final int NEW = 0;
    private static final int ACQUIRING = 1;
    private static final int STARTING = 2;
    private static final int WORKING = 3;
    private static final int ENDING = 4;
    private static final int FAILING = 5;
    private static final int LEAVING = 6;
    private static final int DONE = 7;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<LockedWork> PHASE =
            AtomicIntegerFieldUpdater.newUpdater(LockedWork.class, "phase");

    private final CoreSubscriber<? super T> actual;
    /** Whose work this is, if it is under another lock. */
    private final @Nullable LockedWork<?> around;

    private final Function<? super LockHandle, ? extends Publisher<T>> work;
    private final boolean single;
    private final long deadline;
    private final Operators.DeferredSubscription upstream = new Operators.DeferredSubscription();
    private volatile int phase;
    private volatile @Nullable Handle handle;
    /** The work is another of these, which tells when it has called what is under both. */
    private boolean isAround;

    private Context context;
    private volatile @Nullable T value;

    private LockedWork(
            Engine engine,
            String key,
            LockOptions options,
            long deadline,
            boolean single,
            Function<? super LockHandle, ? extends Publisher<T>> work,
            CoreSubscriber<? super T> actual) {
        super(engine, key, options, Claim.Mode.QUEUE);
        this.actual = single ? actual : Operators.serialize(actual);
        this.around = actual instanceof LockedWork<?> outer ? outer : null;
        if (around != null) {
            around.isAround = true;
        }
        this.work = work;
        this.single = single;
        this.deadline = deadline;
        this.context = actual.currentContext();
    }

    static <T> Mono<T> mono(
            Engine engine, String key, LockOptions options, Function<? super LockHandle, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        return Mono.fromDirect(s -> publisher(engine, key, options, engine.timing.deadline(options), true, work)
                .subscribe(s));
    }

    static <T> Flux<T> flux(
            Engine engine, String key, LockOptions options, Function<? super LockHandle, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        return Flux.from(s -> publisher(engine, key, options, engine.timing.deadline(options), false, work)
                .subscribe(s));
    }

    /** As the two above, for one of several keys whose waits share a deadline. */
    static <T> Publisher<T> publisher(
            Engine engine,
            String key,
            LockOptions options,
            long deadline,
            boolean single,
            Function<? super LockHandle, ? extends Publisher<T>> work) {
        return subscriber -> {
            CoreSubscriber<? super T> actual = Operators.toCoreSubscriber(subscriber);
            actual.onSubscribe(new LockedWork<>(engine, key, options, deadline, single, work, actual));
        };
    }

    // ---- downstream

    @Override
    public void request(long n) {
        if (!Operators.validate(n)) {
            return;
        }
        upstream.request(single ? Long.MAX_VALUE : n);
        if (!move(NEW, ACQUIRING)) {
            return;
        }
        Hold held = engine.reentrant(context, key);
        if (held != null && held.reenter()) {
            granted(new Handle(held));
            return;
        }
        LockLostException lost = held == null ? null : held.loss();
        if (lost != null) {
            failed(lost);
        } else {
            engine.enqueue(this, deadline);
        }
    }

    @Override
    public void cancel() {
        int before = PHASE.getAndUpdate(this, now -> now == STARTING || now == LEAVING ? LEAVING : DONE);
        if (before == STARTING || before == WORKING) {
            try {
                upstream.cancel();
            } finally {
                discardValue();
                if (before == WORKING || !move(LEAVING, DONE)) {
                    giveBack();
                }
            }
        } else if (before == ACQUIRING) {
            cancelWait();
        }
        if (around != null && (before == NEW || before == ACQUIRING)) {
            around.called();
        }
    }

    // ---- the lock

    @Override
    void granted(Handle granted) {
        handle = granted;
        context = HeldLocks.add(context, granted.hold);
        if (!move(ACQUIRING, STARTING)) {
            granted.giveBack();
            return;
        }
        granted.hold.enter(this);
        if (!isLost() && phase == STARTING) {
            try {
                Objects.requireNonNull(work.apply(granted), "the work under a lock must not be null")
                        .subscribe(this);
            } catch (Throwable e) { // a fatal one too, or the lock would be kept
                upstream.cancel();
                end(e);
            }
        }
        if (!isAround) {
            called();
        }
    }

    /** Nothing that this or a lock inside it calls is running any more. Called once: LEAVING counts on it. */
    private void called() {
        if (!move(STARTING, WORKING) && !move(LEAVING, DONE) && phase == DONE) {
            giveBack();
        }
        if (around != null) {
            around.called();
        }
    }

    @Override
    void failed(LockException failure) {
        if (move(ACQUIRING, DONE)) {
            actual.onError(failure);
        }
    }

    /** Called by the hold, and by whoever finds it out himself. */
    void lost(LockLostException loss) {
        if (stopWorking(FAILING)) {
            upstream.cancel();
            discardValue();
            giveBack();
            engine.reports.run(() -> {
                if (move(FAILING, DONE)) {
                    actual.onError(loss);
                }
            });
        }
    }

    /** Looks at the clock, because a timer may be late where the work is not; true if the work must stop. */
    private boolean isLost() {
        Handle current = handle;
        LockLostException loss = current == null ? null : current.hold.loss();
        if (loss != null) {
            lost(loss);
        }
        return loss != null;
    }

    private void giveBack() {
        Handle current = handle;
        if (current != null) {
            current.hold.exit(this);
            current.giveBack();
        }
    }

    // ---- the work

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        boolean unused = upstream.set(subscription);
    }

    @Override
    public void onNext(T next) {
        if (!isWorking() || isLost()) {
            Operators.onDiscard(next, context);
        } else if (single) {
            value = next;
            if (!isWorking()) { // cancelled or lost meanwhile, by one who saw no value yet
                discardValue();
            }
        } else {
            actual.onNext(next);
        }
    }

    @Override
    public void onError(Throwable failure) {
        end(failure);
    }

    @Override
    public void onComplete() {
        if (!isLost()) {
            end(null);
        }
    }

    private void end(@Nullable Throwable failure) {
        Handle current = handle;
        if (current != null && stopWorking(ENDING)) {
            current.hold.exit(this);
            current.leave(unreleased -> finish(failure));
        } else if (failure != null) {
            Operators.onErrorDropped(failure, context);
        }
    }

    private void finish(@Nullable Throwable failure) {
        T last = value;
        if (!move(ENDING, DONE)) {
            discardValue();
        } else if (failure != null) {
            discardValue();
            actual.onError(failure);
        } else {
            if (last != null) {
                actual.onNext(last);
            }
            actual.onComplete();
        }
    }

    private void discardValue() {
        T unwanted = value;
        if (unwanted != null) {
            value = null;
            Operators.onDiscard(unwanted, context);
        }
    }

    @Override
    ContextView context() {
        return context;
    }

    private boolean isWorking() {
        int now = phase;
        return now == STARTING || now == WORKING;
    }

    /** In this order, because STARTING may become WORKING meanwhile and not the other way round. */
    private boolean stopWorking(int to) {
        return move(STARTING, to) || move(WORKING, to);
    }

    private boolean move(int from, int to) {
        return PHASE.compareAndSet(this, from, to);
    }
}
