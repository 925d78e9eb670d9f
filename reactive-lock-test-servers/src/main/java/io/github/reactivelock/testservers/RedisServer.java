package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis on a free port of 127.0.0.1, for tests: in Docker if an engine is there, else {@code redis-server} from
 * the PATH, else the Redis 6.2 that the embedded-redis library brings. If none can run, starting it throws, so that no
 * test is skipped unnoticed. It ends with this JVM at the latest. The methods block; they are for test threads.
 */
public final class RedisServer extends TestServer {

    private static final Duration READY_LIMIT = Duration.ofSeconds(60);

    private final int port;
    private final List<String> config;
    private final boolean isMember;
    private final RedisProgram program;

    private RedisServer(RedisProgram program, Path directory, int port, List<String> config, boolean isMember) {
        super(directory);
        this.program = program;
        this.port = port;
        this.config = config;
        this.isMember = isMember;
        this.running = run();
        awaitReady();
    }

    /**
     * Starts a server without persistence.
     *
     * @param config further settings as on its command line, such as {@code "--maxmemory", "2mb"}; relative file names
     *     count from {@link #directory()}. One that has a certificate and no {@code --tls-port} speaks TLS on its port,
     *     and nothing else
     * @return a server that answers
     */
    public static RedisServer start(String... config) {
        return start(RedisProgram.found(), config);
    }

    /**
     * Starts the oldest server that is supported, the Redis 6.2 that the embedded-redis library brings.
     *
     * @param config further settings, as those of {@link #start}
     * @return a server that answers
     */
    public static RedisServer startOldest(String... config) {
        return start(RedisProgram.oldest(), config);
    }

    private static RedisServer start(RedisProgram program, String... config) {
        return new RedisServer(program, Scratch.directory("redis"), Loopback.freePort(), List.of(config), false);
    }

    /** Starts one of several servers that reach one another. */
    static RedisServer member(Path directory, int port, List<String> config) {
        return new RedisServer(RedisProgram.found(), directory, port, config, true);
    }

    /**
     * Where it listens, always at 127.0.0.1; the same after a restart.
     *
     * @return the port
     */
    public int port() {
        ServerVersions.met(program.version());
        return port;
    }

    /**
     * Its address without credentials.
     *
     * @return a {@code redis://} URI
     */
    public String uri() {
        return "redis://127.0.0.1:" + port();
    }

    /**
     * Sends one command over a connection of its own, which logs in first if {@code --requirepass} was configured.
     *
     * @param words the command and its arguments
     * @return a String, a Long, a List of these, or null
     * @throws IllegalStateException with the server's message if it answers with an error
     */
    @CanIgnoreReturnValue
    public @Nullable Object command(String... words) {
        return commands(List.of(List.of(words))).get(0);
    }

    /**
     * Sends several commands together, as {@link #command} sends one.
     *
     * @param commands each the command and its arguments; so few that the answers fit into the buffers of a socket
     * @return their answers
     * @throws IllegalStateException with the server's message if it answers one of them with an error
     */
    public List<@Nullable Object> commands(List<List<String>> commands) {
        try (Resp connection = speaksTlsOnly() ? Resp.encrypted(port) : Resp.plain(port)) {
            int password = config.indexOf("--requirepass") + 1;
            if (password > 0) {
                connection.commands(List.of(List.of("AUTH", config.get(password))));
            }
            return connection.commands(commands);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Redis did not answer " + commands.get(0).get(0), e);
        }
    }

    /** Saves, ends the server if it runs, and starts it again on the same port with what it had saved. */
    public void restart() {
        if (running.isAlive()) {
            command("SAVE");
            running.stop();
        }
        running = run();
        awaitReady();
    }

    /** Kills the server if it runs and starts it again on the same port, empty. */
    public void restartEmpty() {
        killIfRunning();
        directory.resolve("dump.rdb").toFile().delete();
        directory.resolve("appendonly.aof").toFile().delete(); // where Redis 6 keeps it
        Scratch.empty(directory.resolve("appendonlydir"));
        restart();
    }

    private Running run() {
        List<String> settings = new ArrayList<>(config);
        if (speaksTlsOnly()) {
            settings.addAll(List.of("--tls-port", Integer.toString(port), "--port", "0"));
        }
        return isMember ? program.startMember(directory, port, settings) : program.start(directory, port, settings);
    }

    private boolean speaksTlsOnly() {
        return config.contains("--tls-cert-file") && !config.contains("--tls-port");
    }

    /** A server that loads its data answers only that. */
    private void awaitReady() {
        long until = System.nanoTime() + READY_LIMIT.toNanos();
        while (true) {
            try {
                command("PING");
                return;
            } catch (IllegalStateException refused) {
                if (!String.valueOf(refused.getMessage()).startsWith("LOADING")) {
                    return;
                }
            } catch (UncheckedIOException notYet) {
                if (System.nanoTime() - until > 0) {
                    throw notYet;
                }
            }
            Pause.of(Duration.ofMillis(5));
        }
    }
}
