package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.R2dbcBadGrammarException;
import io.r2dbc.spi.R2dbcDataIntegrityViolationException;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcPermissionDeniedException;
import io.r2dbc.spi.R2dbcRollbackException;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Why the database could not be asked, in words for the user: what happened and what to do, without any secret. */
final class R2dbcFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private R2dbcFailure(String message, Throwable cause) {
        super(message, cause);
    }

    static Throwable closed() {
        return new IllegalStateException("the lock backend is closed");
    }

    static Throwable of(Throwable error, Sql sql, Duration timeout) {
        return error instanceof R2dbcException
                        || error instanceof TimeoutException
                        || error instanceof IOException // MySQL's driver passes on why there is no connection
                        || isDisposedQueue(error)
                ? new R2dbcFailure("the database " + advice(error, sql, timeout), error)
                : error;
    }

    /** Whether nothing of the command is left, so that it may be tried again whatever it was. */
    static boolean wasRolledBack(Throwable error) {
        return error instanceof R2dbcRollbackException
                || error instanceof R2dbcDataIntegrityViolationException
                || (error instanceof R2dbcException known && isConflict(known));
    }

    /** Whether the connection ended, so that it is not known what became of the command. */
    static boolean isBroken(Throwable error) {
        return !isLockTimeout(error)
                && (error instanceof R2dbcNonTransientResourceException
                        || error instanceof R2dbcTransientResourceException
                        || error instanceof IOException
                        || isDisposedQueue(error));
    }

    /** Broken, and not by an answer of the server, which another connection would get too. */
    static boolean isCutOff(Throwable error) {
        return isBroken(error)
                && (!(error instanceof R2dbcException known) || state(known).matches("null||08.*|57P.*"));
    }

    /** A pool found a connection broken when it was to lend it, and has forgotten it. Nothing was asked of the database. */
    static boolean isStale(Throwable error) {
        return error instanceof R2dbcNonTransientResourceException
                && "Connection validation failed".equals(error.getMessage());
    }

    /** What MySQL's driver says now and then when the connection of a waiting statement was reset. */
    private static boolean isDisposedQueue(Throwable error) {
        return error instanceof IllegalStateException && "Request queue was disposed".equals(error.getMessage());
    }

    /** The server gave up waiting for a row in PostgreSQL or MariaDB; by then a command's time is over. */
    static boolean isLockTimeout(Throwable error) {
        return error instanceof R2dbcException known && (state(known).equals("55P03") || known.getErrorCode() == 1205);
    }

    /** A syntax error, or a statement that the server does not take in this form. */
    static boolean isNotUnderstood(Throwable error) {
        return error instanceof R2dbcException known && (known.getErrorCode() == 1064 || known.getErrorCode() == 1295);
    }

    /** Deadlock in PostgreSQL; lock wait timeout, deadlock and changed record in MariaDB; lock timeout in H2. */
    private static boolean isConflict(R2dbcException error) {
        String state = state(error);
        int code = error.getErrorCode();
        return state.startsWith("40")
                || (error.getMessage() != null && state.equals("HYT00") && code == 50200)
                || code == 1205
                || code == 1213
                || code == 1020;
    }

    /** Errors that the database sent over a connection that goes on. */
    static boolean leavesConnectionWhole(Throwable error) {
        return wasRolledBack(error)
                || isLockTimeout(error)
                || error instanceof R2dbcBadGrammarException
                || error instanceof R2dbcPermissionDeniedException
                || !(error instanceof R2dbcException || error instanceof TimeoutException || isDisposedQueue(error));
    }

    private static String advice(Throwable error, Sql sql, Duration timeout) {
        String text = text(error);
        if (isMissingTable(error)) {
            return "has no tables for locks: create them once with R2dbcLockBackend.createTables(), or with the file"
                    + " schema-" + sql.dialect.id() + "/V1__reactive_lock.sql of this library's jar, prefix "
                    + sql.prefix + " (" + text
                    + ")";
        }
        if (isLockTimeout(error)) {
            return "let this wait for a row that another transaction holds: end it, and let an application hold rows of "
                    + sql.prefix + " no longer than for a moment (" + text + ")";
        }
        if (error instanceof R2dbcException known && known.getErrorCode() == 1665) {
            return "keeps its binary log by statements, which takes no transaction at READ COMMITTED: set"
                    + " binlog_format=MIXED or ROW (" + text + ")";
        }
        if (error instanceof R2dbcException known && isForeignStatement(known)) {
            return "is behind a pooler that lends a connection for one transaction, where prepared statements are not"
                    + " found again: give the driver the option preparedStatementCacheQueries=0 (" + text + ")";
        }
        if (error instanceof R2dbcException known && wasInterrupted(known)) {
            return "ended this before it was done, because of a limit that is set there for statements, such as"
                    + " statement_timeout or max_statement_time, or because somebody ended it by hand: let statements of"
                    + " this user take " + timeout.toMillis() + " ms (" + text + ")";
        }
        if (error instanceof TimeoutException || error instanceof R2dbcTimeoutException) {
            return "did not answer within " + timeout.toMillis() + " ms, or no connection was free: look whether it is"
                    + " up, whether a transaction holds the rows of " + sql.prefix + ", and whether the connection pool"
                    + " is exhausted, then give it more connections (" + text + ")";
        }
        if (wasRolledBack(error)) {
            return "rolled the command back several times in a row because of conflicts: " + text;
        }
        if (isTls(error)) {
            return "cannot be asked over TLS: does it speak TLS on this port, is its certificate trusted here, and was"
                    + " it made for this host name? (" + text + ")";
        }
        if (error instanceof R2dbcException known && state(known).startsWith("28")) {
            return "does not let this user in: do user and password fit, and does it want TLS? (" + text + ")";
        }
        if (error instanceof R2dbcPermissionDeniedException) {
            return "denies this user something: it needs SELECT, INSERT, UPDATE and DELETE on the tables " + sql.prefix
                    + " and those that begin with " + sql.prefix + "_ (" + text + ")";
        }
        return "cannot be asked: is it up, and do address, user and password fit? (" + text + ")";
    }

    /** A prepared statement that is there though this connection made none, or is not though it did. */
    private static boolean isForeignStatement(R2dbcException error) {
        return state(error).equals("42P05") || state(error).equals("26000");
    }

    /** In PostgreSQL and H2 by its state; in MariaDB by hand or by max_statement_time, in MySQL by max_execution_time. */
    private static boolean wasInterrupted(R2dbcException error) {
        int code = error.getErrorCode();
        return state(error).equals("57014") || code == 1317 || code == 1969 || code == 3024;
    }

    private static String state(R2dbcException error) {
        return String.valueOf(error.getSqlState());
    }

    /** PostgreSQL's driver says that it was denied something where a handshake ended without a connection. */
    private static boolean isTls(Throwable error) {
        if (error instanceof R2dbcPermissionDeniedException denied
                && state(denied).startsWith("08")) {
            return true;
        }
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (e instanceof SSLException) {
                return true;
            }
        }
        return false;
    }

    private static boolean isMissingTable(Throwable error) {
        if (!(error instanceof R2dbcException known)) {
            return false;
        }
        String state = state(known);
        return state.equals("42P01") || state.equals("42S02") || state.equals("42S04") || known.getErrorCode() == 42104;
    }

    private static String text(Throwable error) {
        Set<String> said = new LinkedHashSet<>();
        for (Throwable e = error; e != null && said.size() < 8; e = e.getCause()) {
            // H2 repeats the statement.
            String message = e.getMessage() == null ? null : e.getMessage().replaceFirst("(?s); SQL statement:.*", "");
            if (message != null && said.stream().noneMatch(earlier -> earlier.contains(message))) {
                said.add(message);
            }
        }
        return said.isEmpty() ? error.getClass().getSimpleName() : String.join("; ", said);
    }
}
