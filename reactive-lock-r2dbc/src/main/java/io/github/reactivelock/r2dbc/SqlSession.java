package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.FireAndForget;
import io.r2dbc.spi.Batch;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Row;
import io.r2dbc.spi.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One connection for one command of ours. A parameter may be a list of keys, of ids or of numbers; all lists of a
 * statement are as long as the shortest, or twice as long where they are pairs.
 */
final class SqlSession {

    private static final Logger log = LoggerFactory.getLogger(SqlSession.class);
    private static final List<String> BEGIN =
            List.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION");
    private static final List<String> END = List.of("COMMIT");

    private final Connection connection;
    private final Sql sql;
    private volatile boolean clean = true;

    SqlSession(Connection connection, Sql sql) {
        this.connection = connection;
        this.sql = sql;
    }

    Connection connection() {
        return connection;
    }

    Sql sql() {
        return sql;
    }

    /** Whether another user may have its connection: what a command began has ended, and what it set is set back. */
    boolean isClean() {
        return clean;
    }

    /**
     * Undoes what a command did to its connection. A failure changes nothing of the command's outcome, but the
     * connection must not be lent again: a transaction would still be open on it, or a limit of ours be in force.
     */
    Mono<Void> undone(Mono<?> undoing) {
        return undoing.then().onErrorResume(error -> {
            log.debug("a connection could not be left as it was, and is closed", error);
            clean = false;
            return Mono.empty();
        });
    }

    /**
     * The same for a command that is given up: what a driver is asked for on a connection it tells the server in that
     * order, so the undoing comes behind what is under way, and before all that the next user of the connection asks. A
     * pool in a wrapper that does not show it lends the connection again.
     */
    static <T> Mono<T> leaving(Mono<T> command, Mono<?> undoing) {
        return command.doOnCancel(() -> FireAndForget.run("leaving a connection as it was", undoing));
    }

    /** Rolls back what is open, and fails with what went wrong before. */
    <T> Mono<T> rolledBack(Throwable error) {
        return undone(Mono.defer(() -> Mono.from(connection.rollbackTransaction())))
                .then(Mono.error(error));
    }

    <T> Mono<List<T>> all(String statement, Function<Row, T> read, Object... parameters) {
        return rows(statement, read, parameters).collectList();
    }

    /** The first row, read after all of them came, because a result that is cancelled early costs the connection. */
    <T> Mono<T> one(String statement, Function<Row, T> read, Object... parameters) {
        return rows(statement, read, parameters).reduce((first, later) -> first);
    }

    /** How many rows a statement changed. */
    Mono<Long> change(String statement, Object... parameters) {
        return changed(text(statement, parameters), parameters);
    }

    Mono<Long> changed(String text, Object... parameters) {
        return Flux.defer(() -> bound(text, parameters).execute())
                .concatMap(Result::getRowsUpdated)
                .reduce(0L, (sum, rows) -> sum + rows.longValue());
    }

    <T> Mono<List<T>> queried(String text, Function<Row, T> read, Object... parameters) {
        return read(text, read, parameters).collectList();
    }

    private <T> Flux<T> rows(String statement, Function<Row, T> read, Object... parameters) {
        return read(text(statement, parameters), read, parameters);
    }

    private <T> Flux<T> read(String text, Function<Row, T> read, Object... parameters) {
        return Flux.defer(() -> bound(text, parameters).execute())
                .concatMap(result -> result.map((row, metadata) -> read.apply(row)));
    }

    private String text(String statement, Object... parameters) {
        int shortest = Integer.MAX_VALUE;
        for (Object parameter : parameters) {
            shortest = parameter instanceof List<?> list ? Math.min(shortest, list.size()) : shortest;
        }
        return shortest == Integer.MAX_VALUE ? sql.text(statement) : sql.text(statement, shortest);
    }

    /** A statement with one parameter, for each of some values. */
    Mono<Long> changeEach(String statement, List<?> values) {
        return Flux.defer(() -> {
                    Statement each = connection.createStatement(sql.text(statement));
                    for (int i = 0; i < values.size(); i++) {
                        (i == 0 ? each : each.add()).bind(0, values.get(i));
                    }
                    return each.execute();
                })
                .concatMap(Result::getRowsUpdated)
                .reduce(0L, (sum, rows) -> sum + rows.longValue());
    }

    private Statement bound(String text, Object... parameters) {
        Statement statement = connection.createStatement(text);
        int place = 0;
        for (Object parameter : parameters) {
            List<?> values = !(parameter instanceof List<?> list)
                    ? List.of(parameter)
                    : sql.dialect.hasArrays() ? List.of(array(list)) : list;
            for (Object value : values) {
                statement.bind(place++, value);
            }
        }
        return statement;
    }

    private static Object array(List<?> values) {
        return values.get(0) instanceof Long
                ? values.toArray(Long[]::new)
                : values.stream()
                        .map(value ->
                                value instanceof byte[] key ? HexFormat.of().formatHex(key) : value)
                        .toArray(String[]::new);
    }

    /** Runs work, which must have a value, in a transaction of its own. */
    <T> Mono<T> transaction(Mono<T> work) {
        return Mono.from(connection.beginTransaction(IsolationLevel.READ_COMMITTED))
                .then(work)
                .flatMap(value -> Mono.from(connection.commitTransaction()).thenReturn(value))
                .onErrorResume(this::rolledBack);
    }

