package io.github.reactivelock.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Lets BlockHound accept that an event loop makes a backend: the options of the Vert.x client give its pool a random
 * name, and read it from a file that always answers at once; and that it is the first to use Reactor, which then looks
 * among the jars for thread-locals to carry. BlockHound finds this class by itself, and nothing else needs it.
 */
public final class BlockHoundAllowances implements BlockHoundIntegration {

    /** For BlockHound. */
    public BlockHoundAllowances() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("io.github.reactivelock.vertx.VertxLockBackend", "defaultsFor");
        builder.allowBlockingCallsInside("io.github.reactivelock.vertx.VertxLockBackend", "copyOf");
        builder.allowBlockingCallsInside("io.github.reactivelock.vertx.Opening", "clientFor");
        builder.allowBlockingCallsInside("reactor.core.publisher.ContextPropagationSupport", "<clinit>");
        builder.allowBlockingCallsInside("reactor.core.publisher.ContextPropagation", "<clinit>");
    }
}
