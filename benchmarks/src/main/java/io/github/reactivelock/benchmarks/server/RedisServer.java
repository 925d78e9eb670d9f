package io.github.reactivelock.benchmarks.server;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/** Our own Redis: {@code redis-server} from the PATH, else the one of the embedded-redis library. */
public final class RedisServer implements Server {

    private static final Pattern CALLS = Pattern.compile("cmdstat_([^:]+):calls=(\\d+),usec=(\\d+),.*");

    private final int port = ServerProcess.freePort();
    private final ServerProcess process;
    private final RedisClient client;
    private final RedisCommands<String, String> redis;

    RedisServer() {
        this.process = new ServerProcess("Redis", this::command);
        process.awaitPort(port);
        this.client = RedisClient.create(uri());
        this.redis = client.connect().sync();
    }

    private List<String> command(Path directory) {
        return List.of(
                program(directory).toString(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                directory.toString(),
                "--save",
                "",
                "--appendonly",
                "no");
    }

    @Override
    public String uri() {
        return "redis://127.0.0.1:" + port;
    }

    @Override
    public String version() {
        return "Redis " + info("server", "redis_version");
    }

    @Override
    public Usage usage(String side) {
        Map<String, Long> calls = new TreeMap<>();
        Map<String, Long> micros = new TreeMap<>();
        redis.info("commandstats").lines().map(CALLS::matcher).forEach(line -> {
            if (line.matches()) {
                calls.put(line.group(1), Long.valueOf(line.group(2)));
                micros.put(line.group(1), Long.valueOf(line.group(3)));
            }
        });
        double scripts = micros.getOrDefault("evalsha", 0L) + micros.getOrDefault("eval", 0L);
        double seconds =
                Double.parseDouble(info("cpu", "used_cpu_user")) + Double.parseDouble(info("cpu", "used_cpu_sys"));
        return Usage.of(calls, seconds, scripts, side);
    }

    @Override
    public List<Long> pids() {
        return List.of(process.pid());
    }

    public long keys() {
        return redis.dbsize();
    }

    public void flush() {
        redis.flushall();
    }

    private String info(String section, String field) {
        return redis.info(section)
                .lines()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(field.length() + 1).strip())
                .findFirst()
                .orElse("unknown");
    }

    private static Path program(Path directory) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        Optional<Path> found = Stream.of(path.split(File.pathSeparator))
                .map(entry -> Path.of(entry, "redis-server"))
                .filter(Files::isExecutable)
                .findFirst();
        try {
            return found.isPresent()
                    ? found.get()
                    : ExecutableProvider.newJarResourceProvider(directory.toFile())
                            .get()
                            .toPath();
        } catch (IOException e) {
            throw new UncheckedIOException("no redis-server on the PATH, and none for this machine", e);
        }
    }

    @Override
    public void close() {
        client.shutdown();
        process.close();
    }
}
