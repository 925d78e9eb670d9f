package io.github.reactivelock.benchmarks.report;

import io.lettuce.core.RedisClient;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.provider.r2dbc.R2dbcLockProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.redisson.Redisson;
import org.springframework.boot.SpringApplication;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import reactor.core.publisher.Mono;

/** The machine and software of the figures. The caller gives the servers; this class looks up the rest. */
public record Machine(List<String> servers) {

    String text() {
        List<String> lines = new ArrayList<>();
        lines.add(LocalDate.now(java.time.ZoneOffset.UTC) + ", by `benchmarks/run`");
        lines.add(processors());
        lines.add(System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java "
                + System.getProperty("java.vm.version"));
        lines.addAll(servers);
        Stream.of(
                        RedisClient.class,
                        Redisson.class,
                        Mono.class,
                        RedisLockRegistry.class,
                        io.etcd.jetcd.Client.class,
                        InterProcessMutex.class,
                        JdbcLockRegistry.class,
                        R2dbcLockProvider.class,
                        SpringApplication.class)
                .map(Machine::library)
                .forEach(lines::add);
        return "- " + String.join("\n- ", lines) + "\n";
    }

    /** The name of the jar that a class comes from. */
    private static String library(Class<?> of) {
        URI jar = URI.create(
                of.getProtectionDomain().getCodeSource().getLocation().toString());
        String name = String.valueOf(Path.of(jar).getFileName());
        return name.substring(0, name.length() - ".jar".length());
    }

    private static String processors() {
        int count = Runtime.getRuntime().availableProcessors();
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return count + " processors, "
                    + lines.filter(line -> line.startsWith("model name"))
                            .map(line -> line.substring(line.indexOf(':') + 1).strip())
                            .findFirst()
                            .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return count + " processors, " + System.getProperty("os.arch");
        }
    }
}
