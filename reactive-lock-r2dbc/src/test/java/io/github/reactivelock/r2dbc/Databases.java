package io.github.reactivelock.r2dbc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.MySqlServer;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Result;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** A database for tests and what tests ask it themselves. */
record Databases(String url, Runnable end) implements AutoCloseable {

    static final Duration LIMIT = Duration.ofSeconds(60);
    /** Whether the tests of MariaDB run on MySQL. */
    static final boolean IS_MYSQL = Boolean.getBoolean("reactivelock.mysql.instead");

    static final R2dbcBackendOptions PATIENT = R2dbcBackendOptions.defaults()
            .withCommandTimeout(Duration.ofSeconds(30))
            .withConnections(4);

    /** Of MariaDB and MySQL. What a server has its connections begin with does not reach {@code root}. */
    static final String SAFE_MODE = "sql_safe_updates = 1";

    /**
     * Counts the statements that wait for a row in MariaDB. The tables of information_schema about transactions will
     * not do: they come from a cache that is not filled anew while it is asked more often than every 100 ms.
     */
    static final String MARIADB_WAITERS = counted("INNODB_ROW_LOCK_CURRENT_WAITS");

    static Databases postgres(String... settings) {
        PostgresServer server = PostgresServer.start(settings);
        return new Databases(server.url(), server::close);
    }

    /** A MySQL instead where that is asked for, so that whole classes run on it ({@code newest-servers/pom.xml}). */
    static Databases mariaDb(String driver, String... settings) {
        if (IS_MYSQL) {
            MySqlServer server = MySqlServer.start(settings);
            return new Databases(server.url(driver), server::close);
        }
        MariaDbServer server = MariaDbServer.start(settings);
        return new Databases(server.url(driver), server::close);
    }

    /** One that lives until the JVM ends. */
    static Databases h2() {
        String url = "r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1";
        return new Databases(url, () -> {});
    }

    /** The same MariaDB, which lives as long as this, asked through the driver of MySQL. */
    Databases byMySqlDriver() {
        return new Databases(url.replace("r2dbc:mariadb:", "r2dbc:mysql:"), () -> {});
    }

    boolean isMySqlDriver() {
        return url.startsWith("r2dbc:mysql:");
    }

    /** The same one, which lives as long as this, behind a proxy to its {@link #port()}. */
    Databases through(TcpProxy proxy) {
        return new Databases(url.replace(":" + port() + "/", ":" + proxy.port() + "/"), () -> {});
    }

    int port() {
        return Integer.parseInt(url.replaceFirst(".*:([0-9]+)/.*", "$1"));
    }

    ConnectionFactory factory() {
        return ConnectionFactories.get(url);
    }

    /** Over connections as {@link R2dbcLockBackend#connect(String)} opens them. */
    R2dbcLockBackend backend() {
        return R2dbcLockBackend.connect(opening(), PATIENT);
    }

    /**
     * The same by sessions of a time zone, which update and delete by keys only where there is such a mode. Where the
     * address says more, it says that too: a backend reads there whether several statements may be sent at once.
     */
    R2dbcLockBackend backendIn(String zone) {
        String session = "time_zone='" + zone + "'," + SAFE_MODE.replace(" ", "");
        return url.startsWith("r2dbc:mariadb:") && url.contains("?")
                ? R2dbcLockBackend.connect(
                        url + "&sessionVariables=" + URLEncoder.encode(session, StandardCharsets.UTF_8), PATIENT)
                : R2dbcLockBackend.connect(in(zone, opening()), PATIENT);
    }

