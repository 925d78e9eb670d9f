package io.github.reactivelock.testservers;

import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A real PostgreSQL on a free port of 127.0.0.1, for tests: in Docker if an engine is there, else the {@code postgres}
 * of the PATH or of Debian's package. If neither can run, starting it throws, so that no test is skipped unnoticed. The
 * user {@code postgres} needs no password, and nothing waits for the disk. It ends with this JVM at the latest. The
 * methods block; they are for test threads.
 */
public final class PostgresServer extends TestServer {

    private static final String IMAGE = System.getProperty("reactivelock.postgres.image", "postgres:17-alpine");
    private static final int PROTOCOL_3 = 196_608;

    private static final class Found {
        static final DatabaseProgram PROGRAM = DatabaseProgram.find(
                "reactivelock.postgres", "postgres", "postgres", "postgresql", Path.of("/usr/lib/postgresql"));
    }

    private final int port = Loopback.freePort();
    private final List<String> config;

    private PostgresServer(List<String> config) {
        super(Scratch.directory("postgres"));
        this.config = config;
        if (!Found.PROGRAM.isInDocker) {
            Found.PROGRAM.make(
                    "initdb",
                    directory,
                    made -> List.of(
                            "-D", data(made), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"));
        }
        this.running = run();
    }

    /** A copy of another one, which follows it. */
    private PostgresServer(PostgresServer primary) {
        super(Scratch.directory("postgres"));
        this.config = List.of();
        if (Found.PROGRAM.isInDocker) {
            throw new IllegalStateException(
                    "a standby needs the programs of PostgreSQL on this machine, not in Docker");
        }
        Found.PROGRAM.own(directory);
        List<String> from = List.of("-h", "127.0.0.1", "-p", Integer.toString(primary.port), "-U", "postgres");
        List<String> options = new ArrayList<>(from);
        options.addAll(List.of("-D", data(directory), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"));
        Found.PROGRAM.run("pg_basebackup", directory, options);
        this.running = run();
    }

    /**
     * Starts a standby of this server, which streams from it until {@code pg_promote()} is asked of it. Not where
     * PostgreSQL runs in Docker.
     *
     * @return a server that answers questions and takes no writes
     */
    public PostgresServer standby() {
        return new PostgresServer(this);
    }

    /**
     * Starts a server with an empty database {@code postgres}.
     *
     * @param config further options as on its command line, such as {@code "-c", "max_connections=10"}
     * @return a server that answers
     */
    public static PostgresServer start(String... config) {
        return new PostgresServer(List.of(config));
    }

    /**
     * Where it listens, always at 127.0.0.1; the same after a restart.
     *
     * @return the port
     */
    public int port() {
        Found.PROGRAM.met("postgresql", IMAGE);
        return port;
    }

    /**
     * Its address for R2DBC.
     *
     * @return a URL with user and database, which needs no password
     */
    public String url() {
        return "r2dbc:postgresql://postgres@127.0.0.1:" + port() + "/postgres";
    }

    /** Kills the server if it runs, and starts it again on the same port with its data. */
    public void restart() {
        killIfRunning();
        running = run();
    }

    private static String data(Path directory) {
        return directory + "/data";
    }

    private Running run() {
        List<String> options = new ArrayList<>(List.of("-p", Integer.toString(port), "-c", "fsync=off"));
        for (String setting : List.of("synchronous_commit=off", "full_page_writes=off", "shared_buffers=16MB")) {
            options.addAll(List.of("-c", setting));
        }
        Running started;
        if (Found.PROGRAM.isInDocker) {
            List<String> command = new ArrayList<>(List.of("env", "POSTGRES_HOST_AUTH_METHOD=trust"));
            command.addAll(List.of("PGDATA=" + data(directory), "docker-entrypoint.sh", "postgres"));
            command.addAll(options);
            command.addAll(config);
            started = ServerContainer.start(IMAGE, directory, port, command);
        } else {
            options.addAll(List.of("-D", data(directory), "-h", "127.0.0.1", "-c", "unix_socket_directories="));
            options.addAll(config);
            started = ServerProcess.start("postgres", directory, port, Found.PROGRAM.command("postgres", options));
        }
        awaitReady(started, this::letsIn, "PostgreSQL accepted no login");
        return started;
    }

    /** A server that starts up or recovers listens already and refuses every login. */
    private boolean letsIn() {
        byte[] who = "user\0postgres\0database\0postgres\0\0".getBytes(StandardCharsets.US_ASCII);
        try (Socket socket = new Socket(Loopback.address(), port);
                DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
            socket.setSoTimeout(5_000);
            out.writeInt(8 + who.length);
            out.writeInt(PROTOCOL_3);
            out.write(who);
            out.flush();
            return socket.getInputStream().read() == 'R';
        } catch (IOException notYet) {
            return false;
        }
    }
}
