package io.github.reactivelock.faults;

import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.MySqlServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.R2dbcException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One database whose server can be broken, and an operator who asks it in SQL. */
final class SqlStore extends Store {

    /** What can be done to a server. */
    private record Program(int port, Runnable pause, Runnable resume, Runnable restart, Runnable end) {}

    /**
     * What is told of a database.
     *
     * @param address with the port left open
     * @param key how it makes text of a lock's key
     * @param transactions asks for those that are open; empty if it ends those that do nothing
     * @param listeners asks for statements that each end a connection over which a client is woken; empty if none
     * @param listening what a client says over such a connection
     */
    private record Tongue(String address, String key, String transactions, String listeners, String listening) {

        /** One of MariaDB or MySQL, whose listeners sleep in a state; a proxy has to read what they say. */
        static Tongue ringing(String driver, String settings, String transactions, String asleep) {
            return new Tongue(
                    "r2dbc:" + driver + "://root@127.0.0.1:%d/mysql"
                            + (driver.equals("mysql") ? "?sslMode=disabled" : settings),
                    "CONVERT(lock_key USING utf8mb4)",
                    transactions,
                    "SELECT concat('KILL ', id) FROM information_schema.processlist WHERE state = '" + asleep + "'",
                    "GET_LOCK(");
        }
    }

    private static final Tongue POSTGRESQL = new Tongue(
            "r2dbc:postgresql://postgres@127.0.0.1:%d/postgres",
            "convert_from(lock_key, 'UTF8')",
            "",
            "SELECT concat('SELECT pg_terminate_backend(', pid, ')::text') FROM pg_stat_activity"
                    + " WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'",
            "LISTEN ");
    private static final Tongue H2 = new Tongue(
            "tcp://127.0.0.1:%d/./locks;WRITE_DELAY=0",
            "UTF8TOSTRING(lock_key)",
            "SELECT CAST(session_id AS VARCHAR) FROM information_schema.sessions WHERE contains_uncommitted",
            "",
            "");
    /** The server answers the same again within 100 ms; {@link Lab#stop} waits for longer. */
    private static final String MYSQL_TRANSACTIONS = "SELECT CAST(trx_id AS CHAR) FROM information_schema.innodb_trx";

    private static final String WRITES_AT_ONCE = "--innodb-flush-log-at-trx-commit=2";
    /** What MariaDB and MySQL answer to KILL. */
    private static final int NO_SUCH_CONNECTION = 1094;

    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");

    private final Program server;
    private final Tongue tongue;

    private SqlStore(Program server, Tongue tongue) {
        this.server = server;
        this.tongue = tongue;
        // Comes first: it loads the driver too.
        R2dbcLockBackend backend = R2dbcLockBackend.connect(
                ConnectionFactories.get(address(ports())),
                R2dbcBackendOptions.defaults().withCommandTimeout(Lab.LIMIT));
        backend.createTables().then(backend.close()).block(Lab.LIMIT);
    }

    /** Writes down what it did before it answers: the default gives up commits that were answered when it is killed. */
    static SqlStore postgres() {
        PostgresServer server = PostgresServer.start("-c", "synchronous_commit=on");
        return new SqlStore(
                new Program(server.port(), server::pause, server::resume, server::restart, server::close), POSTGRESQL);
    }

    /** Writes down what it did before it answers, as {@link #postgres()}. */
    static SqlStore mariaDb(String driver) {
        MariaDbServer server = MariaDbServer.start(WRITES_AT_ONCE);
        return new SqlStore(
                new Program(server.port(), server::pause, server::resume, server::restart, server::close),
                Tongue.ringing(driver, "", "", "User lock"));
    }

    /** Writes down what it did before it answers, as {@link #postgres()}. */
    static SqlStore mySql(String driver) {
        MySqlServer server = MySqlServer.start(WRITES_AT_ONCE);
        return new SqlStore(
                new Program(server.port(), server::pause, server::resume, server::restart, server::close),
                Tongue.ringing(driver, "?allowMultiQueries=true", MYSQL_TRANSACTIONS, "User sleep"));
    }

    /**
     * Writes down what it did before it answers, as {@link #postgres()}; the default is to write half a second later.
     */
    static SqlStore h2() {
        H2Server server = new H2Server();
        return new SqlStore(
                new Program(server.port, server::pause, server::resume, server::restart, server::close), H2);
    }

    @Override
    List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    String address(List<Integer> ports) {
        String url = String.format(tongue.address(), ports.get(0));
        return url.startsWith("tcp:")
                ? "r2dbc:h2://127.0.0.1?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8)
                : url;
    }

    /** MySQL and H2 have no limit for a transaction that does nothing: docs/stores/sql.md says so. */
    @Override
    boolean keepsATransaction() {
        return !tongue.transactions().isEmpty()
                && !select(tongue.transactions()).isEmpty();
    }

    @Override
    void pause() {
        server.pause().run();
    }

    @Override
    void resume() {
        server.resume().run();
    }

    void restart() {
        server.restart().run();
    }

    @Override
    void breakPushes(Way waiter) {
        if (tongue.listeners().isEmpty()) {
            super.breakPushes(waiter);
        } else {
            Lab.eventually("a listener is ended", () -> {
                List<String> ends = select(tongue.listeners());
                ends.forEach(this::select);
                return !ends.isEmpty();
            });
        }
    }

    @Override
    void forgetPushes(Way waiter) {
        if (tongue.listeners().isEmpty()) {
            super.forgetPushes(waiter);
        } else {
            waiter.forget(tongue.listening());
        }
    }

    @Override
    void forget(String key) {
        select("DELETE FROM reactive_lock WHERE " + tongue.key() + " = '" + key + "'");
    }

    /** A row outlives its lease, until the next claim or the cleaning; the database's clock is this machine's. */
    @Override
    List<String> claims() {
        long now = ChronoUnit.MICROS.between(EPOCH, Instant.now());
        return select("SELECT concat(" + tongue.key() + ", ' is held') FROM reactive_lock"
                + " WHERE claim_id IS NOT NULL AND lease_end > " + now
                + " UNION ALL SELECT concat(" + tongue.key() + ", ' is waited for') FROM reactive_lock_waiter"
                + " WHERE alive_until > " + now);
    }

    /** A statement that a connection has not seen is prepared first, and a transaction goes on when it was answered. */
    @Override
    boolean releasesInOneMessage() {
        return false;
    }

    @ClientProcess.CanIgnoreReturnValue
    private List<String> select(String sql) {
        return Flux.usingWhen(
                        ConnectionFactories.get(address(ports())).create(),
                        connection -> Flux.from(connection.createStatement(sql).execute())
                                .concatMap(result -> result.map((row, metadata) -> row.get(0, String.class))),
                        Connection::close)
                .onErrorResume(SqlStore::isGone, gone -> Mono.empty())
                .subscribeOn(Schedulers.boundedElastic())
                .collectList()
                .block(Lab.LIMIT);
    }

    /** A connection that was to be ended. */
    private static boolean isGone(Throwable error) {
        return error instanceof R2dbcException refused && refused.getErrorCode() == NO_SUCH_CONNECTION;
    }

    @Override
    public void close() {
        super.close();
        server.end().run();
    }
}
