package io.github.reactivelock.spi;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where it watches, that a client may be made on any thread: its random name comes out of a file that
 * always answers at once. BlockHound finds this class by itself, and nothing else needs it.
 */
public final class BlockHoundAllowances implements BlockHoundIntegration {

    /** For BlockHound. */
    public BlockHoundAllowances() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(RandomId.class.getName(), "next");
    }
}
