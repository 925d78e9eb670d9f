package io.github.reactivelock.examples;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Result;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** An application's own database. Runs a few statements, none with user input. */
public final class Sql {

    private static final int CONNECTIONS = 4;

    private final ConnectionPool pool;

    /**
     * Opens a pool of its own, which ends with the process.
     *
     * @param url for R2DBC
     */
    public Sql(String url) {
        this.pool = new ConnectionPool(ConnectionPoolConfiguration.builder(ConnectionFactories.get(url))
                .initialSize(0)
                .maxSize(CONNECTIONS)
                .build());
    }

    /**
     * Where its connections come from.
     *
     * @return the pool of this database
     */
    public ConnectionFactory pool() {
        return pool;
    }

    /**
     * Reads a number from the database.
     *
     * @param query whose first column is a number
     * @return cold; that of the first row
     */
    public Mono<Long> number(String query) {
        return Mono.usingWhen(
                pool.create(),
                connection -> Flux.from(connection.createStatement(query).execute())
                        .concatMap(result -> result.map((row, metadata) -> row.get(0, Long.class)))
                        .collectList()
                        .map(rows -> rows.get(0)),
                Connection::close);
    }

    /**
     * Changes data by one statement with autocommit.
     *
     * @param statement any that asks for nothing
     * @return cold; completes when it is done
     */
    public Mono<Void> change(String statement) {
        return Mono.usingWhen(pool.create(), connection -> change(connection, statement), Connection::close);
    }

    /**
     * Changes data in an open transaction.
     *
     * @param connection with the transaction
     * @param statement any that asks for nothing
     * @return cold; completes when it is done
     */
    public static Mono<Void> change(Connection connection, String statement) {
        return Flux.from(connection.createStatement(statement).execute())
                .concatMap(Result::getRowsUpdated)
                .then();
    }
}
