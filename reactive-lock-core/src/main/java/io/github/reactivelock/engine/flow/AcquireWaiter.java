package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Unwinding;
import io.github.reactivelock.spi.Claim;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

/**
 * A flow that wants the handle itself. It begins with the first request, so there is demand when the grant comes, and a
 * single compare-and-set decides between delivery and cancel: a handle that comes too late is given back. (A sink of
 * {@code Mono.create} lets a value that races a cancel fall into a global hook, where it would leak.)
 */
public final class AcquireWaiter extends Waiter implements Subscription {

    private final CoreSubscriber<? super LockHandle> actual;

    private AcquireWaiter(
            Locks locks, String key, LockOptions options, Claim.Mode mode, CoreSubscriber<? super LockHandle> actual) {
        super(locks, key, options, mode);
        this.actual = actual;
    }

    public static Mono<LockHandle> mono(Locks locks, String key, LockOptions options, Claim.Mode mode) {
        return Mono.fromDirect(subscriber -> {
            CoreSubscriber<? super LockHandle> actual = Operators.toCoreSubscriber(subscriber);
            if (Schedulers.isInNonBlockingThread() && isAboutToBlock(actual)) {
                Operators.error(
                        actual,
                        new IllegalStateException("lock '" + key + "' was not asked for: block() is refused on "
                                + Thread.currentThread().getName() + "; subscribe, or block on another thread"));
            } else {
                actual.onSubscribe(new AcquireWaiter(locks, key, options, mode, actual));
            }
        });
    }

    /**
     * Whether this flow ends in {@code block()}, on this very thread. Where that thread may not block, Reactor notices
     * only after the subscription, and the handle would be lost. Here the last subscriber has no subscription yet; a
     * subscriber that waits on another thread would have one. Knows the classes' names only, and errs on the side of
     * going on.
     */
    private static boolean isAboutToBlock(CoreSubscriber<?> actual) {
        Scannable last = Scannable.from(actual);
        for (Scannable next = last; next != null; next = next.scan(Scannable.Attr.ACTUAL)) {
            last = next;
        }
        return last.getClass().getName().startsWith("reactor.core.publisher.Blocking")
                && last.scan(Scannable.Attr.PARENT) == null;
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n) && begin()) {
            acquire();
        }
    }

    @Override
    public void cancel() {
        if (STATE.getAndSet(this, FlowState.DONE) == FlowState.WAITING) {
            leaveQueue();
            tellCancelled();
        }
    }

    /**
     * This thread may have got no turn since the grant, so the clock decides whether there is still something to give.
     */
    @Override
    public void granted(Handle handle) {
        LockLostException loss = handle.loss();
        if (loss != null && move(FlowState.GRANTED, FlowState.DONE)) {
            handle.giveBack();
            tell(loss);
        } else if (move(FlowState.GRANTED, FlowState.DONE)) {
            handle.hold.keepFor(options);
            deliver(handle);
        } else {
            handle.giveBack();
        }
    }

    /** Code that threw when it got the handle will not release it. */
    private void deliver(Handle handle) {
        try {
            actual.onNext(handle);
        } catch (Throwable e) {
            handle.giveBack();
            if (ContextHolds.tellAround(ContextHolds.of(context()), e)) {
                return;
            }
            tell(e);
            throw e;
        }
        complete();
    }

    private void complete() {
        try {
            actual.onComplete();
        } catch (Throwable e) {
            if (!ContextHolds.tellAround(ContextHolds.of(context()), e)) {
                throw e;
            }
        }
    }

    private void tell(Throwable failure) {
        try {
            actual.onError(failure);
        } catch (Throwable e) {
            if (!ContextHolds.tellAround(ContextHolds.of(context()), e)) {
                throw e;
            }
        }
    }

    /** Where the subscriber subscribes, unless so many handles may stand on its stack. */
    @Override
    void joined(Handle handle) {
        if (handle.hold.isJoinedByMany()) {
            Object flow = Unwinding.flowOf(context(), handle.hold);
            locks.services()
                    .userCallbacks
                    .schedule(() -> Unwinding.run(Unwinding.Signal.WORK, flow, () -> granted(handle)));
        } else {
            granted(handle);
        }
    }

    @Override
    void failed(RuntimeException failure) {
        if (move(FlowState.OVER, FlowState.DONE)) {
            tell(failure);
        }
    }

    @Override
    void busy() {
        if (move(FlowState.OVER, FlowState.DONE)) {
            complete();
        }
    }

    @Override
    public ContextView context() {
        return actual.currentContext();
    }
}
