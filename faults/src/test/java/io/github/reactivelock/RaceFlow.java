package io.github.reactivelock;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * A flow that subscribes and waits to be told to ask or to cancel, and the work under its lock, which does nothing
 * itself.
 */
@NullMarked
final class RaceFlow<T> implements CoreSubscriber<T> {

    final AtomicInteger values = new AtomicInteger();
    final AtomicInteger errors = new AtomicInteger();
    final AtomicInteger ends = new AtomicInteger();
    final AtomicInteger discarded = new AtomicInteger();
    volatile @Nullable T value;
    Subscription subscription = Operators.emptySubscription();

    RaceFlow(Mono<T> flow) {
        flow.doOnDiscard(Object.class, dropped -> discarded.incrementAndGet()).subscribe(this);
    }

    @Override
    public void onSubscribe(Subscription subscribed) {
        subscription = subscribed;
    }

    @Override
    public void onNext(T next) {
        value = next;
        values.incrementAndGet();
    }

    @Override
    public void onError(Throwable failure) {
        errors.incrementAndGet();
        ends.incrementAndGet();
    }

    @Override
    public void onComplete() {
        ends.incrementAndGet();
    }

    /** Work that emits when it is told to. */
    static final class Work extends Mono<String> implements Subscription {

        final AtomicInteger subscribed = new AtomicInteger();
        final AtomicInteger cancelled = new AtomicInteger();

        @Nullable
        CoreSubscriber<? super String> subscriber;

        @Override
        public void subscribe(CoreSubscriber<? super String> actual) {
            subscribed.incrementAndGet();
            subscriber = actual;
            actual.onSubscribe(this);
        }

        void emit() {
            CoreSubscriber<? super String> to = subscriber;
            if (to != null) {
                to.onNext("value");
                to.onComplete();
            }
        }

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            cancelled.incrementAndGet();
        }
    }
}
