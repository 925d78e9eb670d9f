package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A real Redis primary with replicas, watched by three sentinels, on free ports of 127.0.0.1, for tests. The sentinels
 * promote a replica when the primary has been silent for {@link #DOWN_AFTER}. It ends with this JVM at the latest. The
 * methods block; they are for test threads.
 */
public final class RedisSentinel implements AutoCloseable {

    /** The silence of the primary after which a replica is promoted. */
    public static final Duration DOWN_AFTER = Duration.ofSeconds(1);

    /** What the sentinels call the primary. */
    public static final String NAME = "locks";

    private static final int SENTINELS = 3;

    /** No replica is promoted before the set is complete, however slow the machine is. */
    private static final Duration DOWN_AFTER_AT_FIRST = Duration.ofSeconds(60);

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private final List<String> config;

    private RedisSentinel(List<String> config) {
        this.config = config;
    }

    /**
     * Starts a primary, its replicas, and three sentinels that agree when two of them do.
     *
     * @param replicas how many replicas
     * @param config further settings of the servers, as on their command line; the sentinels have those for TLS as
     *     well, and no password
     * @return servers whose replicas are in step and sentinels which know of all of them
     */
    public static RedisSentinel start(int replicas, String... config) {
        RedisSentinel set = new RedisSentinel(List.of(config));
        try {
            set.run(replicas);
            return set;
        } catch (RuntimeException | Error e) {
            set.close();
            throw e;
        }
    }

    /**
     * The servers, in the order of their start: that which began as the primary first.
     *
     * @return running servers and others
     */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /**
     * The sentinels. They cannot be restarted.
     *
     * @return three
     */
    public List<RedisServer> sentinels() {
        return List.copyOf(sentinels);
    }

    /**
     * Its address.
     *
     * @return a {@code redis-sentinel://} URI with all sentinels and the primary's name
     */
    public String uri() {
        return sentinels.stream()
                .map(sentinel -> "127.0.0.1:" + sentinel.port())
                .collect(Collectors.joining(",", "redis-sentinel://", "#" + NAME));
    }

    /**
     * The primary, as the first running sentinel sees it.
     *
     * @return one of the servers
     */
    public RedisServer primary() {
        RedisServer asked = sentinels.stream()
                .filter(RedisServer::isRunning)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no sentinel runs"));
        List<?> address = (List<?>) Objects.requireNonNull(asked.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME));
        return servers.stream()
                .filter(server -> Integer.toString(server.port()).equals(address.get(1)))
                .findFirst()
                .orElseThrow();
    }

    /** Ends all servers and sentinels. */
    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);
    }

    private void run(int replicas) {
        servers.add(RedisServer.member(Scratch.directory("redis"), Loopback.freePort(), config()));
        String port = Integer.toString(servers.get(0).port());
        for (int i = 0; i < replicas; i++) {
            List<String> settings = new ArrayList<>(config());
            settings.addAll(List.of("--replicaof", "127.0.0.1", port));
            servers.add(RedisServer.member(Scratch.directory("redis"), Loopback.freePort(), settings));
        }
        Pause.until(
                "the replicas are in step",
                () -> servers.stream()
                        .skip(1)
                        .allMatch(replica ->
                                ((List<?>) Objects.requireNonNull(replica.command("ROLE"))).contains("connected")));
        for (int i = 0; i < SENTINELS; i++) {
            Path directory = Scratch.directory("redis-sentinel");
            List<String> settings = new ArrayList<>(List.of(sentinelFile(directory, port), "--sentinel"));
            for (int at = 0; at < config.size(); at += 2) {
                if (config.get(at).startsWith("--tls-")) {
                    settings.addAll(config.subList(at, at + 2));
                }
            }
            sentinels.add(RedisServer.member(directory, Loopback.freePort(), settings));
        }
        Pause.until(
                "every sentinel knows the replicas and the other sentinels",
                () -> sentinels.stream().allMatch(sentinel -> {
                    List<?> seen = (List<?>) Objects.requireNonNull(sentinel.command("SENTINEL", "MASTER", NAME));
                    return says(seen, "num-slaves", replicas) && says(seen, "num-other-sentinels", SENTINELS - 1);
                }));
        String downAfter = Long.toString(DOWN_AFTER.toMillis());
        sentinels.forEach(sentinel -> sentinel.command("SENTINEL", "SET", NAME, "down-after-milliseconds", downAfter));
    }

    private List<String> config() {
        List<String> all = new ArrayList<>(List.of("--repl-diskless-sync", "yes", "--repl-ping-replica-period", "1"));
        all.addAll(config);
        return all;
    }

    private String sentinelFile(Path directory, String port) {
        Path file = directory.resolve("sentinel.conf");
        String text = "sentinel monitor " + NAME + " 127.0.0.1 " + port + " 2\n"
                + "sentinel down-after-milliseconds " + NAME + " " + DOWN_AFTER_AT_FIRST.toMillis() + "\n"
                + "sentinel failover-timeout " + NAME + " 6000\n"
                + "sentinel parallel-syncs " + NAME + " 5\n";
        int password = config.indexOf("--requirepass") + 1;
        if (password > 0) {
            text += "sentinel auth-pass " + NAME + " " + config.get(password) + "\n";
        }
        try {
            return Files.writeString(file, text, StandardCharsets.UTF_8).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean says(List<?> seen, String name, int value) {
        int at = seen.indexOf(name);
        return at >= 0 && seen.get(at + 1).equals(Integer.toString(value));
    }
}
