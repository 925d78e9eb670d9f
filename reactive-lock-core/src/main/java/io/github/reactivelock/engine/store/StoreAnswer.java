package io.github.reactivelock.engine.store;

import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One question to the store, and what becomes of its answer: what a {@link Gate} asks. It is the subscriber itself, so
 * that a question costs one object and not one for each thing that may come of it. Hears one answer or one failure,
 * once.
 */
public abstract class StoreAnswer<T> implements CoreSubscriber<T> {

    private boolean heard;
    /** When the gate asked. */
    long askedAt;

    /** The gate that asks; every answer shows it that the store is not silent. */
    public abstract Gate gate();

    /** Puts the question; called once. */
    public abstract Mono<T> question();

    /** The answer, on the thread that brings it; so is the next. */
    public abstract void answered(T answer);

    /** The store did not answer, or could not be asked. */
    public abstract void failed(Throwable failure);

    @Override
    public final void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public final void onNext(T answer) {
        if (heard) {
            Operators.onNextDropped(answer, Context.empty());
            return;
        }
        heard = true;
        gate().heard(askedAt);
        try {
            answered(answer);
        } catch (Throwable e) { // must not reach the driver
            failed(e);
        }
    }

    @Override
    public final void onError(Throwable failure) {
        if (heard) {
            Operators.onErrorDropped(failure, Context.empty());
            return;
        }
        heard = true;
        gate().heard(askedAt);
        failed(failure);
    }

    @Override
    public final void onComplete() {}
}
