package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcRollbackException;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.RetryBackoffSpec;

/**
 * Locks that the database itself holds, as long as a transaction lasts: a row for each key, which the transaction
 * writes. There is no lease, no token and nothing to renew: the lock is free when the transaction ends, and when its
 * connection dies. Work that writes over the connection it is given has lock and data in one transaction:
 *
 * <pre>{@code
 * rows.withRowLock("account:7", connection -> read(connection).flatMap(balance -> write(connection, balance - 999)));
 * }</pre>
 *
 * <p>In a transaction that is open already, of Spring's {@code TransactionalOperator} for one, {@link #lock} does the
 * same over its connection. {@code withRowLock} would open a second one beside it, on another connection, and fails
 * there:
 *
 * <pre>{@code
 * operator.transactional(client.inConnection(connection -> rows.lock(connection, "account:7")).then(spend(client)));
 * }</pre>
 *
 * <p><b>Each caller who holds or waits takes one connection of the pool.</b> The pool's size bounds how many can wait
 * at once; a caller that finds no connection fails with an error that gives this reason. Work that needs a further
 * connection of the same pool can starve behind those who wait. Rows that were not locked for an hour are removed while
 * the class is in use. Keys are those of row locks alone: a lock of {@link R2dbcLockBackend} with the same name is
 * another one. Not reentrant. Safe for use from any thread.
 */
