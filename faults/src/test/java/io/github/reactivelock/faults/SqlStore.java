package io.github.reactivelock.faults;

import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import reactor.core.publisher.Flux;
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
     * @param breakListeners ends the connections over which clients are woken; empty if it has none
     * @param listening what a client says over such a connection
     */
    private record Tongue(String address, String key, String breakListeners, String listening) {}

    private static final Tongue POSTGRESQL = new Tongue(
            "r2dbc:postgresql://postgres@127.0.0.1:%d/postgres",
            "convert_from(lock_key, 'UTF8')",
            "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                    + " OR query = 'SELECT 1'",
            "LISTEN ");
    private static final Tongue MARIADB = new Tongue(
            "r2dbc:mariadb://root@127.0.0.1:%d/mysql",
            "CONVERT(lock_key USING utf8mb4)",
            "BEGIN NOT ATOMIC FOR listener IN (SELECT id FROM information_schema.processlist WHERE state = 'User lock')"
                    + " DO KILL listener.id; END FOR; END",
            "GET_LOCK(");
    private static final Tongue H2 =
            new Tongue("tcp://127.0.0.1:%d/./locks;WRITE_DELAY=0", "UTF8TOSTRING(lock_key)", "", "");

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
    static SqlStore mariaDb() {
        MariaDbServer server = MariaDbServer.start("--innodb-flush-log-at-trx-commit=2");
        return new SqlStore(
                new Program(server.port(), server::pause, server::resume, server::restart, server::close), MARIADB);
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

    /** H2 has no limit for a transaction that does nothing: docs/stores/sql.md says so. */
    @Override
    boolean keepsATransaction() {
        return tongue.equals(H2)
                && !select("SELECT CAST(session_id AS VARCHAR) FROM information_schema.sessions"
                                + " WHERE contains_uncommitted")
                        .isEmpty();
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
        if (tongue.breakListeners().isEmpty()) {
            super.breakPushes(waiter);
        } else {
            select(tongue.breakListeners());
        }
    }

    @Override
    void forgetPushes(Way waiter) {
        if (tongue.breakListeners().isEmpty()) {
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
                .subscribeOn(Schedulers.boundedElastic())
                .collectList()
                .block(Lab.LIMIT);
    }

    @Override
    public void close() {
        super.close();
        server.end().run();
    }
}
