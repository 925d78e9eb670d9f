package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.DriverThreads;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What differs between databases: their clock, their parameters and how they push. The statements are in resources. */
enum Dialect {
    POSTGRESQL("((extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 1577836800000000)"),
    MARIADB("TIMESTAMPDIFF(MICROSECOND, '2020-01-01', UTC_TIMESTAMP(6))"),
    H2("(CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT) - 1577836800000000)");

    /**
     * Microseconds since 2020 by the database's clock: of UTC, so that no zone of a client, a session or the server
     * counts.
     */
    final String now;

    Dialect(String now) {
        this.now = now;
    }

    static Dialect of(ConnectionFactory factory) {
        String name = factory.getMetadata().getName();
        Dialect known = known(name, factory);
        if (known == null) {
            throw unknown(name);
        }
        return known;
    }

    /**
     * What a connection leads to: by its driver, by what that calls the product, and by a question where neither tells.
     * MySQL's driver calls the server's version comment its product, which may be anything.
     */
    static Mono<Dialect> asked(Connection connection) {
        String name = connection.getMetadata().getDatabaseProductName();
        Dialect known = known(name, connection);
        return known != null
                ? Mono.just(known)
                : Flux.from(connection.createStatement("SELECT version()").execute())
                        .concatMap(result -> result.map((row, metadata) -> String.valueOf(row.get(0, String.class))))
                        .collectList()
                        .map(answer -> {
                            String version = answer.isEmpty() ? "" : answer.get(0);
                            Dialect said = version.matches("[0-9].*") ? MARIADB : named(version);
                            if (said == null) {
                                throw unknown(name);
                            }
                            return said;
                        });
    }

    private static @Nullable Dialect known(String name, Object driver) {
        Object real = driver;
        while (real instanceof Wrapped<?> wrapper) {
            Object inner = wrapper.unwrap();
            if (inner == null || inner == real) {
                break;
            }
            real = inner;
        }
        String type = real.getClass().getName();
        Dialect byDriver = type.matches("(io\\.asyncer|dev\\.miku)\\.r2dbc\\.mysql\\..*") ? MARIADB : null;
        return byDriver == null ? named(name) : byDriver;
    }

    private static @Nullable Dialect named(String name) {
        String known = name.toLowerCase(Locale.ROOT);
        if (known.contains("postgresql")) {
            return POSTGRESQL;
        }
        if (known.contains("mariadb") || known.contains("mysql")) {
            return MARIADB;
        }
        return known.equals("h2") ? H2 : null;
    }

    private static IllegalArgumentException unknown(String name) {
        return new IllegalArgumentException(
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

    /** Whether a list is one parameter, an array, in which a key is hexadecimal. */
    boolean hasArrays() {
        return this == POSTGRESQL;
    }

    /** That a column is one of a list of keys; where there are no arrays the list is put in later. */
    String keys() {
        return hasArrays() ? "= ANY(ARRAY(SELECT decode(k, 'hex') FROM unnest(CAST(? AS VARCHAR[])) AS k))" : "${keys}";
    }

    /** That a column is one of a list of claims' ids. */
    String ids() {
        return hasArrays() ? "= ANY(CAST(? AS VARCHAR[]))" : "${ids}";
    }

    /** A parameter that is a number where nothing around it shows that. */
    String number() {
        return this == H2 ? "CAST(? AS BIGINT)" : "?";
    }

    /** Whether it tells clients by itself that something happened. */
    boolean notifies() {
        return this == POSTGRESQL;
    }

    /** Whether a client can end the statement in which another one sleeps. */
    boolean rings() {
        return this == MARIADB;
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
    <T> Mono<T> apart(Mono<T> work) {
        return this == H2 ? Carried.subscribedOn(DriverThreads.mayBlock(), work) : work;
    }

    /**
     * A driver may keep what the thread carries that opens a connection for as long as that lasts, and other flows use
     * it next. A pool hands over on the thread that gave the connection back, which in H2 may be the one its next user
     * waits for.
     */
    <T> Mono<T> openedForAll(Mono<T> connection) {
        return this == H2 ? connection.publishOn(DriverThreads.mayBlock()) : Carried.byNobody(connection);
    }
}
