package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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
 * <p><b>What it lacks.</b> There is no fencing token, so nothing refuses what a holder writes elsewhere after its
 * connection died; no lease and no signal but the end of the connection, which cancels the work as soon as it is seen;
 * no queue and no waiting; no owner to look up, but a number in {@code pg_locks}; nothing of it is replicated, so a
 * fail-over frees every lock. A session lock needs a session of its own: not through a pooler in transaction mode.
 * {@link R2dbcLockBackend} has all of that.
 *
 * <p>The number of a lock is {@code hashtextextended('reactive_lock:' || key, 0)}, with the prefix of the options; two
 * keys have the same with a chance of 1 in 2<sup>64</sup>. Each holder takes one connection of the pool. Not reentrant:
 * a transaction gets its own lock again. Safe for use from any thread.
 */
public final class AdvisoryLocks {

    private static final Duration LOOK = Duration.ofSeconds(1);

    private final Database database;
    private final UserWork userWork;
    private final Duration limit;

    private AdvisoryLocks(Database database, Duration limit) {
        this.database = database;
        this.userWork = new UserWork(database);
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
     * Takes a lock in a transaction that is open on the connection, if it is free; it is free again when that
     * transaction ends. Cold; one question. Cancelling leaves the transaction to the caller.
     *
     * @param connection a connection with a transaction, which is neither ended nor closed here
     * @param key the name of the lock, not blank and without NUL
     * @return whether the lock is held by this transaction; {@link IllegalStateException} without a transaction, or the
     *     driver's error
     */
    public Mono<Boolean> tryLock(Connection connection, String key) {
        String name = name(key);
        return Mono.defer(() -> connection.isAutoCommit()
                        ? Mono.<Boolean>error(new IllegalStateException(lock(key)
                                + ": begin a transaction first; without" + " one the lock would be free again at once"))
                        : asked(connection, "advisory_take", name))
                .onErrorStop();
    }

    /**
     * Runs work under a lock and inside the same transaction, if the lock is free. The transaction is committed when
     * the work completes and rolled back when it fails or is cancelled. Cold.
     *
     * @param key the name of the lock, not blank and without NUL
     * @param work given the connection, on which it neither ends the transaction nor closes anything
     * @param <T> the value's type
     * @return the work's outcome, after the commit; empty if the lock is held; the driver's error, or a
     *     {@link TimeoutException} if no connection was free, or the lock was not answered for, in time;
     *     {@link IllegalStateException} in a transaction of Spring over the same pool, or if the connection ended
     */
    public <T> Mono<T> tryWithLock(String key, Function<Connection, Mono<T>> work) {
        String name = name(key);
        return outside(
                key,
                userWork.inTransaction(
                        connected(),
                        session ->
                                inTime(Mono.from(session.connection().beginTransaction(IsolationLevel.READ_COMMITTED))
                                        .then(asked(session.connection(), "advisory_take", name))),
                        connection -> userWork.whileConnected(connection, lock(key), work.apply(connection))));
    }

    /**
     * Runs long work under a lock of a session, if it is free: a connection is kept for it, and no transaction. Cold.
     * Cancelling cancels the work and frees the lock. When the connection ends meanwhile, the lock is free; the work is
     * cancelled as soon as the driver sees it, or a question each second is not answered in time.
     *
     * @param key the name of the lock, not blank and without NUL
     * @param work what must not run twice at once
     * @param <T> the value's type
     * @return the work's outcome; empty if the lock is held; {@link IllegalStateException} in a transaction of Spring
     *     over the same pool, if the lock was lost while the work ran, or the database did not answer in time at its
     *     end; the driver's error, or a {@link TimeoutException} if no connection was free, or no answer came, before
     *     the work
     */
    public <T> Mono<T> tryWithSessionLock(String key, Mono<T> work) {
        String name = name(key);
        return outside(
                key,
                userWork.overWhole(course -> Mono.usingWhen(
                        connected().map(Held::new),
                        held -> {
                            course.lend();
                            return kept(held.connection, "advisory_keep", name)
                                    .filter(taken -> taken)
                                    .doOnNext(taken -> held.known = Known.HELD)
                                    .flatMap(taken -> {
                                        course.begin();
                                        return watched(held.connection, key, work)
                                                .materialize()
                                                .flatMap(outcome -> freed(held, key, name, outcome.getThrowable())
                                                        .then(Mono.defer(() -> outcome.isOnError()
                                                                ? Mono.<T>error(
                                                                        Objects.requireNonNull(outcome.getThrowable()))
                                                                : Mono.justOrEmpty(outcome.get()))));
                                    });
                        },
                        held -> Database.giveBack(held.connection),
                        (held, error) -> ended(held, name),
                        held -> ended(held, name))));
    }

    /** What is known of a lock on a connection; unless it is unknown, nothing is under way there. */
    private enum Known {
        HELD,
        FREE,
        UNKNOWN
    }

    /** The state of one call; its steps follow one another. */
    private static final class Held {
        private final Connection connection;
        private volatile Known known = Known.UNKNOWN;

        Held(Connection connection) {
            this.connection = connection;
        }
    }

    /** Nothing else is asked over the connection meanwhile, so it is looked whether it answers. */
    private <T> Mono<T> watched(Connection connection, String key, Mono<T> work) {
        Mono<T> silent = Mono.delay(LOOK, DriverThreads.timer())
                .then(SilenceClock.ofThisProcess()
                        .timeout(
                                DriverThreads.offTimer(Mono.from(connection.validate(ValidationDepth.REMOTE))),
                                limit,
                                Mono.just(false)))
                .onErrorReturn(false)
                .repeat()
                .filter(answered -> !answered)
                .next()
                .publishOn(DriverThreads.forUsers())
                .then(Mono.error(() -> new UserWork.Ended(lock(key))));
        return userWork.whileConnected(connection, lock(key), Mono.firstWithSignal(work, silent));
    }

    private Mono<Void> freed(Held held, String key, String name, @Nullable Throwable failure) {
        return Mono.defer(() -> {
            held.known = Known.UNKNOWN;
            if (failure instanceof UserWork.Ended) {
                return Mono.empty();
            }
            return kept(held.connection, "advisory_free", name)
                    .onErrorReturn(false)
                    .doOnNext(wasHeld -> held.known = wasHeld ? Known.FREE : Known.UNKNOWN)
                    .flatMap(wasHeld -> wasHeld ? Mono.empty() : Mono.error(new UserWork.Ended(lock(key))));
        });
    }

    private static String lock(String key) {
        return "advisory lock '" + key + "'";
    }

    /** A transaction of Spring around would commit what the work wrote when the lock is free already. */
    private <T> Mono<T> outside(String key, Mono<T> locked) {
        return Mono.<T>deferContextual(context -> Wrappers.isInTransaction(context, database.factory)
                        ? Mono.error(
                                new IllegalStateException(lock(key) + ": this runs in a transaction of Spring, and the"
                                        + " lock would be taken over a second connection and free before that commits. Call"
                                        + " tryLock(connection, key) over the transaction's own: databaseClient.inConnection(connection"
                                        + " -> locks.tryLock(connection, key))"))
                        : locked)
                .onErrorStop();
    }

    private Mono<Void> ended(Held held, String name) {
        Connection connection = held.connection;
        return switch (held.known) {
            case HELD ->
                kept(connection, "advisory_free", name)
                        .then(Database.giveBack(connection))
                        .onErrorResume(error -> database.discard(connection));
            case FREE -> Database.giveBack(connection);
            case UNKNOWN -> database.discard(connection);
        };
    }

    private Mono<Boolean> kept(Connection connection, String statement, String name) {
        SqlSession session = new SqlSession(connection, database.sql);
        return inTime(session.alone(asked(connection, statement, name)));
    }

    /** A connection whose host is gone may be silent for as long as TCP tries. */
    private <T> Mono<T> inTime(Mono<T> question) {
        return question.timeout(
                SilenceClock.ofThisProcess().silence(limit).publishOn(DriverThreads.forUsers()),
                Mono.error(
                        () -> new TimeoutException("the database did not answer within " + limit.toMillis() + " ms")));
    }

    private Mono<Boolean> asked(Connection connection, String statement, String name) {
        return new SqlSession(connection, database.sql)
                .one(statement, row -> Objects.requireNonNull(row.get("taken", Boolean.class)), name);
    }

    private Mono<Connection> connected() {
        return Mono.defer(() -> {
            Duration wait = database.forConnection();
            return database.borrow(new Borrowing.Limit(
                    wait, () -> new TimeoutException("no connection was free within " + wait.toMillis() + " ms")));
        });
    }

    private String name(String key) {
        if (key.isBlank() || key.indexOf('\0') >= 0 || !KeyLayout.isText(key)) {
            throw new IllegalArgumentException(
                    "key of an advisory lock must be text in UTF-8 without NUL but is '" + key + "'");
        }
        return database.sql.prefix + ":" + key;
    }
}