    private ConnectionFactory opening() {
        return R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(url));
    }

    /** Patient, so that a busy machine looks like nothing else than a slow one. */
    static LockClient client(R2dbcLockBackend backend) {
        return LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(40))
                .build();
    }

    /** Sessions of a time zone, {@code +09:00} say, whatever that of this process and of the server is. */
    ConnectionFactory factoryIn(String zone) {
        return in(zone, factory());
    }

    private static ConnectionFactory in(String zone, ConnectionFactory real) {
        String name = real.getMetadata().getName().toLowerCase(Locale.ROOT);
        String set = name.contains("maria") || name.contains("mysql")
                ? "SET time_zone = '" + zone + "', " + SAFE_MODE
                : "SET TIME ZONE "
                        + (name.contains("postgres") ? "INTERVAL '" + zone + "' HOUR TO MINUTE" : "'" + zone + "'");
        return beginningWith(set, real);
    }

    /** Each connection carries out a statement before anything else. */
    static ConnectionFactory beginningWith(String statement, ConnectionFactory real) {
        return of(
                real.getMetadata(),
                Mono.defer(() -> Mono.from(real.create()))
                        .flatMap(opened -> Flux.from(
                                        opened.createStatement(statement).execute())
                                .concatMap(Result::getRowsUpdated)
                                .then(Mono.just(opened))));
    }

    /** New connections go where it leads at the time, and open ones stay where they are. */
    static ConnectionFactory leadingTo(AtomicReference<ConnectionFactory> target) {
        return of(
                target.get().getMetadata(),
                Mono.defer(() -> Mono.from(target.get().create())));
    }

    private static ConnectionFactory of(ConnectionFactoryMetadata metadata, Mono<? extends Connection> opened) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return opened;
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return metadata;
            }
        };
    }

    ConnectionPool pool(int size) {
        return pool(factory(), size);
    }

    static ConnectionPool pool(ConnectionFactory factory, int size) {
        return pool(factory, 0, size);
    }

    static ConnectionPool pool(ConnectionFactory factory, int first, int size) {
        return new ConnectionPool(ConnectionPoolConfiguration.builder(factory)
                .initialSize(first)
                .maxSize(size)
                .allocatorSubscribeOn(Schedulers.boundedElastic())
                .build());
    }

    /**
     * Closes a pool. reactor-pool may destroy a connection twice that comes back in the moment its pool is closed, and
     * fails then; the pool is closed all the same.
     */
    static void dispose(ConnectionPool pool) {
        pool.disposeLater()
                .onErrorComplete(error -> Exceptions.unwrapMultiple(error).stream()
                        .allMatch(each -> each instanceof IllegalArgumentException
                                && String.valueOf(each.getMessage()).startsWith("Too many permits")))
                .block(LIMIT);
    }

    /** Comes first: it loads the driver, and H2's engine, for which a busy machine takes its time. */
    void createTables() {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(factory(), PATIENT.withCommandTimeout(LIMIT));
        backend.createTables().block(LIMIT);
        backend.close().block(LIMIT);
    }

    long select(String sql) {
        return select(factory(), sql);
    }

    /** The question what a server of MariaDB or MySQL has counted. */
    static String counted(String variable) {
        return "SELECT CAST(variable_value AS SIGNED) FROM "
                + (IS_MYSQL ? "performance_schema" : "information_schema")
                + ".global_status WHERE variable_name = '" + variable + "'";
    }

    /** The same where the server may end the session before it has heard the question. */
    long selectAgain(String sql) {
        return Mono.fromCallable(() -> select(sql))
                .retryWhen(Retry.max(50).filter(R2dbcException.class::isInstance))
                .block(LIMIT);
    }

    /** The number that a statement answers with, or how many rows it changed. */
    @CanIgnoreReturnValue
    static long select(ConnectionFactory factory, String sql) {
        return Mono.usingWhen(factory.create(), connection -> number(connection, sql), Connection::close)
                .subscribeOn(Schedulers.boundedElastic())
                .block(LIMIT);
    }

    static Mono<Long> number(Connection connection, String sql) {
        return Flux.from(connection.createStatement(sql).execute())
                .concatMap(result -> result.map((row, metadata) -> ((Number) row.get(0)).longValue()))
                .collectList()
                .map(found -> found.isEmpty() ? 0L : found.get(0));
    }

    @CanIgnoreReturnValue
    long execute(String sql) {
        return Mono.usingWhen(
                        factory().create(),
                        connection -> Flux.from(connection.createStatement(sql).execute())
                                .concatMap(Result::getRowsUpdated)
                                .reduce(0L, (sum, rows) -> sum + ((Number) rows).longValue()),
                        Connection::close)
                .subscribeOn(Schedulers.boundedElastic())
                .block(LIMIT);
    }

    /** Ends all sessions of MariaDB but its own; how many there were. */
    long killAll() {
        String others = "SELECT id FROM information_schema.processlist WHERE user = 'root' AND id <> connection_id()";
        return Mono.usingWhen(
                        factory().create(),
                        connection -> Flux.from(
                                        connection.createStatement(others).execute())
                                .concatMap(result -> result.map((row, metadata) -> row.get(0)))
                                .collectList()
                                .flatMapMany(Flux::fromIterable)
                                .concatMap(id -> number(connection, "KILL " + id)
                                        .onErrorResume(Databases::isEndedAlready, ended -> Mono.just(0L)))
                                .count(),
                        Connection::close)
                .block(LIMIT);
    }

    private static boolean isEndedAlready(Throwable error) {
        return error instanceof R2dbcException known && known.getErrorCode() == 1094;
    }

    static Claim claim(String key) {
        return new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofSeconds(60), Claim.Mode.QUEUE);
    }

    static void until(String what, BooleanSupplier isSo) {
        Pause.until(what, LIMIT, isSo);
    }

    @Override
    public String toString() {
        return url;
    }

    @Override
    public void close() {
        end.run();
    }
}
