package io.github.reactivelock.r2dbc;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.testservers.LocksMeanwhile;
import io.r2dbc.spi.Connection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Databases that are dumped without a lock that keeps others from their tables. */
class BackupTest {

    /**
     * What {@code mariadb-dump --single-transaction} sends, and {@code mysqldump}, as far as it is about our tables. In
     * between it reads large tables.
     */
    private static final List<String> DUMP = Stream.concat(
                    Stream.of(
                            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                            "START TRANSACTION WITH CONSISTENT SNAPSHOT",
                            "SELECT sleep(0.2)"),
                    Stream.of("", "_waiter", "_share", "_event", "_fence", "_row", "_once")
                            .map(table -> "reactive_lock" + table)
                            .flatMap(table -> Stream.of(
                                    "SAVEPOINT sp",
                                    "SHOW CREATE TABLE " + table,
                                    "SELECT * FROM " + table,
                                    "ROLLBACK TO SAVEPOINT sp")))
            .toList();

    private static void areServedWhile(Databases database, Callable<?> act) throws Exception {
        database.createTables();
        LockClient one = Databases.client(database.backend());
        LockClient other = Databases.client(database.backend());
        LocksMeanwhile.areServed(one, other, act);
        one.close().then(other.close()).block(Databases.LIMIT);
    }

    @Test
    void dumpsOfPostgresCostTheLocksNothing() throws Exception {
        try (Databases postgres = Databases.postgres()) {
            postgres.execute("CREATE TABLE filler AS SELECT repeat('x', 100) FROM generate_series(1, 100000)");

            areServedWhile(
                    postgres, // which has the program beside it
                    () -> postgres.execute("COPY (SELECT 1) TO PROGRAM 'cat > /dev/null && pg_dump -h 127.0.0.1 -p "
                            + postgres.port() + " -U postgres -f /dev/null postgres'"));
        }
    }

    @Test
    void dumpsOfMariaDbInOneTransactionCostTheLocksNothing() throws Exception {
        try (Databases mariaDb = Databases.mariaDb("mariadb")) {
            Mono<Long> dump = Mono.usingWhen(mariaDb.factory().create(), BackupTest::dump, Connection::close);

            areServedWhile(mariaDb, () -> dump.block(Databases.LIMIT));
        }
    }

    private static Mono<Long> dump(Connection connection) {
        return Flux.fromIterable(DUMP)
                .concatMap(statement -> connection.createStatement(statement).execute())
                .concatMap(result -> result.map((row, metadata) -> row))
                .count();
    }
}
