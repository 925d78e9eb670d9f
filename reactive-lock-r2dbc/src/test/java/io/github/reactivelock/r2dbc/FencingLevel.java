package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.Connection;
import reactor.core.publisher.Mono;

/** A database, how a transaction of it is begun at an isolation level, and where its guard keeps the token. */
record FencingLevel(Databases database, String level, boolean inColumn, boolean isNew) {
    Mono<Void> begin(Connection connection) {
        boolean isPostgres = database.url().contains("postgresql");
        boolean isH2 = database.url().contains(":h2:");
        String set = isPostgres || isH2 ? "SET SESSION CHARACTERISTICS AS TRANSACTION" : "SET SESSION TRANSACTION";
        return Databases.number(connection, set + " ISOLATION LEVEL " + level)
                .then(Mono.from(connection.beginTransaction()));
    }

    R2dbcFencingGuard guard() {
        R2dbcFencingGuard guard = R2dbcLockBackend.using(database.factory()).fencingGuard();
        return inColumn ? guard.inColumn("account", "id", "fence") : guard;
    }

    boolean endsOldSnapshots() {
        boolean keepsSnapshot = level.equals("REPEATABLE READ") || level.equals("SERIALIZABLE");
        return keepsSnapshot && !database.url().contains("mariadb") && !database.isMySqlDriver();
    }
}
