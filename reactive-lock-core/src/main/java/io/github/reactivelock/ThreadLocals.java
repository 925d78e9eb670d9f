package io.github.reactivelock;

import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Runs code of a user with the thread-locals of its own flow, where Reactor propagates them
 * ({@code Hooks.enableAutomaticContextPropagation}). A hop to another thread is scheduled by whichever flow released the
 * lock, so Reactor's hook carries that flow's thread-locals along; {@code contextWrite} replaces them by those of a
 * Context, which is what Reactor's own operators rely on.
 */
final class ThreadLocals {

    /** Reactor wraps what it did not make itself, as soon as it propagates. */
    private static final Mono<Object> FOREIGN = new Mono<>() {
        @Override
        public void subscribe(CoreSubscriber<? super Object> actual) {
            Operators.complete(actual);
        }
    };

    private ThreadLocals() {}

    /** Whether there is anything to do for this class; most applications have it off. */
    static boolean arePropagated() {
        return Mono.fromDirect(FOREIGN) != FOREIGN;
    }

    /** Runs a task now, on this thread; what it throws is thrown on. */
    static void of(Context context, Runnable task) {
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