    /** The same for statements that do not say themselves how long they wait, and the server for this client. */
    <T> Mono<T> limited(Mono<T> work) {
        return bounded(
                transaction(sql.knows("limit") ? all("limit", row -> true).then(work) : work));
    }

    /**
     * Runs one statement so that it counts at once, also on a connection that commits by hand, and sees what others
     * have committed, also where PostgreSQL's default is another isolation.
     */
    <T> Mono<T> alone(Mono<T> work) {
        return Mono.defer(() -> !connection.isAutoCommit() || !isReadCommitted()
                ? limited(work)
                : sql.isMySql() ? bounded(work) : work);
    }

    private boolean isReadCommitted() {
        return sql.dialect != Dialect.POSTGRESQL
                || IsolationLevel.READ_COMMITTED.equals(connection.getTransactionIsolationLevel());
    }

    /**
     * Runs a statement that does all that a command needs, if this database has one; empty if not, or if more has to be
     * known. A compound statement is a transaction of its own, and so is a script of MySQL.
     */
    <T> Mono<T> inOne(String statement, Function<Row, T> read, Object... parameters) {
        return allInOne(statement, read, parameters)
                .flatMap(rows -> Mono.justOrEmpty(rows.stream().findFirst()));
    }

    /** The same with all that it answers; empty only if this database has no such statement. */
    <T> Mono<List<T>> allInOne(String statement, Function<Row, T> read, Object... parameters) {
        if (!sql.knows(statement)) {
            return Mono.empty();
        }
        return sql.isMySql()
                ? script(statement, read, parameters)
                        .doOnNext(rows -> sql.noteHandedOn())
                        .onErrorResume(R2dbcFailure::isNotUnderstood, error -> {
                            sql.forgetScripts(error);
                            return elsewhere();
                        })
                : inOne(all(statement, read, parameters));
    }

    /**
     * A transaction of several statements that MySQL gets as one text. The server carries out none of those that stand
     * behind one that failed, and nothing counts before the COMMIT.
     */
    private <T> Mono<List<T>> script(String name, Function<Row, T> read, Object... parameters) {
        Mono<List<T>> answer = Flux.defer(() -> {
                    Batch batch = connection.createBatch();
                    List<String> limit = sql.isBoundWhenOpened() ? List.of() : List.of(sql.text("bound"));
                    List<String> back = sql.isBoundWhenOpened() ? List.of() : List.of(sql.text("unbound"));
                    Stream.of(limit, BEGIN, sql.script(name, parameters), END, back, sql.ringAfter(name))
                            .flatMap(List::stream)
                            .forEach(batch::add);
                    return batch.execute();
                })
                .concatMap(result -> result.map((row, metadata) -> read.apply(row)))
                .onErrorComplete(R2dbcFailure::isUnheard)
                .collectList();
        Mono<Long> undoing = changed("ROLLBACK").then(sql.isBoundWhenOpened() ? Mono.just(0L) : change("unbound"));
        return leaving(answer, undoing).onErrorResume(error -> undone(undoing).then(Mono.error(error)));
    }

    /** What was refused goes on over another connection: this one's driver may carry out something else after that. */
    private static <T> Mono<T> elsewhere() {
        return Mono.error(R2dbcFailure.stale());
    }

    /** Looks, and sleeps until a ring if there is nothing to be seen; no transaction. */
    <T> Mono<List<T>> listen(Function<Row, T> read, Object... parameters) {
        return sql.isMySql() ? texts("listen", read, parameters) : all("listen", read, parameters);
    }

    /** Ends the statement in which a listener sleeps. That none does, or that it may not be ended, is no error. */
    Mono<Void> ring(String listener) {
        if (!sql.isMySql()) {
            return change("ring", listener).then();
        }
        Mono<Void> rung = sql.knows("ring")
                ? texts("ring", row -> true, listener).then()
                : Flux.fromIterable(sql.script("ring", listener))
                        .concatMap(this::changed)
                        .then();
        return rung.onErrorResume(R2dbcFailure::isUnheard, unheard -> Mono.empty());
    }

    private <T> Mono<List<T>> texts(String name, Function<Row, T> read, Object... parameters) {
        return Flux.defer(() -> {
                    Batch batch = connection.createBatch();
                    sql.script(name, parameters).forEach(batch::add);
                    return batch.execute();
                })
                .concatMap(result -> result.map((row, metadata) -> read.apply(row)))
                .collectList();
    }

    private <T> Mono<List<T>> inOne(Mono<List<T>> answer) {
        return sql.dialect == Dialect.POSTGRESQL
                ? alone(answer)
                : answer.doOnNext(rows -> sql.noteHandedOn()).onErrorResume(R2dbcFailure::isNotUnderstood, error -> {
                    sql.forgetCompounds();
                    return elsewhere();
                });
    }

    /**
     * Runs a transaction of several statements in which neither a statement waits for a row, nor the server for this
     * client, longer than for a command. In PostgreSQL the first of these statements sets that limit.
     */
    <T> Mono<T> bounded(Mono<T> transaction) {
        if (sql.dialect != Dialect.MARIADB || sql.isBoundWhenOpened()) {
            return transaction;
        }
        Mono<Void> unbound = undone(change("unbound"));
        return leaving(change("bound").then(transaction.singleOptional()), unbound)
                .onErrorResume(error -> unbound.then(Mono.error(error)))
                .flatMap(value -> unbound.thenReturn(value))
                .flatMap(Mono::justOrEmpty);
    }
}
