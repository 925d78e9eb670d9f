package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.spi.support.Carried;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * Work under the locks of some keys as a publisher: what each subscription to it, a {@link LockedWork}, is made of. A
 * {@link Mono} keeps its value until the releases have answered; the values of a {@link Flux} go on at once, and
 * completion follows the releases.
 *
 * @param work makes the work once the locks are held, if it is not known before
 * @param source the work, if it is
 * @param ifTaken what is run instead where a lock is taken; with it a subscription does not wait
 */
public record WithLock<T>(
        Waiter.Locks locks,
        List<String> keys,
        LockOptions options,
        @Nullable Function<? super ContextHolds, ? extends Publisher<T>> work,
        @Nullable Publisher<T> source,
        @Nullable Publisher<T> ifTaken) {

    /** Work that is known before the locks are held. */
    public static <T> WithLock<T> of(
            Waiter.Locks locks,
            List<String> keys,
            LockOptions options,
            Publisher<T> work,
            @Nullable Publisher<T> ifTaken) {
        return new WithLock<>(locks, keys, options, null, work, ifTaken);
    }

    /** Work that is called with its holds. */
    public static <T> WithLock<T> calling(
            Waiter.Locks locks,
            List<String> keys,
            LockOptions options,
            Function<? super ContextHolds, ? extends Publisher<T>> work,
            @Nullable Publisher<T> ifTaken) {
        return new WithLock<>(locks, keys, options, work, null, ifTaken);
    }

    Publisher<T> under(ContextHolds held) {
        return source != null ? source : Objects.requireNonNull(work).apply(held);
    }

    /** With at most one value. Hooks on operators see it as one, so that what follows it is of its own flow. */
    public Mono<T> mono() {
        return Carried.operator(Mono.fromDirect(new OfOne<>(this)));
    }

    /** With many values; else as {@link #mono}. */
    public Flux<T> flux() {
        return OfMany.assembled(Flux.from(new OfMany<>(this)));
    }

    private @Nullable Object scan(Scannable.Attr<?> key) {
        if (key == Scannable.Attr.PARENT) {
            return source;
        }
        return key == Scannable.Attr.RUN_STYLE ? Scannable.Attr.RunStyle.ASYNC : null;
    }

    private static final class OfOne<T> extends Mono<T> implements Scannable {

        private final WithLock<T> asked;

        OfOne(WithLock<T> asked) {
            this.asked = asked;
        }

        @Override
        public void subscribe(CoreSubscriber<? super T> actual) {
            actual.onSubscribe(new OneValue<>(asked, actual));
        }

        @Override
        public @Nullable Object scanUnsafe(@SuppressWarnings("rawtypes") Attr key) {
            return asked.scan(key);
        }

        @Override
        public String stepName() {
            return "withLock";
        }
    }

    private static final class OfMany<T> extends Flux<T> implements Scannable {

        private final WithLock<T> asked;

        OfMany(WithLock<T> asked) {
            this.asked = asked;
        }

        static <T> Flux<T> assembled(Flux<T> known) {
            return Carried.isTakenAlong() ? onAssembly(known) : known;
        }

        @Override
        public void subscribe(CoreSubscriber<? super T> actual) {
            actual.onSubscribe(new ManyValues<>(asked, actual));
        }

        @Override
        public @Nullable Object scanUnsafe(@SuppressWarnings("rawtypes") Attr key) {
            return asked.scan(key);
        }

        @Override
        public String stepName() {
            return "withLockMany";
        }
    }

    private static final class OneValue<T> extends LockedWork<T> {

        @SuppressWarnings("rawtypes")
        private static final AtomicReferenceFieldUpdater<OneValue, Object> VALUE =
                AtomicReferenceFieldUpdater.newUpdater(OneValue.class, Object.class, "value");

        @SuppressWarnings("UnusedVariable") // only ever used through VALUE
        private volatile @Nullable Object value;

        OneValue(WithLock<T> asked, CoreSubscriber<? super T> actual) {
            super(asked, actual);
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

    private static final class ManyValues<T> extends LockedWork<T> {

        ManyValues(WithLock<T> asked, CoreSubscriber<? super T> actual) {
            super(asked, serialized(actual));
        }

        /** A loss comes from another thread, and what is under a lock may have signals of two. */
        private static <T> CoreSubscriber<? super T> serialized(CoreSubscriber<? super T> actual) {
            return actual instanceof LockedWork ? actual : Operators.serialize(actual);
        }

        @Override
        long demand(long n) {
            return n;
        }

        @Override
        @Nullable
        LockedWork<? super T> next(T next) {
            if (actual instanceof LockedWork<? super T> around) {
                return around;
            }
            actual.onNext(next);
            return null;
        }

        @Override
        void complete() {
            actual.onComplete();
        }
    }
}
