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
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Why the database could not be asked, in words for the user: what happened and what to do, without any secret. */
final class R2dbcFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final String STALE = "Connection validation failed";

    private R2dbcFailure(String message, Throwable cause) {
        super(message, cause, true, false); // the cause says where it was
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

    /** Whether nothing of the command is left, so that any command may be tried again. */
    static boolean wasRolledBack(Throwable error) {
        return error instanceof R2dbcRollbackException
                || error instanceof R2dbcDataIntegrityViolationException
                || (error instanceof R2dbcException known && isConflict(known));
    }

    /** Whether the connection ended, so that it is not known what became of the command. */
    static boolean isBroken(Throwable error) {
        return error instanceof IOException
                || isDisposedQueue(error)
                || (error instanceof R2dbcException known && isResource(known) && endsConnection(known));
    }

    /** Whether a refusal to connect passes by itself, so that it is waited for like a server that is away. */
    static boolean passes(Throwable error) {
        return isBroken(error) && !isTls(error) && !isNotThere(error) && !wantsTls(error) && !lasts(error);
    }

    /** The address is wrong, or nothing listens there: that is reported at once. */
    private static boolean isNotThere(Throwable error) {
        boolean found = false;
        int depth = 0;
        for (Throwable e = error; e != null && depth < 8; e = e.getCause(), depth++) {
            found |= e instanceof ConnectException || e instanceof UnknownHostException;
        }
        return found;
    }

    /**
     * Whether the database may have refused all of a batch for the sake of one row, so that the others are worth asking
     * for.
     */
    static boolean isOfOne(Throwable error) {
        Throwable said = error instanceof R2dbcFailure && error.getCause() != null ? error.getCause() : error;
        return said instanceof R2dbcException
                && !isBroken(said)
                && !isMissingTable(said)
                && (Refusal.of(said) == Refusal.OTHER || isLockTimeout(said));
    }

    /** As {@link #isOfOne}, but a lock that was waited for in vain divides nothing: each part might wait again. */
    static boolean divides(Throwable error) {
        return isOfOne(error) && !isLockTimeout(said(error));
    }

    /** Whether the server refuses this for good, so that it is not worth asking again soon. */
    static boolean lasts(Throwable error) {
        return Refusal.of(error) == Refusal.LASTS || Refusal.of(error) == Refusal.READ_ONLY || wantsTls(error);
    }

    private static boolean isResource(R2dbcException error) {
        return error instanceof R2dbcNonTransientResourceException
                || error instanceof R2dbcTransientResourceException
                || Refusal.of(error) == Refusal.PASSES;
    }

    /**
     * Whether the connection is over. A lost connection has a state of its own, or neither a state nor a code. What
     * has only a code is an answer of the server: MySQL's driver throws the states away of errors that it does not
     * know, and gives them the type of a lost connection.
     */
    private static boolean endsConnection(R2dbcException error) {
        String state = error.getSqlState();
        boolean isLost = (state == null || state.isEmpty())
                ? error.getErrorCode() == 0
                : state(error).matches("08.*|H1000");
        Refusal refusal = Refusal.of(error);
        return refusal == Refusal.PASSES || (refusal == Refusal.OTHER && isLost);
    }

    /**
     * What a refusal of a server is worth, by SQLSTATE, or by code where MariaDB, MySQL and H2 share a state. What
     * passes is asked for again in the time of the command; what lasts is not, and the connection it came over is kept.
     */
    private enum Refusal {
        /** The server comes, goes, is full for now, or ended this session. */
        PASSES(
                // PostgreSQL: starting up or recovering; shut down; crashed; idle for too long; too many connections
                Set.of("57P03", "57P01", "57P02", "57P05", "53300"),
                // MariaDB and MySQL: too many connections, also of one user; shut down; no thread; killed; offline
                // the same: not yet ready in its cluster; closed, broken or timed out on its side
                // H2: closed; broken connection; exclusive mode
                Set.of(
                        1040, 1203, 1053, 1077, 1079, 1135, 1927, 3032, 3169, 1047, 1080, 1152, 1158, 1159, 1160, 1161,
                        1184, 4031, 90098, 90121, 90067, 90135)),
        /** It takes no writes: a standby, or an order of its administrator. */
        READ_ONLY(Set.of("25006"), Set.of(1290, 1792, 1836, 90097)),
        /** The user, the database, the tables or a right are missing. */
        LASTS(
                Set.of("28000", "28P01", "3D000", "42501", "42P01"),
                Set.of(1044, 1045, 1049, 1142, 1143, 1146, 1227, 1698, 3118, 4151, 28000, 90013, 90096)),
        OTHER(Set.of(), Set.of());

        @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
        private final Set<String> states;

        @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
        private final Set<Integer> codes;

        Refusal(Set<String> states, Set<Integer> codes) {
            this.states = states;
            this.codes = codes;
        }

        /** Drivers wrap what the server said to them when they connected. */
        static Refusal of(Throwable error) {
            Refusal found = OTHER;
            int depth = 0;
            for (Throwable e = error; e != null && found == OTHER && depth < 8; e = e.getCause(), depth++) {
                found = e instanceof R2dbcException known ? said(known) : OTHER;
            }
            return found;
        }

        private static Refusal said(R2dbcException error) {
            return Stream.of(values())
                    .filter(each -> each.states.contains(state(error)) || each.codes.contains(error.getErrorCode()))
                    .findFirst()
                    .orElse(OTHER);
        }
    }

    /**
     * A pool found a connection broken when it was to lend it, and has forgotten it. Nothing was asked of the database.
     */
    static boolean isStale(@Nullable Throwable error) {
        return error instanceof R2dbcNonTransientResourceException && STALE.equals(error.getMessage());
    }

    /** The same found out here. */
    static Throwable stale() {
        return new R2dbcNonTransientResourceException(STALE);
    }

    /** What MySQL's driver says now and then when the connection of a waiting statement was reset. */
    private static boolean isDisposedQueue(Throwable error) {
        return error instanceof IllegalStateException && "Request queue was disposed".equals(error.getMessage());
    }

    /** The server gave up waiting for a row in PostgreSQL or MariaDB; by then a command's time is over. */
    static boolean isLockTimeout(Throwable error) {
        return error instanceof R2dbcException known && (state(known).equals("55P03") || known.getErrorCode() == 1205);
    }

    /**
     * MariaDB with innodb_snapshot_isolation: the transaction is rolled back, and what follows would be committed one
     * by one.
     */
    static boolean isOldSnapshot(Throwable error) {
        return error instanceof R2dbcException known && known.getErrorCode() == 1020;
    }

    static R2dbcRollbackException oldSnapshot(String what, Throwable error) {
        return new R2dbcRollbackException(
                what + ": MariaDB has rolled this transaction back, because it read before another one wrote"
                        + " (innodb_snapshot_isolation): end it and run it again, or ask for this first in a transaction",
                "40001",
                1020,
                error);
    }

    /** A ring that reached no listener: none has the name, or it is another user's. */
    static boolean isUnheard(Throwable error) {
        return error instanceof R2dbcException known && (known.getErrorCode() == 1094 || known.getErrorCode() == 1095);
    }

    /** A statement of MariaDB or MySQL was ended by {@code KILL QUERY}. */
    static boolean isRung(Throwable error) {
        return error instanceof R2dbcException known && known.getErrorCode() == 1317;
    }

    /**
     * A syntax error, or a statement that the server, or a proxy in front of it, does not take in this form: 1148 and
     * 1235 are what proxies say of that.
     */
    static boolean isNotUnderstood(Throwable error) {
        return error instanceof R2dbcException known
                && Set.of(1064, 1148, 1235, 1295).contains(known.getErrorCode());
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
                || Refusal.of(error) == Refusal.READ_ONLY
                || !(error instanceof R2dbcException || error instanceof TimeoutException || isDisposedQueue(error));
    }

    /** Whether a connection was broken before it was lent: it is stale, or the first question on it found that out. */
    static boolean wasBrokenBefore(Throwable error, boolean wasLent) {
        return isStale(error) || isStale(error.getCause()) || (wasLent && isBroken(said(error)));
    }

    /** What a driver said first, if it said anything: others may have wrapped it. */
    static Throwable said(Throwable error) {
        Throwable said = error;
        int depth = 0;
        for (Throwable e = error; e != null && depth < 16; e = e.getCause(), depth++) {
            if (e instanceof R2dbcException || e instanceof IOException || isDisposedQueue(e)) {
                said = e;
            }
        }
        return said;
    }

    private static String advice(Throwable error, Sql sql, Duration timeout) {
        String text = text(error);
        if (isMissingTable(error)) {
            return "has no tables for locks: create them once with R2dbcLockBackend.createTables(), in Spring"
                    + " Boot with reactive-lock.initialize-schema=always, or with the file schema-" + sql.dialect.id()
                    + "/V1__reactive_lock.sql of this library's jar, prefix "
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
            return "ended this before it was done, because of a limit for statements, such as statement_timeout or"
                    + " max_statement_time, or because somebody ended it by hand: look whether a transaction holds the"
                    + " rows of " + sql.prefix + ", and let statements of this user take " + timeout.toMillis()
                    + " ms ("
                    + text + ")";
        }
        if (error instanceof TimeoutException || error instanceof R2dbcTimeoutException) {
            return "did not answer within " + timeout.toMillis() + " ms, or no connection was free: look whether it is"
                    + " up, whether a transaction holds the rows of " + sql.prefix + ", and whether the connection pool"
                    + " is exhausted, then give it more connections (" + text + ")";
        }
        if (wasRolledBack(error)) {
            return "rolled the command back several times in a row because of conflicts: " + text;
        }
        if (Refusal.of(error) == Refusal.READ_ONLY) {
            return "takes no writes here: it is a standby, or was set to read only (default_transaction_read_only,"
                    + " read_only); give the address of the primary, in PostgreSQL several hosts with"
                    + " targetServerType=primary, or let it write again (" + text + ")";
        }
        if (Refusal.of(error) == Refusal.PASSES) {
            return "does not take this connection now: it is starting up or shutting down, has as many connections as it may, or"
                    + " ended this one; look at its log, and whether max_connections is enough (" + text + ")";
        }
        if (isTls(error)) {
            return "cannot be asked over TLS: does it speak TLS on this port, is its certificate trusted here, and was"
                    + " it made for this host name? (" + text + ")";
        }
        if (wantsTls(error)) {
            return "takes this user's password only over TLS, as MySQL's caching_sha2_password does: turn TLS on in the"
                    + " address, with sslMode=VERIFY_IDENTITY for r2dbc-mysql or sslMode=verify-full for r2dbc-mariadb ("
                    + text + ")";
        }
        if (said(error) instanceof R2dbcException known && isDenied(known)) {
            return "does not let this user in: do user and password fit, and does it want TLS? (" + text + ")";
        }
        if (isForbidden(error)) {
            return "denies this user something: it needs SELECT, INSERT, UPDATE and DELETE on the tables " + sql.prefix
                    + " and those that begin with " + sql.prefix + "_ (" + text + ")";
        }
        return said(error) instanceof R2dbcException known && (!isBroken(error) || Reason.of(known) != Reason.OTHER)
                ? Reason.of(known).words.replace("PREFIX", sql.prefix) + " (" + text + ")"
                : "cannot be asked: is it up, and do address, user and password fit? (" + text + ")";
    }

    /** What else a database says, by SQLSTATE, or by code where MariaDB, MySQL and H2 share a state. */
    private enum Reason {
        NO_DATABASE(
                Set.of("3D000", "3F000"),
                Set.of(1049, 90013, 90146, 90079),
                "has no database or schema of this name: create it, or correct the address or the prefix PREFIX"),
        NOT_UNDERSTOOD(
                Set.of("42601"),
                Set.of(1064, 1295, 42000, 42001),
                "does not understand a statement of this library: maybe 'PREFIX' is a word of SQL, then choose another prefix;"
                        + " or the server is older than this library takes, or runs in a mode with another syntax, such as"
                        + " sql_mode=ORACLE"),
        OTHER_TABLE(
                Set.of("42703", "42883", "42804", "42P10", "42809"),
                Set.of(1054, 1136, 1305, 1347, 42122, 90022),
                "has a table with the prefix PREFIX that is another table than this library creates, or one of another version:"
                        + " choose another prefix, or compare with V1__reactive_lock.sql"),
        FULL(
                Set.of("53100", "53200", "53400"),
                Set.of(1021, 1030, 1041, 1114, 90108),
                "has no room left on its disk or in its memory: make room"),
        TOO_LONG(
                Set.of("22001", "54000"),
                Set.of(1153, 1406, 22001),
                "does not take a text or a key that is so long: shorten it, or let the server take more (max_allowed_packet)"),
        NO_TEXT(
                Set.of("22021", "22P05"),
                Set.of(1366, 3854),
                "does not take a character of a text: its encoding, or that of the table, must be UTF-8"),
        OTHER(Set.of(), Set.of(), "answered with an error that says nothing to this library; look at its log");

        @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
        private final Set<String> states;

        @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
        private final Set<Integer> codes;

        private final String words;

        Reason(Set<String> states, Set<Integer> codes, String words) {
            this.states = states;
            this.codes = codes;
            this.words = words;
        }

        static Reason of(R2dbcException error) {
            return Stream.of(values())
                    .filter(each -> each.states.contains(state(error)) || each.codes.contains(error.getErrorCode()))
                    .findFirst()
                    .orElse(OTHER);
        }
    }

    /** A prepared statement that is there though this connection made none, or is not though it did. */
    private static boolean isForeignStatement(R2dbcException error) {
        return state(error).equals("42P05") || state(error).equals("26000");
    }

    /**
     * In PostgreSQL and H2 by its state; in MariaDB by hand or by max_statement_time, in MySQL by max_execution_time.
     */
    private static boolean wasInterrupted(R2dbcException error) {
        int code = error.getErrorCode();
        return state(error).equals("57014") || code == 1317 || code == 1969 || code == 3024;
    }

    /** A wrong user or password, by SQLSTATE, or by code where a driver keeps the state to itself. */
    private static boolean isDenied(R2dbcException error) {
        int code = error.getErrorCode();
        return state(error).startsWith("28") || code == 1045 || code == 1698 || code == 3118 || code == 4151;
    }

    /** A right is missing; drivers of MariaDB, MySQL and H2 tell it in several ways. */
    private static boolean isForbidden(Throwable error) {
        return error instanceof R2dbcPermissionDeniedException
                || (said(error) instanceof R2dbcException known
                        && Set.of(1142, 1143, 1227, 90096).contains(known.getErrorCode()));
    }

    /** The drivers of MariaDB and MySQL send no password to MySQL in plain text, each with words of its own. */
    private static boolean wantsTls(Throwable error) {
        String text = text(error);
        return text.contains("caching_sha2_password")
                || text.contains("sha256_password")
                || text.contains("RSA public key");
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
