package io.github.reactivelock.testservers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A real MariaDB on a free port of 127.0.0.1, for tests: in Docker if an engine is there, else the {@code mariadbd} of
 * the PATH or of Debian's package. If neither can run, starting it throws, so that no test is skipped unnoticed. The
 * user {@code root} needs no password, and nothing waits for the disk. It ends with this JVM at the latest. The methods
 * block; they are for test threads.
 */
public final class MariaDbServer extends MySqlProtocolServer {

    private static final String IMAGE = System.getProperty("reactivelock.mariadb.image", "mariadb:11.4");

    private static final class Found {
        static final DatabaseProgram PROGRAM = DatabaseProgram.find(
                "reactivelock.mariadb",
                "mariadbd",
                "mysql",
                "mariadb-server",
                Path.of("/usr/sbin"),
                Path.of("/usr/bin"));
    }

    private MariaDbServer(List<String> config) {
        super(Scratch.directory("mariadb"), config);
        if (!Found.PROGRAM.isInDocker) {
            Found.PROGRAM.make(
                    "mariadb-install-db",
                    directory,
                    made -> List.of(
                            "--no-defaults",
                            "--auth-root-authentication-method=normal",
                            "--skip-test-db",
                            "--skip-name-resolve",
                            "--datadir=" + data(made),
                            ownTemporaryFiles(made)));
        }
        this.running = run();
    }

    /**
     * Starts a server whose only databases are its own.
     *
     * @param config further options as on its command line, such as {@code "--max-connections=10"}
     * @return a server that answers
     */
    public static MariaDbServer start(String... config) {
        return new MariaDbServer(List.of(config));
    }

    private static String data(Path directory) {
        return directory + "/data";
    }

    /** A server that starts deletes the temporary tables in its directory, also those of another server. */
    private static String ownTemporaryFiles(Path directory) {
        return "--tmpdir=" + directory;
    }

    @Override
    void met() {
        Found.PROGRAM.met("mariadb", IMAGE);
    }

    @Override
    Running run() {
        List<String> options = new ArrayList<>(List.of("--no-defaults", "--port=" + port));
        options.addAll(List.of("--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"));
        options.addAll(List.of("--sync-binlog=0", "--skip-name-resolve", "--performance-schema=OFF"));
        Running started;
        if (Found.PROGRAM.isInDocker) {
            List<String> command = new ArrayList<>(List.of("env", "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1"));
            command.addAll(List.of("MARIADB_ROOT_HOST=%", "docker-entrypoint.sh", "mariadbd"));
            command.addAll(options);
            command.addAll(config);
            started = ServerContainer.start(IMAGE, directory, port, command);
        } else {
            options.addAll(
                    List.of("--datadir=" + data(directory), ownTemporaryFiles(directory), "--bind-address=127.0.0.1"));
            options.addAll(List.of("--socket=" + directory + "/socket", "--pid-file=" + directory + "/pid"));
            options.addAll(config);
            started = ServerProcess.start("mariadbd", directory, port, Found.PROGRAM.command("mariadbd", options));
        }
        awaitReady(started, this::greets, "MariaDB did not answer");
        return started;
    }
}
