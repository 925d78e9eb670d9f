package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.spi.support.Carried;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/** Work with many values under locks. They go on at once; completion follows the releases. */
public final class WithLockFlux<T> extends Flux<T> implements Scannable {

    private final Waiter.Locks locks;
    private final List<String> keys;
    private final LockOptions options;
    private final Function<? super ContextHolds, ? extends Publisher<T>> work;
    private final @Nullable Publisher<T> source;
    private final @Nullable Publisher<T> ifTaken;

    private WithLockFlux(
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
    public static <T> Flux<T> of(
            Waiter.Locks locks, List<String> keys, LockOptions options, Flux<T> work, @Nullable Publisher<T> ifTaken) {
        return assembled(new WithLockFlux<>(locks, keys, options, held -> work, work, ifTaken));
    }

    /** Work that is called with its holds. */
    public static <T> Flux<T> calling(
            Waiter.Locks locks,
            List<String> keys,
            LockOptions options,
            Function<? super ContextHolds, ? extends Publisher<T>> work,
            @Nullable Publisher<T> ifTaken) {
        return assembled(new WithLockFlux<>(locks, keys, options, work, null, ifTaken));
    }

    /** Hooks on operators see it as one, so that what follows it is of its own flow. */
    private static <T> Flux<T> assembled(Flux<T> made) {
        Flux<T> known = Flux.from(made);
        return Carried.isTakenAlong() ? Flux.onAssembly(known) : known;
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
        return "withLockMany";
    }

    private static final class Subscriber<T> extends LockedWork<T> {

        Subscriber(
                Waiter.Locks locks,
                List<String> keys,
                LockOptions options,
                Function<? super ContextHolds, ? extends Publisher<T>> work,
                @Nullable Publisher<T> ifTaken,
                CoreSubscriber<? super T> actual) {
            super(locks, keys, options, work, ifTaken, serialized(actual));
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
