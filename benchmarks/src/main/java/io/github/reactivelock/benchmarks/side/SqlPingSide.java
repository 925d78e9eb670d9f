package io.github.reactivelock.benchmarks.side;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Two statements that do nothing, and no lock: no lock that asks its database twice over a pool can be faster. */
final class SqlPingSide implements Side {

    private final ConnectionPool connections;

    SqlPingSide(String uri) {
        this.connections = new ConnectionPool(ConnectionPoolConfiguration.builder(ConnectionFactories.get(uri))
                .build());
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        asked().flatMap(one -> {
                    cycle.entered();
                    return asked();
                })
                .subscribe(one -> {}, cycle::ended, () -> cycle.ended(null));
    }

    private Mono<Integer> asked() {
        return Mono.usingWhen(connections.create(), SqlPingSide::one, Connection::close);
    }

    private static Mono<Integer> one(Connection connection) {
        return Flux.from(connection.createStatement("SELECT 1").execute())
                .concatMap(result -> result.map((row, metadata) -> 1))
                .single();
    }

    @Override
    public void close() {
        connections.dispose();
    }
}
