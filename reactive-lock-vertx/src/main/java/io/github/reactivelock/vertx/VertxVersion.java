package io.github.reactivelock.vertx;

import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/** Which Vert.x is on the class path. This class refers to nothing that Vert.x 4 lacks, so it works there too. */
final class VertxVersion {

    private static final String NEEDED = "io.vertx.core.internal.VertxInternal";

    private VertxVersion() {}

    /** Fails with a reason, instead of a missing class somewhere below. */
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
