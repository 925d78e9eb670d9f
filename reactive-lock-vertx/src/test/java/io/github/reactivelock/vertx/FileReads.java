package io.github.reactivelock.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Reads of local files on an event loop that are not ours and that BlockHound is asked to let pass. */
public final class FileReads implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // Random bytes come from a file that never blocks; making the options of a Vert.x client needs some as well.
        builder.allowBlockingCallsInside("java.security.SecureRandom", "nextBytes");
        // Vert.x loads the JVM's certificates where it upgrades a connection to TLS, once.
        builder.allowBlockingCallsInside("sun.security.ssl.TrustStoreManager", "getTrustedCerts");
    }
}
