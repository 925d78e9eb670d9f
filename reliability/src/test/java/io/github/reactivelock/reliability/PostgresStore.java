package io.github.reactivelock.reliability;

import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.testkit.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** One PostgreSQL that writes down what it did before it answers. */
final class PostgresStore extends Store {

    private static final String CLAIMS = "SELECT convert_from(lock_key, 'UTF8') || ' is held' FROM reactive_lock"
            + " WHERE claim_id IS NOT NULL UNION ALL"
            + " SELECT convert_from(lock_key, 'UTF8') || ' is waited for' FROM reactive_lock_waiter";
    private static final String BREAK_LISTENERS =
            "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";

    // The test kit's default, off, gives up commits that were answered when the server is killed.
    final PostgresServer server = PostgresServer.start("-c", "synchronous_commit=on");

    PostgresStore() {
        // The first of its commands loads the driver.
        R2dbcLockBackend backend = R2dbcLockBackend.connect(
                ConnectionFactories.get(server.url()),
                R2dbcBackendOptions.defaults().withCommandTimeout(Lab.LIMIT));
        backend.createTables().then(backend.close()).block(Lab.LIMIT);
    }

    @Override
    List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    String address(List<Integer> ports) {
        return "r2dbc:postgresql://postgres@127.0.0.1:" + ports.get(0) + "/postgres";
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    void forget(String key) {
        select("WITH gone AS (DELETE FROM reactive_lock WHERE lock_key = convert_to('" + key
                + "', 'UTF8') RETURNING 1) SELECT count(*)::text FROM gone");
    }

    @Override
    List<String> claims() {
        return select(CLAIMS);
    }

    @Override
    void breakPushes(Way unused) {
        select(BREAK_LISTENERS);
    }

    /** It is a transaction, which goes on when its first answer is there. */
    @Override
    boolean releasesInOneMessage() {
        return false;
    }

    @ClientProcess.CanIgnoreReturnValue
    private List<String> select(String sql) {
        return Flux.usingWhen(
                        ConnectionFactories.get(server.url()).create(),
                        connection -> Flux.from(connection.createStatement(sql).execute())
                                .concatMap(result -> result.map((row, metadata) -> row.get(0, String.class))),
                        Connection::close)
                .subscribeOn(Schedulers.boundedElastic())
                .collectList()
                .block(Lab.LIMIT);
    }

    @Override
    public void close() {
        super.close();
        server.close();
    }
}