public final class RowLocks {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);
    /** Until the database should have said itself that a lock was not free. */
    private static final Duration SILENCE = Duration.ofSeconds(2);
    /** A year, which is the longest that MariaDB waits for a table. */
    private static final long LONGEST_SECONDS = 31_536_000;

    private final Sql sql;
    private final Database connections;
    private final UserWork userWork;
    private final Sweep sweep;
    private final Duration waitTimeout;

    private RowLocks(ConnectionFactory pool, R2dbcBackendOptions options, Duration waitTimeout) {
        this.connections = new Database(pool, options);
        this.userWork = new UserWork(connections);
        this.sql = connections.sql;
        this.sweep = Sweep.ofRows(connections);
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
        return using(pool, waitTimeout, R2dbcBackendOptions.defaults());
    }

    /**
     * Row locks over a pool of the application, as {@link #using(ConnectionFactory, Duration)}.
     *
     * @param pool a pool with a connection for each flow that holds or waits
     * @param waitTimeout how long a flow waits for a lock before it fails
     * @param options which tables, and as command timeout how long to wait for a connection
     * @return row locks that have not connected yet
     */
    public static RowLocks using(ConnectionFactory pool, Duration waitTimeout, R2dbcBackendOptions options) {
        if (waitTimeout.isNegative() || waitTimeout.isZero()) {
            throw new IllegalArgumentException("waitTimeout must be positive but is " + waitTimeout);
        }
        return new RowLocks(pool, options, waitTimeout);
    }

    /**
     * Runs work under a lock in a transaction that the work does not see: what it writes over other connections, also
     * through a {@code DatabaseClient}, is not part of that transaction and stays when it is rolled back. Cold.
     * Cancelling cancels the work and frees the lock. If the connection dies meanwhile, the lock is free while the work
     * still runs. On PostgreSQL the work is cancelled as soon as the driver sees it; elsewhere the error comes at its
     * end. Where that matters, write over the connection instead.
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
     * Runs work under a lock and inside the same transaction, which is committed when the work completes and rolled
     * back when it fails or is cancelled: lock and data are one. Cold; each subscription is a transaction of its own.
     *
     * @param key the name of the lock
     * @param work given the connection, on which it neither ends the transaction nor closes anything
     * @param <T> the value's type
     * @return the work's outcome, after the commit; {@link R2dbcTransientResourceException} if no connection was free
     *     in time, {@link R2dbcTimeoutException} if the lock was not, {@link IllegalStateException} in a transaction of
     *     Spring over the same pool
     */
    public <T> Mono<T> withRowLock(String key, Function<Connection, Mono<T>> work) {
        byte[] name = checked(key);
        Mono<T> locked = userWork.inTransaction(
                connected(key),
                session -> locked(key, name, session).thenReturn(true),
                connection -> userWork.whileConnected(connection, "row lock '" + key + "'", work.apply(connection)));
        return Mono.<T>deferContextual(context -> {
                    if (Wrappers.isInTransaction(context, connections.factory)) {
                        return Mono.error(new IllegalStateException(
                                "row lock '" + key + "': this runs in a transaction of Spring,"
                                        + " and withRowLock would begin another one beside it, on a second connection. Call"
                                        + " lock(connection, key) over the transaction's own: databaseClient.inConnection(connection ->"
                                        + " rows.lock(connection, key))"));
                    }
                    sweep.begin(context);
                    return locked;
                })
                .onErrorStop();
    }

    /**
     * Takes a lock in a transaction that is open on the connection; the lock is free when that transaction ends. Cold.
     * Waits as long as {@code waitTimeout}, which ends the wait in the database too (in MySQL they are the session's
     * {@code innodb_lock_wait_timeout} and {@code lock_wait_timeout} meanwhile). Cancelling leaves the transaction to
     * the caller; a statement may still wait on its connection.
     *
     * <p>What the holder before has written is seen by everything that is read afterwards, at {@code READ COMMITTED}.
     * At {@code REPEATABLE READ} and {@code SERIALIZABLE} PostgreSQL ends a transaction whose snapshot is older than
     * that by a conflict, SQL state {@code 40001}, H2 at the latest when it writes what has changed; it may be run
     * again. MariaDB and MySQL would go on reading from the old snapshot there, so a transaction that has read before
     * it locks is refused; one that locks first is not.
     *
     * @param connection a connection with a transaction, which is neither ended nor closed here
     * @param key the name of the lock, the same as in {@link #withRowLock(String, Function)}; 1 to 512 bytes of UTF-8
     * @return completes when the lock is held; {@link R2dbcTimeoutException} if it was not free in time,
     *     {@link IllegalStateException} without a transaction or with an old snapshot, or the driver's error. The
     *     transaction should be rolled back then
     */
    public Mono<Void> lock(Connection connection, String key) {
        byte[] name = checked(key);
        return Mono.<Void>deferContextual(context -> {
                    if (connection.isAutoCommit()) {
                        return Mono.error(
                                new IllegalStateException("row lock '" + key + "': begin a transaction first; without"
                                        + " one the lock would be free again at once"));
                    }
                    sweep.begin(context);
                    SqlSession session = new SqlSession(connection, sql);
                    Duration patience = sql.dialect == Dialect.H2 ? waitTimeout : waitTimeout.plus(SILENCE);
                    Mono<Void> taken = bounded(
                                    session, fresh(session, key, name).then(taken(session, name)))
                            .then(Mono.defer(() -> session.isClean()
                                    ? Mono.<Void>empty()
                                    : Mono.error(new IllegalStateException("row lock '" + key
                                            + "': the lock timeouts of this session could not be"
                                            + " set back; roll back and close the connection"))))
                            .retryWhen(backoff().filter(RowLocks::leavesTransaction))
                            .onErrorMap(RowLocks::isLockTimeout, error -> notFree(key, error))
                            .onErrorMap(
                                    R2dbcFailure::isOldSnapshot,
                                    error -> R2dbcFailure.oldSnapshot("row lock '" + key + "'", error))
                            .timeout(silence(patience), Mono.error(() -> notFree(key, null)));
                    return sql.dialect.apart(taken).then();
                })
                .onErrorStop();
    }

    /** The database itself says that a lock is not free; here it ends a wait for a database that does not. */
    private static Mono<Void> silence(Duration patience) {
        return SilenceClock.ofThisProcess().silence(patience).publishOn(DriverThreads.forUsers());
    }

    private static byte[] checked(String key) {
        if (!KeyLayout.isName(key)) {
            throw new IllegalArgumentException(
                    "key of a row lock must be 1 to 512 bytes of UTF-8 but is " + KeyLayout.shown(key));
        }
        return KeyLayout.bytes(key);
    }

    private Mono<Connection> connected(String key) {
        return Mono.defer(() -> {
            Duration limit = connections.forConnection();
            return connections
                    .borrow(new Borrowing.Limit(limit, () -> exhausted(key, limit, null)))
                    .onErrorMap(R2dbcTimeoutException.class, error -> exhausted(key, limit, error));
        });
    }

    private static R2dbcException exhausted(String key, Duration limit, @Nullable Throwable cause) {
        return new R2dbcTransientResourceException(
                "row lock '" + key + "': no connection was free within " + limit.toMillis()
                        + " ms; each caller who holds or waits for a row lock takes one, so give the pool more"
                        + " connections than flows that want one at once",
                cause);
    }

    private Mono<Void> locked(String key, byte[] name, SqlSession session) {
        return Mono.from(session.connection().beginTransaction(IsolationLevel.READ_COMMITTED))
                .then(bounded(session, taken(session, name)))
                .onErrorResume(session::rolledBack)
                .retryWhen(backoff().filter(error -> session.isClean() && R2dbcFailure.wasRolledBack(error)))
                .onErrorMap(R2dbcFailure::wasRolledBack, error -> session.isClean() ? error : R2dbcFailure.stale())
                .timeout(silence(clientsPatience()), Mono.error(() -> notFree(key, null)))
                .onErrorMap(RowLocks::isLockTimeout, error -> notFree(key, error))
                .onErrorMap(
                        error -> !(error instanceof R2dbcTimeoutException),
                        error -> R2dbcFailure.of(error, sql, waitTimeout));
    }

    /**
     * A wait ends at the server, so that it takes no row for a client that has given up: in MySQL the session says
     * when.
     */
    private Mono<Void> bounded(SqlSession session, Mono<Void> waiting) {
        return Mono.defer(() -> {
            sql.learn(session.connection());
            if (sql.isToBeAsked()) {
                return SeveralWriters.look(session).then(bounded(session, waiting));
            }
            if (!sql.isMySql()) {
                return waiting;
            }
            Mono<Void> unbound = session.undone(session.change("row_unbound"));
            return SqlSession.leaving(session.changed(patient("row_bound")).then(waiting), unbound)
                    .onErrorResume(error -> unbound.then(Mono.error(error)))
                    .then(unbound);
        });
    }

    /** Writes the row, which locks it for the transaction; the database itself gives up waiting in time. */
    private Mono<Void> taken(SqlSession session, byte[] name) {
        Mono<Long> taken = switch (sql.dialect) {
            case POSTGRESQL ->
                session.change("row_take", waitTimeout.toMillis() + "ms", name)
                        .flatMap(rows -> session.all("row_taken", row -> true).thenReturn(rows));
            case MARIADB -> session.changed(patient("row_take"), name);
            case H2 -> session.change("row_take", name);
        };
        return taken.flatMap(rows -> rows > 0
                ? Mono.empty()
                : Mono.error(new R2dbcRollbackException("the row was removed while its lock was waited for")));
    }

    /** Refuses a transaction that goes on reading what was there before the last holder wrote. */
    private Mono<Void> fresh(SqlSession session, String key, byte[] name) {
        return sql.dialect != Dialect.MARIADB
                ? Mono.empty()
                : session.changed(patient("row_hold"), name)
                        .then(session.one(
                                "row_seen",
                                row -> LockRow.number(row, "locked_at") == nullable(row.get("seen_at", Long.class)),
                                name,
                                name))
                        .flatMap(isFresh -> isFresh
                                ? Mono.empty()
                                : Mono.error(new IllegalStateException("row lock '" + key + "': this transaction read"
                                        + " before it locked, and goes on reading what was there then, not what the last"
                                        + " holder wrote. Lock before the first read, or begin at READ COMMITTED")));
    }

    private static long nullable(@Nullable Long number) {
        return number == null ? -1 : number;
    }

    /** MariaDB takes the limit with the statement, in whole seconds. */
    private String patient(String statement) {
        long seconds = Math.min(waitTimeout.plusMillis(999).toSeconds(), LONGEST_SECONDS);
        return sql.text(statement).replace("${seconds}", Long.toString(seconds));
    }

    /** H2 waits on the thread that asks again, and a connection may be wrapped by the application. */
    private RetryBackoffSpec backoff() {
        return EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE).scheduler(DriverThreads.mayBlock());
    }

    /** H2 gives up waiting after a time of its own; the transaction is whole. */
    private static boolean leavesTransaction(Throwable error) {
        return error instanceof R2dbcException known && known.getErrorCode() == 50200;
    }

    private static boolean isLockTimeout(Throwable error) {
        return error instanceof R2dbcException known
                && ("55P03".equals(known.getSqlState()) || known.getErrorCode() == 1205);
    }

    /** PostgreSQL ends the wait by the millisecond, which leaves the connection whole; MariaDB by the second. */
    private Duration clientsPatience() {
        return sql.dialect == Dialect.POSTGRESQL ? waitTimeout.plus(SILENCE) : waitTimeout;
    }

    private R2dbcTimeoutException notFree(String key, @Nullable Throwable cause) {
        return new R2dbcTimeoutException(
                "row lock '" + key + "' was not free within " + waitTimeout.toMillis()
                        + " ms; its holder's transaction goes on, this one should be rolled back",
                cause);
    }
}
