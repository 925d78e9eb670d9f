package io.github.reactivelock.reliability;

import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** One database whose server can be broken, and an operator who asks it in SQL. */
abstract class SqlStore extends Store {

    private final String key;

    /**
     * A store of a database.
     *
     * @param key how it makes text of a lock's key
     */
    SqlStore(String key) {
        this.key = key;
    }

    /** Comes first, when the server answers: it loads the driver too. */
    void createTables() {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(
                ConnectionFactories.get(address(ports())),
                R2dbcBackendOptions.defaults().withCommandTimeout(Lab.LIMIT));
        backend.createTables().then(backend.close()).block(Lab.LIMIT);
    }

    @Override
    void forget(String key) {
        select("DELETE FROM reactive_lock WHERE " + this.key + " = '" + key + "'");
    }

    @Override
    List<String> claims() {
        return select("SELECT concat(" + key + ", ' is held') FROM reactive_lock WHERE claim_id IS NOT NULL UNION ALL"
                + " SELECT concat(" + key + ", ' is waited for') FROM reactive_lock_waiter");
    }

    /** A statement that a connection has not seen is prepared first, and a transaction goes on when it was answered. */
    @Override
    boolean releasesInOneMessage() {
        return false;
    }

    @ClientProcess.CanIgnoreReturnValue
    List<String> select(String sql) {
        return Flux.usingWhen(
                        ConnectionFactories.get(address(ports())).create(),
                        connection -> Flux.from(connection.createStatement(sql).execute())
                                .concatMap(result -> result.map((row, metadata) -> row.get(0, String.class))),
                        Connection::close)
                .subscribeOn(Schedulers.boundedElastic())
                .collectList()
                .block(Lab.LIMIT);
    }
}
