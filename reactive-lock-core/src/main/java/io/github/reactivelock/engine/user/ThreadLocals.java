package io.github.reactivelock.engine.user;

import io.github.reactivelock.spi.support.Carried;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Runs code of a user with what the thread carried on which its own flow was subscribed. A hop to another thread is
 * scheduled by the flow that released the lock, and hooks carry that flow's thread-locals along. Those that hooks of an
 * agent or an application kept at the subscription travel in the flow's Context ({@link Carried}). Where Reactor
 * propagates them itself ({@code Hooks.enableAutomaticContextPropagation}), {@code contextWrite} replaces them by those
 * of that Context, which is what Reactor's own operators rely on.
 */
public final class ThreadLocals {

    /** Reactor wraps what it did not make itself, as soon as it propagates. */
    private static final Mono<Object> FOREIGN = new Mono<>() {
        @Override
        public void subscribe(CoreSubscriber<? super Object> actual) {
            Operators.complete(actual);
        }
    };

    private ThreadLocals() {}

    /** The Context of a flow that is being subscribed, on this thread, with what that carries. */
    public static Context keptIn(Context context) {
        return Carried.isTakenAlong() ? context.put(Carried.class, Carried.here()) : context;
    }

    /** Whether there is anything to do for this class; most applications have no hooks. */
    public static boolean areKept(ContextView context) {
        return arePropagated() || context.hasKey(Carried.class);
    }

    /** Whether a task takes along what the thread carried that scheduled it, and Reactor puts nothing in its place. */
    static boolean areTakenAlongBlindly() {
        return Carried.isTakenAlong() && !arePropagated();
    }

    private static boolean arePropagated() {
        return Mono.fromDirect(FOREIGN) != FOREIGN;
    }

    /** Runs a task now, on this thread; what it throws is thrown on. */
    public static void of(Context context, Runnable task) {
        @Nullable Carried kept = context.getOrDefault(Carried.class, null);
        if (kept == null) {
            propagated(context, task);
        } else {
            kept.run(() -> propagated(context, task));
        }
    }

    private static void propagated(Context context, Runnable task) {
        if (!arePropagated()) {
            task.run();
            return;
        }
        Call call = new Call(task);
        call.contextWrite(any -> context).subscribe(Operators.emptySubscriber());
        call.rethrow();
    }

    /** A task as a source that signals nothing. It keeps what was thrown, because Reactor would drop it. */
    private static final class Call extends Mono<Object> {

        private final Runnable task;
        private @Nullable Throwable thrown;

        Call(Runnable task) {
            this.task = task;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Object> actual) {
            try {
                task.run();
            } catch (Throwable e) {
                thrown = e;
            }
        }

        void rethrow() {
            if (thrown instanceof RuntimeException failure) {
                throw failure;
            } else if (thrown instanceof Error error) {
                throw error;
            }
        }
    }
}
