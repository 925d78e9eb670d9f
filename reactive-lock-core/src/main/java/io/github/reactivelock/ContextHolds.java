package io.github.reactivelock;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The holds that a flow is under, innermost first, as its Reactor Context carries them. Immutable; not a record, whose
 * equality would be a recursion as deep as there are holds.
 */
final class ContextHolds {

    private final Handle handle;
    private final @Nullable ContextHolds outer;

    ContextHolds(Handle handle, @Nullable ContextHolds outer) {
        this.handle = handle;
        this.outer = outer;
    }

    Handle handle() {
        return handle;
    }

    @Nullable
    ContextHolds outer() {
        return outer;
    }

    static @Nullable ContextHolds of(ContextView context) {
        return context.getOrDefault(ContextHolds.class, null);
    }

    Context in(Context context) {
        return context.put(ContextHolds.class, this);
    }

    static @Nullable Hold find(ContextView context, Services client, String key) {
        for (ContextHolds held = of(context); held != null; held = held.outer) {
            Hold hold = held.handle.hold;
            if (hold.grant.services == client && hold.key().equals(key)) {
                return hold;
            }
        }
        return null;
    }

    /** The innermost handles, outermost of them first. */
    List<LockHandle> last(int count) {
        LockHandle[] handles = new LockHandle[count];
        ContextHolds held = this;
        for (int i = count - 1; i >= 0 && held != null; i--) {
            handles[i] = held.handle;
            held = held.outer;
        }
        return Arrays.asList(handles);
    }
}
