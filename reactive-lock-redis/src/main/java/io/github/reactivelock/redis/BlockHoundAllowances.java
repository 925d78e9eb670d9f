package io.github.reactivelock.redis;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where it watches, that the first backend of a process may be made on any thread: loading the class
 * of the script reads its text from the jar, as loading a class does. BlockHound finds this class by itself, and
 * nothing else needs it.
 */
public final class BlockHoundAllowances implements BlockHoundIntegration {

    /** For BlockHound. */
    public BlockHoundAllowances() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // By its name: the class itself would be loaded here, before BlockHound looks.
        builder.allowBlockingCallsInside("io.github.reactivelock.redis.RedisScript", "load");
    }
}
