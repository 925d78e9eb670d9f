package io.github.reactivelock;

import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The holds that a flow is under, innermost first, as its Reactor Context carries them. Immutable. */
record HeldLocks(Hold hold, @Nullable HeldLocks outer) {

    static Context add(Context context, Hold hold) {
        return context.put(HeldLocks.class, new HeldLocks(hold, context.getOrDefault(HeldLocks.class, null)));
    }

    static @Nullable Hold find(ContextView context, Engine engine, String key) {
        HeldLocks held = context.getOrDefault(HeldLocks.class, null);
        while (held != null) {
            Hold hold = held.hold();
            if (hold.cohort.engine == engine && hold.cohort.line.key.equals(key)) {
                return hold;
            }
            held = held.outer();
        }
        return null;
    }
}
