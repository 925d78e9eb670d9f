package io.github.reactivelock.vertx;

import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/** Which Vert.x is there. It refers to nothing that Vert.x 4 lacks, and so can be asked beside it. */
final class VertxVersion {

    private static final String NEEDED = "io.vertx.core.internal.VertxInternal";

    private VertxVersion() {}

    /** Fails with a reason where the classes of another version would be missed somewhere below. */
    static void check() {
        check(Vertx.class.getClassLoader(), Vertx.class.getPackage().getImplementationVersion());
    }

    static void check(@Nullable ClassLoader loader, @Nullable String found) {
        try {
            Class.forName(NEEDED, false, loader);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(
                    "reactive-lock-vertx needs Vert.x 5.1 or later, but " + (found == null ? "an earlier one" : found)
                            + " is on the class path: upgrade Vert.x, or use reactive-lock-lettuce",
                    e);
        }
    }
}
