package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.IsolationLevel;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * PostgreSQL's advisory locks: a mutex inside one database, without a table and with one question. A lock is that of a
 * transaction, or for long work that of a session, which keeps no transaction open.
 *
 * <pre>{@code
 * locks.tryWithLock("report:2026-11", connection -> write(connection));       // empty while another writes it
 * locks.tryWithSessionLock("import", importing());                            // long work, over other connections
 * }</pre>
 *
 * <p><b>What it lacks.</b> There is no fencing token, so nothing refuses what a holder writes elsewhere after its connection
 * died; no lease and no signal, so a holder learns only at its end that the connection was lost; no queue and no waiting;
 * no owner to look up, but a number in {@code pg_locks}; nothing of it is replicated, so a fail-over frees every lock. A
 * session lock needs a session of its own: not through a pooler in transaction mode. {@link R2dbcLockBackend} has all of
 * that.
 *
 * <p>The number of a lock is {@code hashtextextended('reactive_lock:' || key, 0)}, with the prefix of the options; two keys
 * have the same with a chance of 1 in 2<sup>64</sup>. Each holder takes one connection of the pool. Not reentrant:
 * a transaction gets its own lock again. Safe for use from any thread.
 */
public final class AdvisoryLocks {

    private final Database database;
    private final Duration limit;

    private AdvisoryLocks(Database database, Duration limit) {
        this.database = database;
        this.limit = limit;
    }

    /**
     * Advisory locks over a pool of the application, which is never closed here.
     *
     * @param pool a pool with a connection for each flow that holds
     * @return locks that have not connected yet
     * @throws IllegalArgumentException if it does not lead to PostgreSQL
     */
    public static AdvisoryLocks using(ConnectionFactory pool) {
        return using(pool, R2dbcBackendOptions.defaults());
    }

    /**
     * Advisory locks over a pool of the application, as {@link #using(ConnectionFactory)}.
     *
     * @param pool a pool with a connection for each flow that holds
     * @param options which prefix, and as command timeout how long to wait for a connection, and for an answer
     * @return locks that have not connected yet
     * @throws IllegalArgumentException if it does not lead to PostgreSQL
     */
    public static AdvisoryLocks using(ConnectionFactory pool, R2dbcBackendOptions options) {
        Database database = new Database(pool, options);
        if (database.sql.dialect != Dialect.POSTGRESQL) {
            throw new IllegalArgumentException("advisory locks are PostgreSQL's; RowLocks does the same elsewhere");
        }
        return new AdvisoryLocks(database, options.commandTimeout());
    }

    /**
     * Takes a lock in a transaction that is open on the connection, if it is free; it is free again when that transaction
     * ends. Cold; one question. Cancelling leaves the transaction to the caller.
     *
     * @param connection a connection with a transaction, which is neither ended nor closed here
     * @param key the name of the lock, not blank and without NUL
     * @return whether the lock is held by this transaction; {@link IllegalStateException} without a transaction, or the
     *     driver's error
     */
    public Mono<Boolean> tryLock(Connection connection, String key) {
        String name = name(key);
        return Mono.defer(() -> connection.isAutoCommit()
                ? Mono.error(new IllegalStateException("advisory lock '" + key + "': begin a transaction first; without"
                        + " one the lock would be free again at once"))
                : asked(connection, "advisory_take", name));
    }

    /**
     * Runs work under a lock and inside the same transaction, if the lock is free. The transaction is committed when the
     * work completes and rolled back when it fails or is cancelled. Cold.
     *
     * @param key the name of the lock, not blank and without NUL
     * @param work given the connection, on which it neither ends the transaction nor closes anything
     * @param <T> the value's type
     * @return the work's outcome, after the commit; empty if the lock is held; the driver's error, or a
     *     {@link TimeoutException} if no connection was free, or the lock was not answered for, in time
     */
    public <T> Mono<T> tryWithLock(String key, Function<Connection, Mono<T>> work) {
        String name = name(key);
        return Mono.usingWhen(
                connected(),
                connection -> inTime(Mono.from(connection.beginTransaction(IsolationLevel.READ_COMMITTED))
                                .then(asked(connection, "advisory_take", name)))
                        .filter(taken -> taken)
                        .flatMap(taken -> work.apply(connection))
                        .materialize()
                        .flatMap(outcome -> outcome.isOnError()
                                ? Mono.<T>error(Objects.requireNonNull(outcome.getThrowable()))
                                : Mono.from(connection.commitTransaction()).then(Mono.justOrEmpty(outcome.get()))),
                Database::giveBack,
                (connection, error) -> database.discard(connection),
                database::discard);
    }

