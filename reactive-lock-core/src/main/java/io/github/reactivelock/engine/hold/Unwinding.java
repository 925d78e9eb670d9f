package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.util.context.ContextView;

/**
 * Keeps locks that are nested in one another from standing on one stack. A signal that passes every {@link #EVERY}th
 * level comes here. The first one on a thread is a loop, and what it causes further on runs in that loop, when the
 * stack above it is gone. So the call at which the loop stands returns when all is done, as without it, and no signal
 * changes its thread.
 *
 * <p>Only what belongs to the flow of the loop waits for it. A callback that blocks on another flow would otherwise
 * wait for itself; so that flow's signals get a loop of their own, inside the first.
 */
public final class Unwinding {

    /** Levels between two that come here; more than most applications nest, and few enough for any stack. */
    static final int EVERY = 16;

    /** What goes through the levels; each kind keeps its order, and does not wait for another one. */
    public enum Signal {
        /** Inwards the beginning of work, outwards its end. */
        WORK,
        /** Inwards only. */
        CANCEL,
        /** Inwards only. */
        REQUEST
    }

    private static final Map<Thread, Loop> INNERMOST = new ConcurrentHashMap<>();

    private Unwinding() {}

    /** The flow of a Context, whatever has been acquired in it. */
    public static Object flowOf(ContextView context, Object otherwise) {
        ContextHolds held = ContextHolds.of(context);
        return held == null
                ? LockContext.owner(context).<Object>map(name -> name).orElse(otherwise)
                : held;
    }

    /** Runs a task now, or when the stack of this thread is back at the loop which its flow has on it. */
    public static void run(Signal signal, Object flow, Runnable task) {
        Thread here = Thread.currentThread();
        Loop outer = INNERMOST.get(here);
        if (outer != null && outer.isOf(signal, flow)) {
            outer.tasks.add(task);
            return;
        }
        Loop own = new Loop(signal, flow);
        INNERMOST.put(here, own);
        try {
            own.run(task);
        } finally {
            if (outer == null) {
                INNERMOST.remove(here);
            } else {
                INNERMOST.put(here, outer);
            }
        }
    }

    /**
     * Runs a task when what is inside this flow has been cancelled, of which a part may wait in a loop of this thread.
     */
    public static void afterCancels(ContextHolds flow, Runnable task) {
        Loop outer = INNERMOST.get(Thread.currentThread());
        if (outer != null && outer.isOf(Signal.CANCEL, flow)) {
            outer.afterwards.push(task);
        } else {
            task.run();
        }
    }

    /** For its thread only. */
    private static final class Loop {
        private final Signal signal;
        private final Object flow;
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        /** The innermost first. */
        private final Deque<Runnable> afterwards = new ArrayDeque<>();

        Loop(Signal signal, Object flow) {
            this.signal = signal;
            this.flow = flow;
        }

        boolean isOf(Signal asked, Object inside) {
            if (signal != asked) {
                return false;
            } else if (flow instanceof ContextHolds here && inside instanceof ContextHolds there) {
                return there.isUnder(here) || (signal == Signal.WORK && here.isUnder(there));
            }
            return flow.equals(inside);
        }

        void run(Runnable first) {
            Throwable thrown = null;
            for (Runnable next = first; next != null; next = next()) {
                try {
                    next.run();
                } catch (Throwable e) { // those behind it are other levels
                    if (thrown == null) {
                        thrown = e;
                    } else if (thrown != e) {
                        thrown.addSuppressed(e);
                    }
                }
            }
            if (thrown != null) {
                throw rethrown(thrown);
            }
        }

        private @Nullable Runnable next() {
            Runnable next = tasks.poll();
            return next == null ? afterwards.poll() : next;
        }

        /** A fatal error as it is. */
        private static RuntimeException rethrown(Throwable thrown) {
            if (thrown instanceof Error error) {
                throw error;
            }
            return Exceptions.propagate(thrown);
        }
    }
}
