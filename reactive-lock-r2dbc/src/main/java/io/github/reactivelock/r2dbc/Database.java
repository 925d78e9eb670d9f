package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * The connections: lent to one command each and always given back. A command has a time to end in, from when it has a
 * connection; one that is late loses it, because it is not known what is still under way on it, and that is cancelled
 * at the server. A transaction that the database rolled back by its own rules (a deadlock, a conflict) is tried again.
 * So is one whose connection was broken before it was lent: of a pool whose connections were all reset each is found
 * out by trying it. A refusal that passes is waited for like a server that is away; one that lasts is not tried again
 * ({@link R2dbcFailure}).
 */
final class Database {

    private static final int ATTEMPTS = 6;
    /** What MariaDB's driver calls MariaDB and MySQL. */
    private static final Set<String> BY_MARIADBS_DRIVER = Set.of("MariaDB", "MySQL");

    /** More connections than a pool has. */
    static final int MOST_BROKEN = 1_000;

    private static final Logger log = LoggerFactory.getLogger(Database.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(150);
    static final Duration CLOSING = Duration.ofMillis(500);
    private static final Duration CANCELLING = Duration.ofMillis(250);

    final Sql sql;
    final ConnectionFactory factory;
    private final Mono<Void> end;
    final Duration timeout;
    final boolean listens;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Deadlines deadlines;
    private final Answers answers;
    private final Borrowing.Pool pools;
    private final Runnable lent;
    /** Connections that commands have, or that listen. */
    private final AtomicInteger inUse = new AtomicInteger();

    private final Sinks.Empty<Void> unused = Sinks.empty();

    /** Over a pool of the application, which is not closed with this. */
    Database(ConnectionFactory factory, R2dbcBackendOptions options) {
        this(factory, Borrowing.Pool.FOREIGN, Mono.empty(), options, sql(factory, options));
    }

    private Database(
            ConnectionFactory factory, Borrowing.Pool pools, Mono<Void> end, R2dbcBackendOptions options, Sql sql) {
        this.pools = pools;
        this.factory = Wrappers.outside(factory);
        this.end = end;
        this.timeout = options.commandTimeout();
        this.deadlines = new Deadlines(timeout);
        this.answers = new Answers(timeout);
        this.lent = deadlines::lent;
        this.listens = options.listens();
        this.sql = sql;
    }

    private static Sql sql(ConnectionFactory factory, R2dbcBackendOptions options) {
        return new Sql(Dialect.of(factory), options.prefix(), options.commandTimeout());
    }

    /** Over a pool that is closed with this. */
    static Database owning(ConnectionPool pool, R2dbcBackendOptions options) {
        return owning(pool, options, sql(pool, options));
    }

    /** The same where the connections are opened by what these statements say. */
    static Database owning(ConnectionPool pool, R2dbcBackendOptions options, Sql sql) {
        return new Database(pool, Borrowing.Pool.OURS, DriverThreads.subscribing(ended(pool)), options, sql);
    }

    /**
     * A pool that is closed while a connection comes back may count that one twice, and fails then. The caller who
     * closes a lock cannot do anything about it.
     */
    private static Mono<Void> ended(ConnectionPool pool) {
        return Mono.defer(pool::disposeLater).onErrorResume(error -> {
            log.warn("the connection pool of a lock failed while it was closed; connections may be left open", error);
            return Mono.empty();
        });
    }

    <T> Mono<T> run(Function<SqlSession, Mono<T>> command) {
        return run(command, Database::wasNotDone);
    }

    /** Runs a command that may be said twice: it is asked again also when its connection broke under it. */
    <T> Mono<T> runAgain(Function<SqlSession, Mono<T>> command) {
        return run(command, error -> wasNotDone(error) || R2dbcFailure.isBroken(error));
    }

    /** A server that gave up waiting for a row has used up the command's time. */
    private static boolean wasNotDone(Throwable error) {
        return (R2dbcFailure.wasRolledBack(error) && !R2dbcFailure.isLockTimeout(error)) || R2dbcFailure.isStale(error);
    }

    private <T> Mono<T> run(Function<SqlSession, Mono<T>> command, Predicate<Throwable> mayBeSaidAgain) {
        return Mono.defer(() -> isClosed() ? Mono.<T>error(R2dbcFailure.closed()) : attempted(command, mayBeSaidAgain))
                .onErrorMap(error -> R2dbcFailure.of(error, sql, timeout));
    }

    private <T> Mono<T> attempted(Function<SqlSession, Mono<T>> command, Predicate<Throwable> mayBeSaidAgain) {
        Deadlines.Turn turn = deadlines.turn();
        Mono<T> attempt = lent(command, turn);
        Repetition repetition = new Repetition(turn, mayBeSaidAgain);
        return attempt.onErrorResume(error -> repetition
                        .pauseAfter(error)
                        .then(attempt.retryWhen(Retry.from(
                                failures -> failures.concatMap(failure -> repetition.pauseAfter(failure.failure()))))))
                .name("command") // else timeout(…) makes a name of the operators, for every command
                .timeout(turn, Mono.error(repetition::late));
    }

    /**
     * Whether and when a command is tried again. A connection that turns out to be broken costs no try, because the
     * pool has one less of them then. A refusal that passes, before there was a connection, costs none either: it is
     * waited for as a server is that does not answer. What lasts is not tried again.
     */
    private static final class Repetition {

        private final Deadlines.Turn turn;
        private final Predicate<Throwable> mayBeSaidAgain;
        private int broken;
        private int refused;
        private int failed;
        private volatile @Nullable Throwable refusal;

        Repetition(Deadlines.Turn turn, Predicate<Throwable> mayBeSaidAgain) {
            this.turn = turn;
            this.mayBeSaidAgain = mayBeSaidAgain;
        }

        Mono<Long> pauseAfter(Throwable error) {
            boolean wasLent = turn.wasLent();
            boolean may = mayBeSaidAgain.test(error);
            if (may && (R2dbcFailure.isStale(error) || (wasLent && R2dbcFailure.isBroken(error)))) {
                return broken++ < MOST_BROKEN ? pause(0) : Mono.error(error);
            }
            if (!wasLent && R2dbcFailure.passes(error)) {
                refusal = error;
                return pause(refused++);
            }
            return may && ++failed < ATTEMPTS ? pause(failed) : Mono.error(error);
        }

        /** Why there was no connection in its time, if that was said. */
        Throwable late() {
            Throwable said = refusal;
            return said == null ? new TimeoutException("no answer") : said;
        }
    }

    static Mono<Long> pause(int doublings) {
        long nanos = Math.min(LONGEST_PAUSE.toNanos(), FIRST_PAUSE.toNanos() << Math.min(doublings, 8));
        long jitter = ThreadLocalRandom.current().nextLong(nanos / 2 + 1);
        return Mono.delay(Duration.ofNanos(nanos - jitter), DriverThreads.timer());
    }

    private <T> Mono<T> lent(Function<SqlSession, Mono<T>> command, Deadlines.Turn turn) {
        return Mono.usingWhen(
                        borrow().map(connection -> new SqlSession(taken(connection), sql)),
                        session -> {
                            turn.begin();
                            sql.learn(session.connection());
                            Mono<Void> looked = sql.isToBeAsked() ? SeveralWriters.look(session) : Mono.empty();
                            return proved(session.connection()).then(looked).then(command.apply(session));
                        },
                        this::giveBackWhole,
                        (session, error) -> {
                            if (R2dbcFailure.isStale(error)) {
                                FireAndForget.run(
                                        "closing a connection that is dead", left(closed(session.connection())));
                                return Mono.empty();
                            }
                            return isWhole(session.connection(), error)
                                    ? giveBackWhole(session)
                                    : left(discard(session.connection()));
                        },
                        session -> {
                            if (turn.isLate()) {
                                answers.silent(turn.lentAt());
                            }
                            return left(discard(session.connection()));
                        })
                .as(sql.dialect::apart);
    }

    /** H2 runs inside the process, or its driver waits for the answer on the thread that asks. */
    private Mono<Void> proved(Connection connection) {
        return sql.dialect == Dialect.H2 ? Mono.empty() : answers.proved(connection);
    }

    /**
     * Whether a connection is as good as before. After a statement that could not be prepared MariaDB's driver may
     * carry out another one than the one it gets, so a refusal costs the connection there, unless it was a conflict. A
     * wrapper may hide that driver, which calls the product by these names; that of MySQL calls it otherwise.
     */
    static boolean isWhole(Connection connection, Throwable error) {
        boolean mayMixUp = error instanceof R2dbcException
                && !R2dbcFailure.wasRolledBack(error)
                && !R2dbcFailure.isLockTimeout(error)
                && (Answers.real(connection).getClass().getName().startsWith("org.mariadb.r2dbc.")
                        || isNamedByMariaDbsDriver(connection));
        return !mayMixUp && R2dbcFailure.leavesConnectionWhole(error);
    }

    /** One that a user closed says nothing, and is not to be lent again. */
    private static boolean isNamedByMariaDbsDriver(Connection connection) {
        try {
            return BY_MARIADBS_DRIVER.contains(
                    String.valueOf(connection.getMetadata().getDatabaseProductName()));
        } catch (RuntimeException closed) {
            return true;
        }
    }

    private Mono<Void> giveBackWhole(SqlSession session) {
        answers.note(session.connection());
        deadlines.answered();
        return left(session.isClean() ? giveBack(session.connection()) : discard(session.connection()));
    }

    /** To be called with a connection that {@link #left} gives back or closes. */
    Connection taken(Connection connection) {
        inUse.incrementAndGet();
        return connection;
    }

    /** The end of a connection that was taken, which closing waits for. */
    Mono<Void> left(Mono<Void> end) {
        return end.doFinally(signal -> {
            if (inUse.decrementAndGet() == 0 && isClosed()) {
                unused.tryEmitEmpty();
            }
        });
    }

    /** How long a connection is waited for: the first one longer than others. */
    Duration forConnection() {
        return deadlines.forConnection();
    }

    Mono<Connection> borrow() {
        return borrow(null);
    }

    /** A connection that comes after its command was given up, or its limit is over, goes back at once. */
    Mono<Connection> borrow(Borrowing.@Nullable Limit limit) {
        Mono<Connection> created = DriverThreads.subscribing(Mono.defer(() -> Mono.from(factory.create())));
        Mono<Connection> opened = DriverThreads.offTimer(sql.dialect.openedForAll(created));
        return Borrowing.of(opened, pools, limit, lent);
    }

    static Mono<Void> giveBack(Connection connection) {
        return DriverThreads.subscribing(Mono.from(connection.close()));
    }

    /**
     * Ends what is under way on it, so that the server is done with a command before its client forgets it, and closes
     * it.
     */
    Mono<Void> discard(Connection connection) {
        boolean isH2 = sql.dialect == Dialect.H2;
        Mono<Void> ended = isH2
                ? goingOn("closing a connection", sql.dialect.apart(leftAndClosed(connection)))
                : cancelled(connection).then(closed(connection));
        return sql.dialect.apart(SilenceClock.ofThisProcess()
                .timeout(ended, isH2 ? CANCELLING : CLOSING.multipliedBy(3), Mono.empty())
                .onErrorComplete());
    }

    /**
     * H2 closes a session also while a thread is in a statement of it, and what that thread does then belongs to a
     * transaction that none ends: others find its rows locked, or "an old transaction with the same id". So a question
     * waits first until the thread has left. A pool has its connection back after that, or it would lend it meanwhile.
     */
    private static Mono<Void> leftAndClosed(Connection connection) {
        Connection real = Answers.real(connection);
        return Mono.from(real.validate(ValidationDepth.REMOTE))
                .onErrorReturn(false)
                .then(Mono.defer(() -> Mono.from(real.close())))
                .onErrorComplete()
                .then(real == connection ? Mono.empty() : Mono.defer(() -> giveBack(connection)));
    }

    /** Closes the connection under that of a pool first, so that the pool finds it broken and forgets it. */
    private static Mono<Void> closed(Connection connection) {
        Connection real = Answers.real(connection);
        return real == connection
                ? goingOn("closing a connection", giveBack(connection))
                : SilenceClock.ofThisProcess()
                        .timeout(goingOn("closing a connection", Mono.from(real.close())), CLOSING, Mono.empty())
                        .onErrorComplete()
                        .then(giveBack(connection));
    }

    /**
     * A driver may never close a connection whose end was cancelled, so that goes on when it is not waited for any
     * more.
     */
    static Mono<Void> goingOn(String what, Mono<Void> closing) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> end = Sinks.empty();
            FireAndForget.run(what, closing.doOnTerminate(() -> {
                end.tryEmitEmpty();
            }));
            return end.asMono();
        });
    }

    /**
     * What a statement that was given up still does or waits for: PostgreSQL does not notice that its client has gone.
     * The request goes on when it is not waited for any more; without it the statement would take a lock later, for a
     * client that has gone.
     */
    private Mono<Void> cancelled(Connection real) {
        return sql.dialect == Dialect.POSTGRESQL
                ? SilenceClock.ofThisProcess()
                        .timeout(
                                goingOn("cancelling a statement", PgNotifications.cancel(real)),
                                CANCELLING,
                                Mono.empty())
                : Mono.empty();
    }

    boolean isClosed() {
        return closed.get();
    }

    /** Waits for what commands and listeners have still, because a program may end with this. */
    Mono<Void> close() {
        return Mono.defer(
                () -> closed.compareAndSet(false, true) ? allLeft().then(sql.dialect.apart(end)) : Mono.empty());
    }

    private Mono<Void> allLeft() {
        return inUse.get() == 0
                ? Mono.empty()
                : SilenceClock.ofThisProcess().timeout(unused.asMono(), timeout, Mono.empty());
    }
}
