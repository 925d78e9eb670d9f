package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Work of a user on a connection that has a lock: a transaction, or a session. It has no time to end in, and nothing is
 * tried again once it has begun.
 */
final class UserWork {

    private final Database database;

    UserWork(Database database) {
        this.database = database;
    }

    /**
     * Work of a user in a transaction, which is committed when the work completes, and else rolled back.
     *
     * @param borrowed from the pool
     * @param opening begins the transaction, and says whether the work is wanted; is tried again over another
     *     connection where this one was broken
     * @param work of the user
     */
    <T> Mono<T> inTransaction(
            Mono<Connection> borrowed,
            Function<SqlSession, Mono<Boolean>> opening,
            Function<Connection, Mono<T>> work) {
        return overWhole(course -> Mono.usingWhen(
                borrowed.map(connection -> new SqlSession(connection, database.sql)),
                session -> {
                    Connection connection = session.connection();
                    course.lend();
                    return asTheUserWants(session)
                            .then(Mono.defer(() -> opening.apply(session)))
                            .filter(wanted -> wanted)
                            .flatMap(wanted -> {
                                course.begin();
                                return work.apply(connection);
                            })
                            .materialize()
                            .flatMap(outcome -> outcome.isOnError()
                                    ? Mono.<T>error(Objects.requireNonNull(outcome.getThrowable()))
                                    : committed(course, connection).then(Mono.justOrEmpty(outcome.get())));
                },
                this::givenBackAsOurs,
                (session, error) ->
                        course.isFitFor(session, error) ? rolledBack(session) : database.discard(session.connection()),
                session -> database.discard(session.connection())));
    }

    /** The limits that a connection of ours was given when it was opened are for our own statements. */
    private Mono<?> asTheUserWants(SqlSession session) {
        return database.sql.isBoundWhenOpened() ? session.change("unbound") : Mono.empty();
    }

    private Mono<Void> givenBackAsOurs(SqlSession session) {
        Mono<Void> asOurs = database.sql.isBoundWhenOpened() ? session.undone(session.change("bound")) : Mono.empty();
        return asOurs.then(Mono.defer(() ->
                session.isClean() ? Database.giveBack(session.connection()) : database.discard(session.connection())));
    }

    private static Mono<Void> committed(Course course, Connection connection) {
        return Mono.defer(() -> {
            course.committing = true;
            return Mono.from(connection.commitTransaction());
        });
    }

    /**
     * An error of the work is no fault of its connection. Something may be under way on it; then it does not answer
     * soon.
     */
    private Mono<Void> rolledBack(SqlSession session) {
        Connection connection = session.connection();
        return SilenceClock.ofThisProcess()
                .timeout(
                        Mono.from(connection.rollbackTransaction()).thenReturn(true),
                        Database.CLOSING,
                        Mono.error(TimeoutException::new))
                .then(givenBackAsOurs(session))
                .onErrorResume(error -> database.discard(connection));
    }

    /**
     * Over another connection, and again, where one was broken before it was lent: the pool has one less of them then.
     * A refusal that passes is waited for as long as a command may take. Not once the user's work has begun.
     */
    <T> Mono<T> overWhole(Function<Course, Mono<T>> attempt) {
        return Mono.using(
                        () -> new Course(database.timeout, SilenceClock.ofThisProcess()),
                        course -> Mono.defer(() -> {
                                    course.lent = false;
                                    return attempt.apply(course);
                                })
                                .retryWhen(Retry.from(failures ->
                                        failures.concatMap(failure -> course.pauseAfter(failure.failure())))),
                        Course::stopCounting)
                .as(database.sql.dialect::apart);
    }

    /**
     * Work of a user whose lock is free when its connection ends: it is cancelled then, where the driver reports that
     * end.
     */
    <T> Mono<T> whileConnected(Connection connection, String lock, Mono<T> work) {
        if (database.sql.dialect != Dialect.POSTGRESQL) {
            return work;
        }
        Mono<T> ended = PgNotifications.ended(connection)
                .publishOn(DriverThreads.forUsers())
                .then(Mono.error(() -> new Ended(lock)));
        return Mono.firstWithSignal(work, ended); // takeUntilOther would not cancel the work for an error
    }

    /** The connection of a lock that is held by it ended while work ran. */
    static final class Ended extends IllegalStateException {

        private static final long serialVersionUID = 1L;

        Ended(String lock) {
            super(lock
                    + " was lost while its work ran, because its connection ended; the work was cancelled, and may have"
                    + " run twice at once");
        }
    }

    /**
     * What became of one call: whether it had a connection, and whether work of the user has begun on it. Its time
     * stands still while this process gets no turn.
     */
    static final class Course {
        private final SilenceClock silenceClock;
        private final Disposable counting;
        private final long until;
        private volatile boolean lent;
        private volatile boolean begun;
        private volatile boolean committing;
        private int broken;
        private int refused;

        Course(Duration timeout, SilenceClock silenceClock) {
            this.silenceClock = silenceClock;
            this.counting = silenceClock.count();
            this.until = silenceClock.now() + timeout.toNanos();
        }

        /** It has a connection. */
        void lend() {
            lent = true;
        }

        /** Before it is tried again, if it may be: at once over the next connection, later where there was none. */
        Mono<Long> pauseAfter(Throwable error) {
            if (begun || silenceClock.now() - until > 0) {
                return Mono.error(error);
            }
            if (R2dbcFailure.wasBrokenBefore(error, lent)) {
                return broken++ < Database.MOST_BROKEN ? Database.pause(0) : Mono.error(error);
            }
            return !lent && R2dbcFailure.passes(error) ? Database.pause(refused++) : Mono.error(error);
        }

        /**
         * Whether the transaction can be rolled back after this. A question of ours that was not answered is still
         * under way.
         */
        boolean isFitFor(SqlSession session, Throwable error) {
            Throwable said = R2dbcFailure.said(error);
            return !committing
                    && session.isClean()
                    && !(error instanceof Ended)
                    && (begun || !(error instanceof TimeoutException))
                    && (!(said instanceof R2dbcException) || Database.isWhole(session.connection(), said));
        }

        /** Work of the user begins. */
        void begin() {
            begun = true;
            stopCounting();
        }

        /** It is not tried again. */
        void stopCounting() {
            counting.dispose();
        }
    }
}
