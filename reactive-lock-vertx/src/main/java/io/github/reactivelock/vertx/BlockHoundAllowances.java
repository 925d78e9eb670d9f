package io.github.reactivelock.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where it watches, that a backend may be made on an event loop: the options of the Vert.x client give
 * its pool a random name, which comes out of a file that always answers at once. BlockHound finds this class by itself,
 * and nothing else needs it.
 */
public final class BlockHoundAllowances implements BlockHoundIntegration {

    /** For BlockHound. */
    public BlockHoundAllowances() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("io.github.reactivelock.vertx.VertxLockBackend", "defaultsFor");
        builder.allowBlockingCallsInside("io.github.reactivelock.vertx.VertxLockBackend", "copyOf");
        builder.allowBlockingCallsInside("io.github.reactivelock.vertx.Opening", "clientFor");
    }
}
