package io.github.reactivelock.testkit;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * What BlockHound lets pass although it blocks, each with its reason. It is found by BlockHound itself; there is nothing
 * to call. Nothing of this project is in it.
 */
public final class AllowedBlocking implements BlockHoundIntegration {

    /** For BlockHound. */
    public AllowedBlocking() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // Lettuce guards the state of a connection with a lock held for a few instructions. Two threads that send at
        // the
        // same moment meet there; an error thrown from inside its queue would leave it broken for all others.
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "decrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "doExclusive");
        // The same for its table of a cluster's connections.
        String connections = "io.lettuce.core.cluster.PooledClusterConnectionProvider";
        builder.allowBlockingCallsInside(connections, "lambda$getWriteConnection$1");
        builder.allowBlockingCallsInside(connections, "setPartitions");
        builder.allowBlockingCallsInside(connections, "resetFastConnectionCache");
        builder.allowBlockingCallsInside(connections + "$NodeConnectionPostProcessor", "lambda$apply$4");
        // Its table of method handles, filled when the first connections are opened.
        builder.allowBlockingCallsInside("io.lettuce.core.internal.AbstractInvocationHandler$MethodTranslator", "of");
        // The JVM draws random bytes and loads its certificates where a connection with TLS is set up.
        builder.allowBlockingCallsInside("sun.security.ssl.SSLContextImpl", "engineInit");
        builder.allowBlockingCallsInside("sun.security.ssl.TrustStoreManager", "getTrustedCerts");
        databases(builder);
    }

    /** What their drivers do once, on their event loop. */
    private static void databases(BlockHound.Builder builder) {
        // PostgreSQL's reads the certificates that it trusts where a connection is made.
        builder.allowBlockingCallsInside("io.r2dbc.postgresql.client.ReactorNettyClient", "registerSslHandler");
        // It draws a random number for a login by password.
        builder.allowBlockingCallsInside("com.ongres.scram.client.ScramClient$Builder", "build");
        // MariaDB's reads its own version from its jar.
        builder.allowBlockingCallsInside("org.mariadb.r2dbc.util.VersionFactory", "getInstance");
        // It guards the state of a connection with a lock held for a few instructions, and MySQL's its codecs.
        String client = "org.mariadb.r2dbc.client.SimpleClient";
        for (String guarded : new String[] {
            "lambda$receive$0",
            "lambda$sendCommand$0",
            "lambda$sendCommand$2",
            "sendCommandWithoutResult",
            "executeWhenTransaction",
            "executeWhenNotInTransaction",
            "setAutoCommit"
        }) {
            builder.allowBlockingCallsInside(client, guarded);
        }
        builder.allowBlockingCallsInside("io.asyncer.r2dbc.mysql.codec.DefaultCodecs$Builder", "build");
        builder.allowBlockingCallsInside("io.asyncer.r2dbc.mysql.cache.QueryBoundedCache", "get");
    }
}
