package io.github.reactivelock.faults;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.tools.Server;

/**
 * An H2 server that is a process of its own, so that it can be stopped and killed. It begins to serve when it is told
 * something, so that a slow start of a JVM is no part of a restart, and it ends when standard input does.
 */
public final class H2Process {

    private H2Process() {}

    /** What a JVM loads and compiles for its first database would be a part of a restart as well. */
    private static void warmUp(String directory) throws SQLException {
        Server server = Server.createTcpServer("-tcpPort", "0", "-baseDir", directory, "-ifNotExists")
                .start();
        String database = "/./warm" + ProcessHandle.current().pid() + ";WRITE_DELAY=0";
        try (Connection connection =
                        DriverManager.getConnection("jdbc:h2:tcp://127.0.0.1:" + server.getPort() + database);
                Statement statement = connection.createStatement()) {
            boolean unusedTable = statement.execute("CREATE TABLE warm (id INT PRIMARY KEY)");
            for (int i = 0; i < 100; i++) {
                int unusedRow = statement.executeUpdate("MERGE INTO warm VALUES (" + i % 10 + ")");
            }
        }
        server.stop();
    }

    /**
     * Runs it.
     *
     * @param args the directory with its data, and its port
     * @throws Exception if it does not start
     */
    public static void main(String... args) throws Exception {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        warmUp(args[0]);
        Server server = Server.createTcpServer("-tcpPort", args[1], "-baseDir", args[0], "-ifNotExists");
        System.out.println("is ready");
        if (System.in.read() < 0) {
            return;
        }
        Server serving = server.start();
        System.out.println("serves at " + serving.getPort());
        while (System.in.read() >= 0) {
            // What is said after that means nothing.
        }
        server.stop();
    }
}
