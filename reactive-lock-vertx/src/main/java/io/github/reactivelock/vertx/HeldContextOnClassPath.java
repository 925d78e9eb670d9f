package io.github.reactivelock.vertx;

import io.vertx.core.impl.VertxBuilder;

/**
 * The same class for the class path, where Vert.x 4 may be. On the module path its one method would keep Vert.x 5 from
 * starting, because the type of its parameter is missing.
 */
public final class HeldContextOnClassPath extends HeldContext {

    /** Called by the service loader only. */
    public HeldContextOnClassPath() {}

    /**
     * Vert.x 4 calls this and would not start without it. The library does not work there, and its use fails with that
     * reason.
     *
     * @param bootstrap not used
     */
    public void init(VertxBuilder bootstrap) {
        // The application must not break because this jar is there.
    }
}
