package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.DriverThreads;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.Locale;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** What differs between databases: their clock, their parameters and how they push. The statements are in resources. */
enum Dialect {
    POSTGRESQL("((extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 1577836800000000)"),
    MARIADB("TIMESTAMPDIFF(MICROSECOND, '2020-01-01', UTC_TIMESTAMP(6))"),
    H2("DATEDIFF('MICROSECOND', TIMESTAMP WITH TIME ZONE '2020-01-01 00:00:00+00', CURRENT_TIMESTAMP(6))");

    /** Microseconds since 2020 by the database's clock. */
    final String now;

    Dialect(String now) {
        this.now = now;
    }

    static Dialect of(ConnectionFactory factory) {
        return named(factory.getMetadata().getName());
    }

    static Dialect of(Connection connection) {
        return named(connection.getMetadata().getDatabaseProductName());
    }

    private static Dialect named(String name) {
        String known = name.toLowerCase(Locale.ROOT);
        if (known.contains("postgresql")) {
            return POSTGRESQL;
        }
        if (known.contains("mariadb") || known.contains("mysql")) {
            return MARIADB;
        }
        if (known.equals("h2")) {
            return H2;
        }
        throw new IllegalArgumentException(
                "locks are kept in PostgreSQL, MariaDB, MySQL and H2, but this connects to " + name);
    }

    /** The name of this dialect in file names and statements. */
    String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** How long a statement waits for a row, in the unit that it wants: whole seconds in MariaDB. */
    long patience(Duration time) {
        return this == MARIADB ? Math.max(1, time.toSeconds()) : time.toMillis();
    }

    /** Whether it tells clients by itself that something happened. */
    boolean notifies() {
        return this == POSTGRESQL;
    }

    /** PostgreSQL numbers its parameters; all drivers of the others take question marks. */
    String numbered(String statement) {
        if (this != POSTGRESQL) {
            return statement;
        }
        StringBuilder text = new StringBuilder(statement.length() + 16);
        int number = 0;
        for (int i = 0; i < statement.length(); i++) {
            char c = statement.charAt(i);
            if (c == '?') {
                text.append('$').append(++number);
            } else {
                text.append(c);
            }
        }
        return text.toString();
    }

    /** H2 runs inside the process and works, and waits, on the subscribing thread, which must be one that may. */
    <T> Flux<T> apart(Publisher<T> work) {
        return this == H2 ? Flux.from(work).subscribeOn(DriverThreads.mayBlock()) : Flux.from(work);
    }
}
