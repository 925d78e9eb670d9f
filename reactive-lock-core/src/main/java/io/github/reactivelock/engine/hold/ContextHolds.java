package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.engine.store.Services;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The holds that a flow is under, innermost first, as its Reactor Context carries them. Immutable; not a record, whose
 * equality would be a recursion as deep as there are holds.
 */
public final class ContextHolds {

    private final Handle handle;
    private final @Nullable ContextHolds outer;
    /** How many flows are under one another here, each of which may have several keys. */
    private final int level;

    public ContextHolds(Handle handle, @Nullable ContextHolds outer, int level) {
        this.handle = handle;
        this.outer = outer;
        this.level = level;
    }

    public static int levelUnder(@Nullable ContextHolds outer) {
        return outer == null ? 1 : outer.level + 1;
    }

    /**
     * Code of a user threw a fatal error, which Reactor's operators throw on and do not signal. The flow that stands
     * around it would wait for ever, with its locks. False if there is none.
     */
    public static boolean tellAround(@Nullable ContextHolds around, Throwable thrown) {
        LossSignal.Work work = around == null ? null : around.handle.work();
        if (work == null || !Exceptions.isFatal(thrown)) {
            return false;
        }
        work.threw(thrown);
        return true;
    }

    /** Whether this thread's stack may have many levels on it. */
    public boolean isDeep() {
        return level >= Unwinding.EVERY;
    }

    /** Whether signals that pass here let the stack be unwound. */
    public boolean unwinds() {
        return level % Unwinding.EVERY == 0;
    }

    /** Whether it is the other one, or inside that. */
    boolean isUnder(ContextHolds other) {
        ContextHolds at = this;
        while (at != other && at != null && at.level >= other.level) {
            at = at.outer;
        }
        return at == other;
    }

    public Handle handle() {
        return handle;
    }

    @Nullable
    public ContextHolds outer() {
        return outer;
    }

    public static @Nullable ContextHolds of(ContextView context) {
        return context.getOrDefault(ContextHolds.class, null);
    }

    public Context in(Context context) {
        return context.put(ContextHolds.class, this);
    }

    public static @Nullable Hold find(ContextView context, Services client, String key) {
        for (ContextHolds held = of(context); held != null; held = held.outer) {
            Hold hold = held.handle.hold;
            if (hold.grant.services == client && hold.key().equals(key)) {
                return hold;
            }
        }
        return null;
    }

    /** The innermost handles, outermost of them first. */
    public List<LockHandle> last(int count) {
        LockHandle[] handles = new LockHandle[count];
        ContextHolds held = this;
        for (int i = count - 1; i >= 0 && held != null; i--) {
            handles[i] = held.handle;
            held = held.outer;
        }
        return Arrays.asList(handles);
    }
}
