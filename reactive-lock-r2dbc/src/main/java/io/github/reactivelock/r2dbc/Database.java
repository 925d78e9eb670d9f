package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.DriverThreads;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * The connections: lent to one command each and always given back. A command has a time to end in, from when it has a
 * connection; one that is late loses it, because it is not known what is still under way on it, and that is cancelled at the
 * server. A transaction that the database rolled back by its own rules (a deadlock, a conflict) is tried again. So is one whose
 * connection was broken before it was lent: of a pool whose connections were all reset each is found out by trying it.
 */
final class Database {

    private static final int ATTEMPTS = 6;
    /** More connections than a pool has. */
    private static final int MOST_BROKEN = 1_000;

    private static final Logger log = LoggerFactory.getLogger(Database.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(150);
    private static final Duration CLOSING = Duration.ofMillis(500);

    final Sql sql;
    final ConnectionFactory factory;
    private final Mono<Void> end;
    final Duration timeout;
    final boolean listens;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Deadlines deadlines;
    private final Borrowing.Line line;

    /** Over a pool of the application, which is not closed with this. */
    Database(ConnectionFactory factory, R2dbcBackendOptions options) {
        this(factory, Borrowing.Line.FOREIGN, Mono.empty(), options);
    }

    private Database(ConnectionFactory factory, Borrowing.Line line, Mono<Void> end, R2dbcBackendOptions options) {
        this.line = line;
        this.factory = Surroundings.outside(factory);
        this.end = end;
        this.timeout = options.commandTimeout();
        this.deadlines = new Deadlines(timeout);
        this.listens = options.listens();
        this.sql = new Sql(Dialect.of(factory), options.prefix(), timeout);
    }

    /** Over a pool that is closed with this. */
    static Database owning(ConnectionPool pool, R2dbcBackendOptions options) {
        return new Database(pool, Borrowing.Line.OURS, DriverThreads.subscribing(ended(pool)), options);
    }

    /**
     * A pool that is closed while a connection comes back may count that one twice, and fails then. The caller who closes a lock
     * cannot do anything about it.
     */
    private static Mono<Void> ended(ConnectionPool pool) {
        return Mono.defer(pool::disposeLater).onErrorResume(error -> {
            log.warn("the connection pool of a lock failed while it was closed; connections may be left open", error);
            return Mono.empty();
        });
    }

    <T> Mono<T> run(Function<Session, Mono<T>> command) {
        return run(command, Database::mayPass);
    }

    /** Runs a command that may be said twice: it is asked again also when its connection broke under it. */
    <T> Mono<T> runAgain(Function<Session, Mono<T>> command) {
        return run(command, error -> mayPass(error) || R2dbcFailure.isBroken(error));
    }

    /** A server that gave up waiting for a row has used up the command's time. */
    private static boolean mayPass(Throwable error) {
        return (R2dbcFailure.wasRolledBack(error) && !R2dbcFailure.isLockTimeout(error)) || R2dbcFailure.isStale(error);
    }

    private <T> Mono<T> run(Function<Session, Mono<T>> command, Predicate<Throwable> passes) {
        return Mono.defer(() -> isClosed() ? Mono.<T>error(R2dbcFailure.closed()) : attempted(command, passes))
                .onErrorMap(error -> R2dbcFailure.of(error, sql, timeout));
    }

    private <T> Mono<T> attempted(Function<Session, Mono<T>> command, Predicate<Throwable> passes) {
        Deadlines.Turn turn = deadlines.turn();
        Mono<T> attempt = lent(command, turn);
        return attempt.onErrorResume(passes, error -> again(attempt, turn, passes))
                .name("command") // else timeout(…) makes a name of the operators, for every command
                .timeout(turn);
    }

    /** A connection that turns out to be broken costs no try, because the pool has one less of them then. */
    private static <T> Mono<T> again(Mono<T> attempt, Deadlines.Turn turn, Predicate<Throwable> passes) {
        boolean unused = turn.wasLent();
        Predicate<Throwable> isBroken = error ->
                passes.test(error) && (R2dbcFailure.isStale(error) || (turn.wasLent() && R2dbcFailure.isCutOff(error)));
        Mono<T> overWhole = attempt.retryWhen(Retry.fixedDelay(MOST_BROKEN, FIRST_PAUSE)
                .scheduler(DriverThreads.timer())
                .filter(isBroken)
                .onRetryExhaustedThrow((attempts, last) -> last.failure()));
        return Mono.delay(FIRST_PAUSE, DriverThreads.timer())
                .then(overWhole.retryWhen(Retry.backoff(ATTEMPTS - 2, FIRST_PAUSE.multipliedBy(2))
                        .scheduler(DriverThreads.timer())
                        .maxBackoff(LONGEST_PAUSE)
                        .filter(passes)
                        .onRetryExhaustedThrow((attempts, last) -> last.failure())));
    }

    private <T> Mono<T> lent(Function<Session, Mono<T>> command, Deadlines.Turn turn) {
        return Mono.usingWhen(
                        borrow(),
                        connection -> {
                            turn.begin();
                            return command.apply(new Session(connection, sql));
                        },
                        Database::giveBack,
                        (connection, error) ->
                                R2dbcFailure.leavesConnectionWhole(error) ? giveBack(connection) : discard(connection),
                        this::discard)
                .as(sql.dialect::apart);
    }

    /** The work begins a transaction, which is committed when it completes. Else the connection is not fit for anybody else. */
    <T> Mono<T> inTransaction(Mono<Connection> borrowed, Function<Connection, Mono<T>> work) {
        return Mono.usingWhen(
                        borrowed,
                        connection -> work.apply(connection)
                                .materialize()
                                .flatMap(outcome -> outcome.isOnError()
                                        ? Mono.<T>error(Objects.requireNonNull(outcome.getThrowable()))
                                        : Mono.from(connection.commitTransaction())
                                                .then(Mono.justOrEmpty(outcome.get()))),
                        Database::giveBack,
                        (connection, error) -> discard(connection),
                        this::discard)
                .as(sql.dialect::apart);
    }

    Mono<Connection> borrow() {
        return borrow(null);
    }

    /** A connection that comes after its command was given up, or its limit is over, goes back at once. */
    Mono<Connection> borrow(Borrowing.@Nullable Limit limit) {
        Mono<Connection> opened =
                sql.dialect.handedOver(DriverThreads.subscribing(Mono.defer(() -> Mono.from(factory.create()))));
        return Carried.operator(new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Connection> command) {
                opened.subscribe(new Borrowing(command, line, limit));
            }
        });
    }

    static Mono<Void> giveBack(Connection connection) {
        return DriverThreads.subscribing(Mono.from(connection.close()));
    }

    /** Closes the connection under that of a pool first, so that the pool finds it broken and forgets it. */
    Mono<Void> discard(Connection connection) {
        Mono<Void> closed = connection instanceof Wrapped<?> wrapped && wrapped.unwrap() instanceof Connection real
                ? Mono.from(real.close())
                        .timeout(CLOSING, DriverThreads.timer())
                        .onErrorComplete()
                        .then(giveBack(connection))
                : giveBack(connection);
        Mono<Void> closing = cancelled(connection).then(closed);
        return sql.dialect.apart(
                closing.timeout(CLOSING.multipliedBy(3), DriverThreads.timer()).onErrorComplete());
    }

    /** What a statement that was given up still does or waits for: PostgreSQL does not notice that its client has gone. */
    private Mono<Void> cancelled(Connection real) {
        return sql.dialect == Dialect.POSTGRESQL ? PgNotifications.cancel(real) : Mono.empty();
    }

    boolean isClosed() {
        return closed.get();
    }

    Mono<Void> close() {
        return Mono.defer(() -> closed.compareAndSet(false, true) ? sql.dialect.apart(end) : Mono.empty());
    }
}
