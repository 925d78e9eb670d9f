package io.github.reactivelock.r2dbc;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** What drivers do once, on their event loop, that BlockHound would refuse. */
public final class DriversMayBlock implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
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
