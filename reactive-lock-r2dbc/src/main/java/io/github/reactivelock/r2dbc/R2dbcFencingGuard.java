package io.github.reactivelock.r2dbc;

import io.github.reactivelock.state.StaleTokenException;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Lets the database itself refuse a write by a holder whose lock has passed on. A guarded write is one transaction,
 * which begins with remembering the newest fencing token of the resource and fails if that is newer than the writer's.
 * The remembered token counts when the transaction commits, and until then others who write wait:
 *
 * <pre>{@code
 * lock.withLock("account:7", held ->
 *     guard.write("account:7", held.fencingToken(), connection -> book(connection)));
 * }</pre>
 *
 * <p>In a transaction of your own, {@link #check} does the same over its connection.
 *
 * <p>It helps only if every writer of the resource asks. The tokens are kept in the table {@code reactive_lock_fence}
 * of this library, one row for each resource, which is never removed; or {@link #inColumn in a column} of the row that
 * is written, which costs nothing to read and is gone with the row. The locks themselves may be in another store.
 *
 * <p>It holds at every isolation level, also after earlier reads of the transaction: the token is read as it was
 * committed last, not as the transaction's snapshot has it. At {@code REPEATABLE READ} and {@code SERIALIZABLE}
 * PostgreSQL and H2 end a transaction whose snapshot is older than the token by a conflict of their own, SQL state
 * {@code 40001}; nothing was written then, and the transaction may be run again. <b>What the write is computed from
 * should be read after the check</b>, because MariaDB and MySQL, at {@code REPEATABLE READ}, go on reading from the
 * snapshot of the first read.
 *
 * <p>It needs no closing, and works for as long as the backend that made it is open. Safe for use from any thread.
 */
public final class R2dbcFencingGuard {

    private static final String NAME = "[A-Za-z_][A-Za-z0-9_$]{0,62}";

    /** A column of the user's; none for the table of this library. */
    private record Column(String table, String key, String token) {}

    private final Database database;
    private final UserWork userWork;
    private final @Nullable Column column;
    /** Read when the guard is made, because it asks on the driver's event loop. */
    private final Map<Dialect, Sql> statements;

    R2dbcFencingGuard(Database database) {
        this(database, null, new EnumMap<>(Dialect.class));
        for (Dialect dialect : Dialect.values()) {
            statements.put(dialect, new Sql(dialect, database.sql.prefix));
        }
    }

    private R2dbcFencingGuard(Database database, @Nullable Column column, Map<Dialect, Sql> statements) {
        this.database = database;
        this.userWork = new UserWork(database);
        this.column = column;
        this.statements = statements;
    }

    /**
     * Keeps the token of a row in a column of it, a {@code BIGINT} that may be null before the first write. If several
     * rows have the same key, they are one resource: the newest token of them counts, and each gets it.
     *
     * @param table the table, after a schema and a dot if wanted
     * @param keyColumn the column by which a row is found
     * @param tokenColumn the column of the token
     * @return a guard for the rows of that table
     */
    public R2dbcFencingGuard inColumn(String table, String keyColumn, String tokenColumn) {
        if (!table.matches("(" + NAME + "\\.)?" + NAME)) {
            throw new IllegalArgumentException("not the name of a table: '" + table + "'");
        }
        for (String name : new String[] {keyColumn, tokenColumn}) {
            if (!name.matches(NAME)) {
                throw new IllegalArgumentException("not the name of a column: '" + name + "'");
            }
        }
        return new R2dbcFencingGuard(database, new Column(table, keyColumn, tokenColumn), statements);
    }

    /**
     * Writes in a transaction of its own, over a connection of the backend's pool, at {@code READ COMMITTED}. It is
     * committed when the change completes, and rolled back when it fails or is cancelled. Cold; each subscription is a
     * write of its own, and waits for as long as another transaction that writes the same resource has not ended.
     *
     * @param resource the name of the resource, or the key of its row, of a type that the driver can bind
     * @param fencingToken the token of the hold that allows the write
     * @param change given the connection, on which it neither ends the transaction nor closes anything
     * @param <T> the value's type
     * @return the change's outcome, after the commit; fails as {@link #check} does, with the change's own error, or
     *     with an {@link IllegalStateException} in a transaction of Spring over the same pool
     */
    public <T> Mono<T> write(Object resource, long fencingToken, Function<Connection, Mono<T>> change) {
        requireToken(resource, fencingToken);
        return written(resource, connection -> check(connection, resource, fencingToken), change);
    }

    /**
     * As {@link #write}, by one of several that share the lock, and checked as {@link #checkShared} does.
     *
     * @param resource the name of the resource, or the key of its row, of a type that the driver can bind
     * @param fencingToken the token of the hold that allows the write
     * @param change given the connection, on which it neither ends the transaction nor closes anything
     * @param <T> the value's type
     * @return the change's outcome, after the commit; fails as {@link #write} does
     */
    public <T> Mono<T> writeShared(Object resource, long fencingToken, Function<Connection, Mono<T>> change) {
        requireToken(resource, fencingToken);
        return written(resource, connection -> checkShared(connection, resource, fencingToken), change);
    }

    private <T> Mono<T> written(
            Object resource, Function<Connection, Mono<Void>> check, Function<Connection, Mono<T>> change) {
        Mono<T> written = userWork.inTransaction(
                connected(resource),
                session -> Mono.from(session.connection().beginTransaction(IsolationLevel.READ_COMMITTED))
                        .then(check.apply(session.connection()))
                        .thenReturn(true),
                change);
        return Mono.<T>deferContextual(context -> Wrappers.isInTransaction(context, database.factory)
                        ? Mono.error(new IllegalStateException(
                                "resource '" + resource + "': this runs in a transaction of Spring,"
                                        + " and write would begin another one beside it, on a second connection. Call check(connection,"
                                        + " resource, fencingToken) over the transaction's own: databaseClient.inConnection(connection ->"
                                        + " guard.check(connection, resource, fencingToken))"))
                        : written)
                .onErrorStop();
    }

    private Mono<Connection> connected(Object resource) {
        return Mono.defer(() -> {
            Duration limit = database.forConnection();
            return database.borrow(new Borrowing.Limit(
                    limit,
                    () -> new R2dbcTransientResourceException(
                            "resource '" + resource + "': no connection was free within "
                                    + limit.toMillis()
                                    + " ms; a guarded write takes one for as long as its change lasts, so give"
                                    + " the pool more connections than writes at once")));
        });
    }

    private static void requireToken(Object resource, long fencingToken) {
        if (!KeyLayout.isText(String.valueOf(Objects.requireNonNull(resource, "resource")))) {
            throw new IllegalArgumentException("resource must be text in UTF-8 but is '" + resource + "'");
        }
        if (fencingToken <= 0) {
            throw new IllegalArgumentException("not a fencing token: " + fencingToken);
        }
    }

    /**
     * Checks and remembers a token. Cold; each subscription asks the database, in the transaction that is open on the
     * connection, and waits for as long as another transaction that checked the same resource has not ended. Cancelling
     * leaves the transaction to the caller, who rolls it back.
     *
     * @param connection a connection with a transaction, which is neither ended nor closed here
     * @param resource the name of the resource, or the key of its row, of a type that the driver can bind
     * @param fencingToken the token of the hold that allows the write
     * @return completes if the write may go on; otherwise {@link StaleTokenException}, or an
     *     {@link IllegalStateException} if no transaction was begun or no row keeps the token, or the driver's error.
     *     The transaction should be rolled back then
     */
    public Mono<Void> check(Connection connection, Object resource, long fencingToken) {
        return check(connection, resource, fencingToken, fencingToken);
    }

    /**
     * Checks a token of one of several that share the lock. It is refused if the token of a later hold of the whole was
     * seen, and is not remembered itself, so that those who share do not refuse one another. Otherwise as
     * {@link #check}.
     *
     * @param connection a connection with a transaction, which is neither ended nor closed here
     * @param resource the name of the resource, or the key of its row, of a type that the driver can bind
     * @param fencingToken the token of the hold that allows the write
     * @return completes if the write may go on; fails as {@link #check} does
     */
    public Mono<Void> checkShared(Connection connection, Object resource, long fencingToken) {
        return check(connection, resource, fencingToken, 0);
    }

    private Mono<Void> check(Connection connection, Object resource, long fencingToken, long remembered) {
        requireToken(resource, fencingToken);
        return Mono.defer(() -> {
                    if (connection.isAutoCommit()) {
                        return Mono.error(
                                new IllegalStateException("begin a transaction first: without one nothing keeps"
                                        + " another writer from coming between this check and the write"));
                    }
                    return Dialect.asked(connection).flatMap(dialect -> {
                        SqlSession session =
                                new SqlSession(connection, Objects.requireNonNull(statements.get(dialect)));
                        return column == null
                                ? inTable(session, String.valueOf(resource), remembered)
                                : inColumn(session, column, resource, remembered);
                    });
                })
                .flatMap(newest -> newest > fencingToken
                        ? Mono.<Void>error(new StaleTokenException("'" + resource + "'", fencingToken, newest))
                        : Mono.empty())
                .onErrorMap(
                        R2dbcFailure::isOldSnapshot,
                        error -> R2dbcFailure.oldSnapshot("resource '" + resource + "'", error))
                .onErrorStop();
    }

    private static Mono<Long> inTable(SqlSession session, String resource, long token) {
        byte[] name = KeyLayout.bytes(resource);
        return session.change("fence", name, token)
                .then(session.one("fenced", row -> LockRow.number(row, "token"), name))
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("the token of '" + resource
                        + "' was not kept: does a trigger or a policy of the database keep rows from the table of fencing"
                        + " tokens?")));
    }

    /**
     * All rows with the key are locked and looked at, for the column may be one that several rows have the same value
     * in.
     */
    private static Mono<Long> inColumn(SqlSession session, Column column, Object key, long token) {
        String look = String.format(
                Locale.ROOT,
                "SELECT coalesce(%3$s, 0) AS token FROM %1$s WHERE %2$s = ? FOR UPDATE",
                column.table(),
                column.key(),
                column.token());
        String raise = String.format(
                Locale.ROOT,
                "UPDATE %1$s SET %3$s = ? WHERE %2$s = ? AND (%3$s IS NULL OR %3$s <= ?)",
                column.table(),
                column.key(),
                column.token());
        String both = String.format(
                Locale.ROOT,
                "UPDATE %1$s SET %3$s = greatest(%3$s, ?) WHERE %2$s = ? RETURNING %3$s AS token",
                column.table(),
                column.key(),
                column.token());
        Dialect dialect = session.sql().dialect;
        String latest = dialect == Dialect.MARIADB ? Sql.LATEST : "";
        boolean isInOne = dialect == Dialect.POSTGRESQL && token > 0;
        Mono<List<Long>> tokens = isInOne
                ? session.queried(dialect.numbered(both), row -> LockRow.number(row, "token"), token, key)
                : session.queried(latest + dialect.numbered(look), row -> LockRow.number(row, "token"), key);
        return tokens.flatMap(found -> Mono.justOrEmpty(found.stream().max(Long::compare)))
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("there is no row of " + column.table()
                        + " with " + column.key() + " = " + key + "; insert it together with its token")))
                .flatMap(newest -> newest > token || isInOne || token == 0
                        ? Mono.just(newest)
                        : session.changed(latest + dialect.numbered(raise), token, key, token)
                                .thenReturn(token));
    }
}
