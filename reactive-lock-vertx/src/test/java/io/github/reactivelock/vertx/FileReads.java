package io.github.reactivelock.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Reads of local files on an event loop that are not ours and that BlockHound is asked to let pass. */
public final class FileReads implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // Vert.x loads the JVM's certificates where it upgrades a connection to TLS, once.
        builder.allowBlockingCallsInside("sun.security.ssl.TrustStoreManager", "getTrustedCerts");
        // The JVM draws random bytes there, from a file unless it did so within the last tenth of a second.
        builder.allowBlockingCallsInside("sun.security.ssl.SSLContextImpl", "engineInit");
    }
}
