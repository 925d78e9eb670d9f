package io.github.reactivelock.benchmarks.server;

import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.MySqlServer;
import io.github.reactivelock.testservers.PostgresServer;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;

/** A database of the test kit with tables and connections for all sides. */
public final class SqlServer implements Server {

    private static final String SPRING = "CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100)"
            + " NOT NULL, CLIENT_ID CHAR(36), CREATED_DATE <time> NOT NULL, EXPIRED_AFTER <time> NOT NULL,"
            + " CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION))";
    private static final String SHED_LOCK = "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3)"
            + " NOT NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))";

    private final String program;
    private final String uri;
    private final String version;
    private final Runnable end;

    private SqlServer(String program, String uri, String timestamp, Runnable end) {
        this.program = program;
        this.uri = uri;
        this.end = end;
        R2dbcLockBackend ours = R2dbcLockBackend.connect(uri);
        ours.createTables().then(ours.close()).block();
        try (Connection connection = DriverManager.getConnection(jdbc(uri));
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(SPRING.replace("<time>", timestamp));
            statement.executeUpdate(SHED_LOCK);
            this.version = connection.getMetaData().getDatabaseProductName() + " "
                    + connection.getMetaData().getDatabaseProductVersion();
        } catch (SQLException e) {
            throw new IllegalStateException("the database could not be prepared", e);
        }
    }

    static Server postgres(String... settings) {
        PostgresServer server =
                PostgresServer.start(Stream.concat(Stream.of("max_connections=400"), Stream.of(settings))
                        .flatMap(setting -> Stream.of("-c", setting))
                        .toArray(String[]::new));
        return new SqlServer("postgres", server.url(), "TIMESTAMP", server::close);
    }

    static Server mariaDb(String flushing) {
        MariaDbServer server = MariaDbServer.start("--max-connections=400", flushing);
        return new SqlServer("mariadbd", server.url("mariadb"), "DATETIME(6)", server::close);
    }

    static Server mySql(String flushing) {
        MySqlServer server = MySqlServer.start("--max-connections=400", flushing);
        return new SqlServer("mysqld", server.url("mysql"), "DATETIME(6)", server::close);
    }

    /** The same database for JDBC; the driver of MariaDB knows MySQL too. */
    public static String jdbc(String r2dbc) {
        URI url = URI.create(r2dbc.substring("r2dbc:".length()));
        return "jdbc:" + url.getScheme().replace("mysql", "mariadb") + "://" + url.getHost() + ":" + url.getPort()
                + url.getPath() + "?user=" + url.getUserInfo();
    }

    @Override
    public String uri() {
        return uri;
    }

    @Override
    public String version() {
        return version;
    }

    /** Id of the process that the test kit started; -1 in Docker. */
    @Override
    public List<Long> pids() {
        return List.of(ServerProcess.child(program));
    }

    @Override
    public void close() {
        end.run();
    }
}