    /**
     * Runs long work under a lock of a session, if it is free: a connection is kept for it, and no transaction. Cold.
     * Cancelling cancels the work and frees the lock. If the connection dies meanwhile, the lock is free while the work
     * still runs, and the error comes at its end.
     *
     * @param key the name of the lock, not blank and without NUL
     * @param work what must not run twice at once
     * @param <T> the value's type
     * @return the work's outcome; empty if the lock is held; {@link IllegalStateException} if the lock was lost
     *     while the work ran, or the database did not answer in time at its end; the driver's error, or a
     *     {@link TimeoutException} if no connection was free, or no answer came, before the work
     */
    public <T> Mono<T> tryWithSessionLock(String key, Mono<T> work) {
        String name = name(key);
        return Mono.usingWhen(
                connected().map(connection -> new Held(connection, new AtomicBoolean())),
                held -> kept(held.connection(), "advisory_keep", name)
                        .filter(taken -> taken)
                        .doOnNext(taken -> held.sure().set(true))
                        .flatMap(taken -> work.materialize()
                                .flatMap(outcome -> freed(held, key, name)
                                        .then(Mono.defer(() -> outcome.isOnError()
                                                ? Mono.<T>error(Objects.requireNonNull(outcome.getThrowable()))
                                                : Mono.justOrEmpty(outcome.get()))))),
                held -> Database.giveBack(held.connection()),
                (held, error) -> ended(held, name),
                held -> ended(held, name));
    }

    /** A connection, and whether it is sure that it holds the lock and nothing is under way on it. */
    private record Held(Connection connection, AtomicBoolean sure) {}

    private Mono<Void> freed(Held held, String key, String name) {
        return Mono.defer(() -> {
            held.sure().set(false);
            return kept(held.connection(), "advisory_free", name)
                    .onErrorReturn(false)
                    .flatMap(wasHeld -> wasHeld
                            ? Mono.empty()
                            : Mono.error(new IllegalStateException("advisory lock '" + key + "' was lost while its work"
                                    + " ran, because its connection ended; the work may have run twice at once")));
        });
    }

    private Mono<Void> ended(Held held, String name) {
        return held.sure().get()
                ? kept(held.connection(), "advisory_free", name)
                        .then(Database.giveBack(held.connection()))
                        .onErrorResume(error -> database.discard(held.connection()))
                : database.discard(held.connection());
    }

    private Mono<Boolean> kept(Connection connection, String statement, String name) {
        Session session = new Session(connection, database.sql);
        return inTime(session.alone(asked(connection, statement, name)));
    }

    /** A connection whose host is gone may be silent for as long as TCP tries. */
    private <T> Mono<T> inTime(Mono<T> question) {
        return question.timeout(limit, DriverThreads.timer());
    }

    private Mono<Boolean> asked(Connection connection, String statement, String name) {
        return new Session(connection, database.sql)
                .one(statement, row -> Objects.requireNonNull(row.get("taken", Boolean.class)), name);
    }

    private Mono<Connection> connected() {
        return database.borrow(new Borrowing.Limit(
                limit, () -> new TimeoutException("no connection was free within " + limit.toMillis() + " ms")));
    }

    private String name(String key) {
        if (key.isBlank() || key.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("key of an advisory lock must be text without NUL but is '" + key + "'");
        }
        return database.sql.prefix + ":" + key;
    }
}
