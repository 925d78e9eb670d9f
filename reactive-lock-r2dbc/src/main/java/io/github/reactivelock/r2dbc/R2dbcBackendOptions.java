package io.github.reactivelock.r2dbc;

import java.time.Duration;

/** Which tables hold the locks and how they are asked. Immutable; every {@code with…} returns a copy. */
public final class R2dbcBackendOptions {

    /** How a backend on PostgreSQL learns what others did. */
    private enum Notices {
        HEARD,
        LOOKED_FOR
    }

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);
    private static final String ALLOWED = "([a-z_][a-z0-9_]{0,40}\\.)?[a-z_][a-z0-9_]{0,40}";
    private static final R2dbcBackendOptions DEFAULTS =
            new R2dbcBackendOptions("reactive_lock", Duration.ofMillis(1_800), 8, Notices.HEARD);

    private final String prefix;
    private final Duration commandTimeout;
    private final int connections;
    private final Notices notices;

    private R2dbcBackendOptions(String prefix, Duration commandTimeout, int connections, Notices notices) {
        this.prefix = prefix;
        this.commandTimeout = commandTimeout;
        this.connections = connections;
        this.notices = notices;
    }

    /**
     * The tables {@code reactive_lock…}, a command timeout of 1.8 seconds, just under that of a lock client, and at
     * most 8 connections.
     *
     * @return the defaults
     */
    public static R2dbcBackendOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The name of the table of locks, with which the names of the others begin.
     *
     * @return never empty
     */
    public String prefix() {
        return prefix;
    }

    /**
     * How long a command may take from when it has a connection, repetitions included, until it fails with a message
     * that says why. Four fifths of it a statement waits for a row, and a transaction for its client, in PostgreSQL and
     * MariaDB.
     *
     * @return a positive time
     */
    public Duration commandTimeout() {
        return commandTimeout;
    }

    /**
     * How many connections a backend opens that makes its own pool. PostgreSQL, MariaDB
     * and MySQL need one more, to be woken over; of the clients of one MariaDB, one needs two more.
     *
     * @return at least one
     */
    public int connections() {
        return connections;
    }

    /**
     * Whether a backend listens to PostgreSQL's notifications, or to rings of MariaDB and MySQL.
     *
     * @return true unless {@linkplain #withoutNotifications() turned off}
     */
    public boolean listens() {
        return notices == Notices.HEARD;
    }

    /**
     * Looks for grants on PostgreSQL, MariaDB and MySQL as on H2, a few milliseconds after something happened and at
     * last once a second, over the pool alone. For a pooler that lends a connection for one transaction, which is
     * noticed without this too.
     *
     * @return a copy without a connection for notifications
     */
    public R2dbcBackendOptions withoutNotifications() {
        return new R2dbcBackendOptions(prefix, commandTimeout, connections, Notices.LOOKED_FOR);
    }

    /**
     * Keeps locks in other tables. All processes that share a lock need the same.
     *
     * @param prefix lower-case letters, digits and underscores, at most 41 of them, after a schema and a dot if wanted
     * @return a copy with this prefix
     */
    public R2dbcBackendOptions withPrefix(String prefix) {
        if (!prefix.matches(ALLOWED)) {
            throw new IllegalArgumentException("prefix must be lower-case letters, digits and '_', at most 41 of them"
                    + " and no digit first, after a schema and a dot if wanted, but is '" + prefix + "'");
        }
        if (Sql.NAMES.contains(prefix)) {
            throw new IllegalArgumentException(
                    "prefix '" + prefix + "' is a name that statements of this library use for"
                            + " something else; choose another, as reactive_lock_" + prefix);
        }
        return new R2dbcBackendOptions(prefix, commandTimeout, connections, notices);
    }

    /**
     * Changes how long a command may take. Keep it shorter than the command timeout of the lock client, whose message
     * can only say that there was no answer.
     *
     * @param commandTimeout at least 10 milliseconds
     * @return a copy with this timeout
     */
    public R2dbcBackendOptions withCommandTimeout(Duration commandTimeout) {
        if (commandTimeout.compareTo(SHORTEST_TIMEOUT) < 0) {
            throw new IllegalArgumentException("commandTimeout must be at least 10 ms but is " + commandTimeout);
        }
        return new R2dbcBackendOptions(prefix, commandTimeout, connections, notices);
    }

    /**
     * Changes how many connections a backend opens that makes its own pool.
     *
     * @param connections at least one
     * @return a copy with this number
     */
    public R2dbcBackendOptions withConnections(int connections) {
        if (connections < 1) {
            throw new IllegalArgumentException("connections must be at least 1 but is " + connections);
        }
        return new R2dbcBackendOptions(prefix, commandTimeout, connections, notices);
    }
}
