package io.github.reactivelock.testkit;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * A hook as agents and applications have one: each operator keeps a thread-local where it is subscribed to, and has it
 * again while it signals.
 */
final class Carrying<T> implements CoreSubscriber<T> {

    private static final String HOOK = "reactivelock.contract.carrying";

    private final CoreSubscriber<? super T> actual;
    private final ThreadLocal<String> place;
    private final @Nullable String kept;
    private final boolean isSet;

    private Carrying(CoreSubscriber<? super T> actual, ThreadLocal<String> place, Kept what) {
        this.actual = actual;
        this.place = place;
        this.kept = place.get();
        this.isSet = what == Kept.ALWAYS || kept != null;
    }

    private enum Kept {
        ALWAYS,
        VALUES
    }

    static void hook(ThreadLocal<String> place) {
        hook(place, Kept.ALWAYS);
    }

    /** As that of OpenTelemetry: where a flow carries nothing, the thread keeps what it has. */
    static void hookOfValues(ThreadLocal<String> place) {
        hook(place, Kept.VALUES);
    }

    private static void hook(ThreadLocal<String> place, Kept what) {
        Hooks.onEachOperator(HOOK, Operators.lift((source, actual) -> new Carrying<>(actual, place, what)));
    }

    /** A scheduler as an agent makes it: each task carries what the thread did that scheduled it. */
    static Scheduler takingAlong(Scheduler actual, ThreadLocal<String> place) {
        return new Scheduler() {
            @Override
            public Disposable schedule(Runnable task) {
                return actual.schedule(withWhatIsHere(task, place));
            }

            @Override
            public Worker createWorker() {
                Worker worker = actual.createWorker();
                return new Worker() {
                    @Override
                    public Disposable schedule(Runnable task) {
                        return worker.schedule(withWhatIsHere(task, place));
                    }

                    @Override
                    public void dispose() {
                        worker.dispose();
                    }
                };
            }
        };
    }

    private static Runnable withWhatIsHere(Runnable task, ThreadLocal<String> place) {
        String here = place.get();
        return () -> {
            with(place, here, () -> {
                task.run();
                return true;
            });
        };
    }

    static void unhook() {
        Hooks.resetOnEachOperator(HOOK);
    }

    /** Calls and subscribes as a thread does that carries a value, or none. */
    static <T> T with(ThreadLocal<String> place, @Nullable String value, Supplier<T> step) {
        String before = place.get();
        set(place, value);
        try {
            return step.get();
        } finally {
            set(place, before);
        }
    }

    private static void set(ThreadLocal<String> place, @Nullable String value) {
        if (value == null) {
            place.remove();
        } else {
            place.set(value);
        }
    }

    private void signal(Runnable signal) {
        if (!isSet) {
            signal.run();
            return;
        }
        with(place, kept, () -> {
            signal.run();
            return true;
        });
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        signal(() -> actual.onSubscribe(subscription));
    }

    @Override
    public void onNext(T value) {
        signal(() -> actual.onNext(value));
    }

    @Override
    public void onError(Throwable failure) {
        signal(() -> actual.onError(failure));
    }

    @Override
    public void onComplete() {
        signal(actual::onComplete);
    }
}
