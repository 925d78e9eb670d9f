package io.github.reactivelock.reliability;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Reads of local files on an event loop that are the JVM's and that BlockHound is asked to let pass. */
public final class FileReads implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // The JVM's certificates, and those an application trusts, are read where a connection is upgraded to TLS,
        // once.
        builder.allowBlockingCallsInside("io.lettuce.core.SslConnectionBuilder$SslChannelInitializer", "initChannel");
    }
}
