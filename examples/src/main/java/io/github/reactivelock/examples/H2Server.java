package io.github.reactivelock.examples;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.h2.tools.Server;

/** An H2 inside this process, for other processes: a database in memory that lives as long as the example. */
final class H2Server implements AutoCloseable {

    private static final String DATABASE = "mem:locks";

    /** The database ends with its last connection, and a remote client cannot make a new one. */
    private final Connection open;

    private final Server server;

    private H2Server(Connection open, Server server) {
        this.open = open;
        this.server = server;
    }

    /** Starts one that listens on a free port of 127.0.0.1 only. */
    static H2Server start() throws SQLException {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        Connection open = DriverManager.getConnection("jdbc:h2:" + DATABASE);
        try {
            return new H2Server(open, Server.createTcpServer("-tcpPort", "0").start());
        } catch (SQLException e) {
            open.close();
            throw e;
        }
    }

    /** For R2DBC, whose driver knows only the protocols file and mem; its option for all others is the whole URL. */
    String url() {
        String url = "tcp://127.0.0.1:" + server.getPort() + "/" + DATABASE;
        return "r2dbc:h2://127.0.0.1?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws SQLException {
        server.stop();
        open.close();
    }
}
