package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A real MySQL on a free port of 127.0.0.1, for tests: in Docker if an engine is there, else the {@code mysqld} of the
 * PATH, which {@code config/newest-servers mysql} unpacks. If neither can run, starting it throws, so that no test is
 * skipped unnoticed. The user {@code root} needs no password, and nothing waits for the disk. It ends with this JVM at
 * the latest. The methods block; they are for test threads.
 */
public final class MySqlServer extends MySqlProtocolServer {

    private static final String IMAGE = System.getProperty("reactivelock.mysql.image", "mysql:8.4");

    private static final class Found {
        static final DatabaseProgram PROGRAM = DatabaseProgram.find(
                "reactivelock.mysql", "mysqld", "mysql", "none in stable; config/newest-servers mysql");
    }

    private MySqlServer(List<String> config) {
        super(Scratch.directory("mysql"), config);
        if (!Found.PROGRAM.isInDocker) {
            Found.PROGRAM.make("mysqld", directory, made -> {
                List<String> options = new ArrayList<>(ownFiles(made));
                // A user of its own for TCP: without names of hosts 127.0.0.1 is not localhost.
                options.addAll(List.of("--initialize-insecure", "--init-file=" + rootFromEverywhere(made)));
                return options;
            });
        }
        this.running = run();
    }

    /**
     * Starts a server whose only databases are its own.
     *
     * @param config further options as on its command line, such as {@code "--max-connections=10"}
     * @return a server that answers
     */
    public static MySqlServer start(String... config) {
        return new MySqlServer(List.of(config));
    }

    private static String rootFromEverywhere(Path directory) {
        Path file = directory.resolve("root.sql");
        try {
            Files.writeString(file, "CREATE USER root@'%';\nGRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file.toString();
    }

    private static List<String> ownFiles(Path directory) {
        return List.of(
                "--no-defaults",
                "--datadir=" + directory + "/data",
                "--tmpdir=" + directory,
                "--secure-file-priv=NULL",
                "--innodb-flush-method=nosync",
                "--innodb-doublewrite=OFF",
                "--innodb-buffer-pool-size=16M",
                "--skip-log-bin",
                "--mysqlx=OFF");
    }

    @Override
    void met() {
        Found.PROGRAM.met("mysql", IMAGE);
    }

    @Override
    Running run() {
        List<String> options = new ArrayList<>(List.of("--port=" + port, "--innodb-flush-log-at-trx-commit=0"));
        options.addAll(List.of("--skip-name-resolve", "--performance-schema=OFF"));
        Running started;
        if (Found.PROGRAM.isInDocker) {
            List<String> command = new ArrayList<>(List.of("env", "MYSQL_ALLOW_EMPTY_PASSWORD=1", "MYSQL_ROOT_HOST=%"));
            command.addAll(List.of("docker-entrypoint.sh", "mysqld"));
            command.addAll(options);
            command.addAll(config);
            started = ServerContainer.start(IMAGE, directory, port, command);
        } else {
            options.addAll(0, ownFiles(directory));
            options.addAll(List.of("--bind-address=127.0.0.1"));
            options.addAll(List.of("--socket=" + directory + "/socket", "--pid-file=" + directory + "/pid"));
            options.addAll(config);
            started = ServerProcess.start("mysqld", directory, port, Found.PROGRAM.command("mysqld", options));
        }
        awaitReady(started, this::greets, "MySQL did not answer");
        return started;
    }
}
