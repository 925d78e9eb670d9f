package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.DriverThreads;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Locks that the database itself holds, as long as a transaction lasts: {@code SELECT … FOR UPDATE} on a row for each key.
 * There is no lease, no token and nothing to renew: the lock is free when the transaction ends, and when its connection
 * dies. Work that writes over the connection it is given has lock and data in one transaction:
 *
 * <pre>{@code
 * rows.withRowLock("account:7", connection -> read(connection).flatMap(balance -> write(connection, balance - 999)));
 * }</pre>
 *
 * <p><b>Everybody who holds or waits takes one connection of the pool.</b> The pool's size bounds how many can wait at
 * once; who finds no connection fails with an error that says so. Work that needs a further connection of the same pool
 * can starve behind those who wait. Keys are those of row locks alone: a lock of {@link R2dbcLockBackend} with the same
 * name is another one. Not reentrant. Safe for use from any thread.
 */
public final class RowLocks {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private final Sql sql;
    private final Database connections;
    private final Duration forConnection;
    private final Duration waitTimeout;

    private RowLocks(ConnectionFactory pool, R2dbcLockOptions options, Duration waitTimeout) {
        this.connections = new Database(pool, false, options);
        this.sql = connections.sql;
        this.forConnection = options.commandTimeout();
        this.waitTimeout = waitTimeout;
    }

    /**
     * Row locks over a pool of the application, which is never closed here.
     *
     * @param pool a pool with a connection for each flow that holds or waits
     * @param waitTimeout how long a flow waits for a lock before it fails
     * @return row locks that have not connected yet
     */
    public static RowLocks using(ConnectionFactory pool, Duration waitTimeout) {
        return using(pool, waitTimeout, R2dbcLockOptions.defaults());
    }

    /**
     * Row locks over a pool of the application, as {@link #using(ConnectionFactory, Duration)}.
     *
     * @param pool a pool with a connection for each flow that holds or waits
     * @param waitTimeout how long a flow waits for a lock before it fails
     * @param options which tables, and as command timeout how long to wait for a connection
     * @return row locks that have not connected yet
     */
    public static RowLocks using(ConnectionFactory pool, Duration waitTimeout, R2dbcLockOptions options) {
        if (waitTimeout.isNegative() || waitTimeout.isZero()) {
            throw new IllegalArgumentException("waitTimeout must be positive but is " + waitTimeout);
        }
        return new RowLocks(pool, options, waitTimeout);
    }

    /**
     * Runs work under a lock in a transaction that the work does not see. Cold. Cancelling cancels the work and frees the
     * lock. If the connection dies meanwhile, the lock is free while the work still runs, and the error comes at its end;
     * where that matters, write over the connection instead.
     *
     * @param key the name of the lock
     * @param work what must not run twice at once
     * @param <T> the value's type
     * @return the work's outcome; fails as {@link #withRowLock(String, Function)} does
     */
    public <T> Mono<T> withRowLock(String key, Mono<T> work) {
        return withRowLock(key, connection -> work);
    }

    /**
     * Runs work under a lock and inside the same transaction, which is committed when the work completes and rolled back
     * when it fails or is cancelled: lock and data are one. Cold; each subscription is a transaction of its own.
     *
     * @param key the name of the lock
     * @param work given the connection, on which it neither ends the transaction nor closes anything
     * @param <T> the value's type
     * @return the work's outcome, after the commit; {@link R2dbcTransientResourceException} if no connection was free in
     *     time, {@link R2dbcTimeoutException} if the lock was not
     */
    public <T> Mono<T> withRowLock(String key, Function<Connection, Mono<T>> work) {
        if (key.isBlank() || Keys.bytes(key).length > 512) {
            throw new IllegalArgumentException(
                    "key of a row lock must be 1 to 512 bytes of UTF-8 but is '" + key + "'");
        }
        return Mono.usingWhen(
                        connected(key),
                        connection -> locked(key, connection)
                                .then(Mono.defer(() -> work.apply(connection)))
                                .materialize()
                                .flatMap(outcome -> outcome.isOnError()
                                        ? Mono.<T>error(Objects.requireNonNull(outcome.getThrowable()))
                                        : Mono.from(connection.commitTransaction())
                                                .then(Mono.justOrEmpty(outcome.get()))),
                        Database::giveBack,
                        (connection, error) -> undone(connection),
                        connection -> undone(connection))
                .as(work2 -> sql.dialect.apart(work2).singleOrEmpty());
    }

    private Mono<Connection> connected(String key) {
        return connections
                .borrow()
                .timeout(forConnection, Mono.error(() -> exhausted(key, null)), DriverThreads.timer())
                .onErrorMap(R2dbcTimeoutException.class, error -> exhausted(key, error));
    }

    private R2dbcException exhausted(String key, @Nullable Throwable cause) {
        return new R2dbcTransientResourceException(
                "row lock '" + key + "': no connection was free within " + forConnection.toMillis()
                        + " ms; everybody who holds or waits for a row lock takes one, so give the pool more"
                        + " connections than flows that want one at once",
                cause);
    }

    private Mono<Void> locked(String key, Connection connection) {
        Session session = new Session(connection, sql);
        byte[] name = Keys.bytes(key);
        Mono<Void> row = session.alone(session.change("row_ensure", name)).then();
        Mono<Void> lock = Mono.from(connection.beginTransaction(io.r2dbc.spi.IsolationLevel.READ_COMMITTED))
                .then(session.all("row_lock", found -> true, (Object) name))
                .onErrorResume(error -> Mono.from(connection.rollbackTransaction())
                        .onErrorComplete()
                        .then(Mono.error(error)))
                .then();
        return row.then(lock)
                .retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_PAUSE)
                        .scheduler(DriverThreads.timer())
                        .maxBackoff(LONGEST_PAUSE)
                        .filter(R2dbcFailure::wasRolledBack))
                .timeout(
                        waitTimeout,
                        Mono.error(() -> new R2dbcTimeoutException("row lock '" + key + "' was not free within "
                                + waitTimeout.toMillis() + " ms; its holder's transaction goes on")),
                        DriverThreads.timer())
                .onErrorMap(
                        error -> !(error instanceof R2dbcTimeoutException),
                        error -> R2dbcFailure.of(error, sql, waitTimeout));
    }

    /** A statement may still wait for the lock, so the connection is not fit for anybody else. */
    private Mono<Void> undone(Connection connection) {
        return connections.discard(connection);
    }
}
