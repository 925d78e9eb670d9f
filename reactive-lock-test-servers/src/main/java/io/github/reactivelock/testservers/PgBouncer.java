package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A PgBouncer that lends connections of a PostgreSQL for one transaction each, on a free port of 127.0.0.1, for tests:
 * the {@code pgbouncer} of the PATH or of Debian's package. If it cannot run, starting it throws, so that no test is
 * skipped unnoticed. It ends with this JVM at the latest. The methods block; they are for test threads.
 */
public final class PgBouncer extends TestServer {

    private static final class Found {
        static final DatabaseProgram PROGRAM =
                DatabaseProgram.installed("pgbouncer", "postgres", "pgbouncer", Path.of("/usr/sbin"));
    }

    private final int port = Loopback.freePort();

    private PgBouncer(int target) {
        super(Scratch.directory("pgbouncer"));
        Path config = directory.resolve("pgbouncer.ini");
        List<String> lines = List.of(
                "[databases]",
                "* = host=127.0.0.1 port=" + target + " user=postgres",
                "[pgbouncer]",
                "listen_addr = 127.0.0.1",
                "listen_port = " + port,
                "unix_socket_dir =",
                "auth_type = any",
                "pool_mode = transaction",
                "ignore_startup_parameters = extra_float_digits");
        try {
            Files.write(config, lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Found.PROGRAM.own(directory);
        running = ServerProcess.start(
                "pgbouncer", directory, port, Found.PROGRAM.command("pgbouncer", List.of(config.toString())));
    }

    /**
     * Starts one in front of a server.
     *
     * @param server answers already
     * @return a pooler that listens
     */
    public static PgBouncer before(PostgresServer server) {
        return new PgBouncer(server.port());
    }

    /**
     * Its address for R2DBC.
     *
     * @return a URL with user and database, which needs no password
     */
    public String url() {
        Found.PROGRAM.met("pgbouncer", "");
        return "r2dbc:postgresql://postgres@127.0.0.1:" + port + "/postgres";
    }
}
