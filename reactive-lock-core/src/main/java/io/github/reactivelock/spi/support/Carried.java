package io.github.reactivelock.spi.support;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * What the thread carries on which a flow subscribes (a trace, a user), for code of that flow that runs on other
 * threads. Nothing is read here: it is kept by the hooks of those whom it concerns, for each operator
 * ({@code Hooks.onEachOperator}) and for each task ({@code Schedulers.onScheduleHook}). Agents set such hooks. Without
 * any there is nothing to keep.
 */
public final class Carried {

    private static final Runnable NOTHING = new Runnable() {
        @Override
        public void run() {}
    };
    private static final Scheduler OWN = DriverThreads.scheduler("reactive-lock-own", 1);

    private final CoreSubscriber<? super Call> signals;
    private final Entry entry = new Entry();

    private Carried() {
        Door door = new Door();
        door.assembled().subscribe(new Inside());
        this.signals = door.outside;
    }

    /**
     * Whether hooks take along what threads carry.
     *
     * @return false in most processes
     */
    public static boolean isTakenAlong() {
        return Door.isWrapped() || Schedulers.onSchedule(NOTHING) != NOTHING;
    }

    /**
     * Keeps what the calling thread carries.
     *
     * @return worth its cost only where {@link #isTakenAlong}
     */
    public static Carried here() {
        return new Carried();
    }

    /**
     * Runs a task now, on the calling thread, which carries what was kept meanwhile.
     *
     * @param task what it throws is thrown on
     */
    public void run(Runnable task) {
        Call call = new Call(task);
        entry.enter(() -> signals.onNext(call));
        call.finish();
    }

    /**
     * What the library does for itself: where hooks on operators keep what the thread carries that subscribes, for as
     * long as the work goes on, that is a thread that carries nothing. Works begin there in their order. Otherwise it
     * is the calling one.
     *
     * @param work must not block
     * @param <T> the values' type
     * @return as the work
     */
    public static <T> Flux<T> byNobody(Flux<T> work) {
        return Door.isWrapped() ? work.subscribeOn(OWN) : work;
    }

    /**
     * As {@link #byNobody(Flux)}.
     *
     * @param work must not block
     * @param <T> the value's type
     * @return as the work
     */
    public static <T> Mono<T> byNobody(Mono<T> work) {
        return Door.isWrapped() ? work.subscribeOn(OWN) : work;
    }

    /**
     * What a flow does on a scheduler of ours: there it carries what the thread did that subscribed.
     *
     * @param place takes nothing along itself
     * @param work may have code of a user in it
     * @param <T> the value's type
     * @return as the work
     */
    public static <T> Mono<T> subscribedOn(Scheduler place, Mono<T> work) {
        return isTakenAlong()
                ? Mono.defer(() -> new Taken<>(here(), work).subscribeOn(place))
                : work.subscribeOn(place);
    }

    /**
     * Lets hooks on operators see a publisher that is none of Reactor's, so that what is behind it carries what is its
     * own.
     *
     * @param made the publisher
     * @param <T> the value's type
     * @return as the publisher
     */
    public static <T> Mono<T> operator(Mono<T> made) {
        return isTakenAlong() ? Taken.assembled(made) : made;
    }

    private static final class Taken<T> extends Mono<T> {

        private final Carried kept;
        private final Mono<T> work;

        Taken(Carried kept, Mono<T> work) {
            this.kept = kept;
            this.work = work;
        }

        static <T> Mono<T> assembled(Mono<T> made) {
            return onAssembly(made);
        }

        @Override
        public void subscribe(CoreSubscriber<? super T> actual) {
            kept.run(() -> work.subscribe(actual));
        }
    }

    /** Is given to hooks as an operator, and keeps the subscriber that they made: its signals are the way in. */
    private static final class Door extends Flux<Call> implements Scannable {

        private static final Door PROBE = new Door();

        private CoreSubscriber<? super Call> outside = Operators.emptySubscriber();

        /** By more than the traces of Reactor's debug mode, which keep nothing. */
        @Override
        public @Nullable Object scanUnsafe(@SuppressWarnings("rawtypes") Attr key) {
            return null;
        }

        static boolean isWrapped() {
            Flux<Call> seen = PROBE.assembled();
            return seen != PROBE && !isTrace(Scannable.from(seen));
        }

        private static boolean isTrace(Scannable seen) {
            return seen.scan(Scannable.Attr.PARENT) == PROBE
                    && seen.scanOrDefault(Scannable.Attr.ACTUAL_METADATA, false);
        }

        Flux<Call> assembled() {
            return onAssembly(this);
        }

        @Override
        public void subscribe(CoreSubscriber<? super Call> actual) {
            outside = actual;
            actual.onSubscribe(Operators.emptySubscription());
        }
    }

    private static final class Inside implements CoreSubscriber<Call> {

        @Override
        public void onSubscribe(Subscription subscription) {}

        @Override
        public void onNext(Call call) {
            call.begin();
        }

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onComplete() {}
    }

    /**
     * Was wrapped by hooks where the flow subscribed. A task that comes while another is just entering goes in by
     * itself.
     */
    private static final class Entry extends AtomicReference<@Nullable Runnable> implements Runnable {

        private static final long serialVersionUID = 1;

        @SuppressWarnings("serial") // is never serialised
        private final Runnable wrapped = Schedulers.onSchedule(this);

        void enter(Runnable task) {
            if (compareAndSet(null, task)) {
                wrapped.run();
            } else {
                task.run();
            }
        }

        @Override
        public void run() {
            Runnable task = getAndSet(null);
            if (task != null) {
                task.run();
            }
        }
    }

    /** Keeps what was thrown, because a hook's subscriber may do anything with it. */
    private static final class Call {

        private final Runnable task;
        private boolean begun;
        private @Nullable Throwable thrown;

        Call(Runnable task) {
            this.task = task;
        }

        void begin() {
            begun = true;
            try {
                task.run();
            } catch (Throwable e) {
                thrown = e;
            }
        }

        /** Even if a hook lets no value through. */
        void finish() {
            if (!begun) {
                begin();
            }
            if (thrown instanceof RuntimeException failure) {
                throw failure;
            } else if (thrown instanceof Error error) {
                throw error;
            }
        }
    }
}
