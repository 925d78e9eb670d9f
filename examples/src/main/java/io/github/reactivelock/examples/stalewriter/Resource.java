package io.github.reactivelock.examples.stalewriter;

import io.github.reactivelock.examples.Sql;
import io.github.reactivelock.examples.Store;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.r2dbc.R2dbcFencingGuard;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import reactor.core.publisher.Mono;

/** The protected resource: one number, kept in the same store, with and without a guard. */
interface Resource {

    String NAME = "reactive-lock-example:register";

    /** Completes when the resource exists and is zero. */
    Mono<Void> reset();

    Mono<Long> read();

    /** The last write wins. */
    Mono<Void> write(long value);

    /** Refused if a newer token was seen. */
    Mono<Void> writeGuarded(long value, long fencingToken);

    static Resource of(Store store, String address) {
        return store.isSql() ? new Row(new Sql(address)) : new Value(address);
    }

    /** A row of an SQL table. */
    final class Row implements Resource {

        private final Sql sql;
        private final R2dbcFencingGuard guard;

        Row(Sql sql) {
            this.sql = sql;
            this.guard = R2dbcLockBackend.using(sql.pool()).fencingGuard().inColumn("register", "id", "token");
        }

        @Override
        public Mono<Void> reset() {
            return sql.change("DROP TABLE IF EXISTS register")
                    .then(sql.change(
                            "CREATE TABLE register (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL, token BIGINT)"))
                    .then(sql.change("INSERT INTO register (id, amount) VALUES (1, 0)"));
        }

        @Override
        public Mono<Long> read() {
            return sql.number("SELECT amount FROM register WHERE id = 1");
        }

        @Override
        public Mono<Void> write(long value) {
            return sql.change("UPDATE register SET amount = " + value + " WHERE id = 1");
        }

        @Override
        public Mono<Void> writeGuarded(long value, long fencingToken) {
            return guard.write(
                    1L,
                    fencingToken,
                    connection -> Sql.change(connection, "UPDATE register SET amount = " + value + " WHERE id = 1"));
        }
    }

    /** A key of Redis. */
    final class Value implements Resource {

        private final RedisReactiveCommands<String, String> redis;
        private final LettuceLockBackend backend;

        Value(String uri) {
            this.redis = RedisClient.create(uri).connect().reactive();
            this.backend = LettuceLockBackend.connect(uri);
        }

        @Override
        public Mono<Void> reset() {
            return redis.set(NAME, "0").then();
        }

        @Override
        public Mono<Long> read() {
            return redis.get(NAME).map(Long::valueOf);
        }

        @Override
        public Mono<Void> write(long value) {
            return redis.set(NAME, Long.toString(value)).then();
        }

        @Override
        public Mono<Void> writeGuarded(long value, long fencingToken) {
            return backend.fencingGuard()
                    .write(NAME, fencingToken, "SET", Long.toString(value))
                    .then();
        }
    }
}
