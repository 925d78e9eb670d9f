package io.github.reactivelock.testkit;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * The blocking calls that BlockHound accepts, each with its reason. BlockHound finds this class by itself. It allows no
 * code of this project.
 */
public final class AllowedBlocking implements BlockHoundIntegration {

    /** For BlockHound. */
    public AllowedBlocking() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // Lettuce guards the state of a connection with a lock held for a few instructions, for two threads that send
        // at the same moment. An error thrown inside its queue would break the queue for all others.
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "decrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "doExclusive");
        // Lettuce also locks its table of a cluster's connections.
        String connections = "io.lettuce.core.cluster.PooledClusterConnectionProvider";
        builder.allowBlockingCallsInside(connections, "lambda$getWriteConnection$1");
        builder.allowBlockingCallsInside(connections, "setPartitions");
        builder.allowBlockingCallsInside(connections, "resetFastConnectionCache");
        builder.allowBlockingCallsInside(connections + "$NodeConnectionPostProcessor", "lambda$apply$4");
        // Lettuce fills its table of method handles when the first connections open.
        builder.allowBlockingCallsInside("io.lettuce.core.internal.AbstractInvocationHandler$MethodTranslator", "of");
        // Lettuce reads the files of certificates again for each connection with TLS.
        builder.allowBlockingCallsInside("io.lettuce.core.SslConnectionBuilder$SslChannelInitializer", "initChannel");
        // The JVM draws random bytes and loads its certificates for a connection with TLS.
        builder.allowBlockingCallsInside("sun.security.ssl.SSLContextImpl", "engineInit");
        builder.allowBlockingCallsInside("sun.security.ssl.TrustStoreManager", "getTrustedCerts");
        databases(builder);
    }

    /** Calls that SQL drivers make once, on their event loop. */
    private static void databases(BlockHound.Builder builder) {
        // PostgreSQL's driver reads its trusted certificates for a connection.
        builder.allowBlockingCallsInside("io.r2dbc.postgresql.client.ReactorNettyClient", "registerSslHandler");
        // PostgreSQL's driver draws a random number for a login by password.
        builder.allowBlockingCallsInside("com.ongres.scram.client.ScramClient$Builder", "build");
        // MariaDB's driver reads its own version from its jar.
        builder.allowBlockingCallsInside("org.mariadb.r2dbc.util.VersionFactory", "getInstance");
        // MariaDB's driver looks for a way to log in that the server asks for.
        builder.allowBlockingCallsInside("org.mariadb.r2dbc.authentication.AuthenticationFlowPluginLoader", "get");
        // MariaDB's driver guards the state of a connection with a lock held for a few instructions, and MySQL's driver
        // its codecs.
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
