package io.github.reactivelock.vertx;

import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.spi.context.storage.ContextLocal;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Carries the holds of a flow in the local data of a duplicated Vert.x context, as the Reactor Context that the engine
 * keeps them in. Vert.x loads this class before it makes its first context, because only then it gives out places for
 * local data. A context that is not a duplicate serves everything on its event loop and never carries holds.
 */
public class HeldContext implements VertxServiceProvider {

    private static final ContextLocal<ContextView> HELD = ContextLocal.registerLocal(ContextView.class);

    /** Called by the service loader only. */
    public HeldContext() {}

    @Override
    public void init(VertxBootstrap bootstrap) {
        // Loading the class has reserved the place.
    }

    /** The holds that the caller's flow is under. */
    static ContextView of(ContextInternal context) {
        @Nullable ContextView held = context.isDuplicate() ? HELD.get(context) : null;
        return held == null ? Context.empty() : held;
    }

    /** A context like the given one, for a flow that is under these holds. */
    static ContextInternal below(ContextInternal context, ContextView held) {
        ContextInternal below = context.duplicate(true);
        HELD.put(below, held);
        return below;
    }

    /** Fails early, and with a reason, if Vert.x does not know this class. */
    static void check(ContextInternal context) {
        try {
            HELD.get(context);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(
                    "this Vertx was made without " + HeldContext.class.getName()
                            + ": keep META-INF/services/io.vertx.core.spi.VertxServiceProvider of reactive-lock-vertx "
                            + "when jars are merged, and load it with the same class loader as Vert.x",
                    e);
        }
    }
}
