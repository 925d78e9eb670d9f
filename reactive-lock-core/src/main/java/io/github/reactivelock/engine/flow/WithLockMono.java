package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.spi.support.Carried;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** Work with at most one value under locks. The value is kept until the releases have answered. */
public final class WithLockMono<T> extends Mono<T> implements Scannable {

    private final Waiter.Locks locks;
    private final List<String> keys;
    private final LockOptions options;
    private final Function<? super ContextHolds, ? extends Publisher<T>> work;
    private final @Nullable Publisher<T> source;
    private final @Nullable Publisher<T> ifTaken;

    private WithLockMono(
            Waiter.Locks locks,
            List<String> keys,
            LockOptions options,
            Function<? super ContextHolds, ? extends Publisher<T>> work,
            @Nullable Publisher<T> source,
            @Nullable Publisher<T> ifTaken) {
        this.locks = locks;
        this.keys = keys;
        this.options = options;
        this.work = work;
        this.source = source;
        this.ifTaken = ifTaken;
    }

    /**
     * Work that is known before the locks are held; with {@code ifTaken}, which is run instead, it does not wait for
     * them.
     */
    public static <T> Mono<T> of(
            Waiter.Locks locks, List<String> keys, LockOptions options, Mono<T> work, @Nullable Publisher<T> ifTaken) {
        return assembled(new WithLockMono<>(locks, keys, options, held -> work, work, ifTaken));
    }

    /** Work that is called with its holds. */
    public static <T> Mono<T> calling(
            Waiter.Locks locks,
            List<String> keys,
            LockOptions options,
            Function<? super ContextHolds, ? extends Publisher<T>> work,
            @Nullable Publisher<T> ifTaken) {
        return assembled(new WithLockMono<>(locks, keys, options, work, null, ifTaken));
    }

    /** Hooks on operators see it as one, so that what follows it is of its own flow. */
    private static <T> Mono<T> assembled(Mono<T> made) {
        return Carried.operator(Mono.fromDirect(made));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        actual.onSubscribe(new Subscriber<>(locks, keys, options, work, ifTaken, actual));
    }

    @Override
    public @Nullable Object scanUnsafe(@SuppressWarnings("rawtypes") Attr key) {
        if (key == Attr.PARENT) {
            return source;
        }
        return key == Attr.RUN_STYLE ? Attr.RunStyle.ASYNC : null;
    }

    @Override
    public String stepName() {
        return "withLock";
    }

    private static final class Subscriber<T> extends LockedWork<T> {

        @SuppressWarnings("rawtypes")
        private static final AtomicReferenceFieldUpdater<Subscriber, Object> VALUE =
                AtomicReferenceFieldUpdater.newUpdater(Subscriber.class, Object.class, "value");

        @SuppressWarnings("UnusedVariable") // only ever used through VALUE
        private volatile @Nullable Object value;

        Subscriber(
                Waiter.Locks locks,
                List<String> keys,
                LockOptions options,
                Function<? super ContextHolds, ? extends Publisher<T>> work,
                @Nullable Publisher<T> ifTaken,
                CoreSubscriber<? super T> actual) {
            super(locks, keys, options, work, ifTaken, actual);
        }

        @Override
        long demand(long n) {
            return Long.MAX_VALUE;
        }

        @Override
        @Nullable
        LockedWork<? super T> next(T next) {
            drop(VALUE.getAndSet(this, next));
            if (!isWorking()) { // cancelled or lost meanwhile, by one who saw no value yet
                discard();
            }
            return null;
        }

        @Override
        void discard() {
            drop(VALUE.getAndSet(this, null));
        }

        private void drop(@Nullable Object unwanted) {
            if (unwanted != null) {
                Operators.onDiscard(unwanted, currentContext());
            }
        }

        @Override
        @SuppressWarnings("unchecked") // only next() writes it
        void complete() {
            T last = (T) VALUE.getAndSet(this, null);
            if (last != null) {
                actual.onNext(last);
            }
            actual.onComplete();
        }
    }
}
