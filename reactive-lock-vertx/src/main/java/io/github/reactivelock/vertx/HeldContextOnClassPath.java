package io.github.reactivelock.vertx;

import io.vertx.core.impl.VertxBuilder;

/**
 * The same, as it is found on the class path, where Vert.x 4 may be. On the module path its one method would keep Vert.x 5
 * from starting, because the type of its parameter is not there.
 */
public final class HeldContextOnClassPath extends HeldContext {

    /** Called by the service loader only. */
    public HeldContextOnClassPath() {}

    /**
     * What Vert.x 4 calls, which would not start without it. There the library does not work, and says so when it is used.
     *
     * @param bootstrap not used
     */
    public void init(VertxBuilder bootstrap) {
        // Nothing of the application's may break because this jar is there.
    }
}
