package io.github.reactivelock.fuzzing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.reactivelock.cli.CliTargets;
import io.github.reactivelock.consul.ConsulTargets;
import io.github.reactivelock.etcd.EtcdTargets;
import io.github.reactivelock.r2dbc.SqlTargets;
import io.github.reactivelock.redis.RedisTargets;
import io.github.reactivelock.vertx.VertxTargets;
import io.github.reactivelock.zookeeper.ZooKeeperTargets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/** What Jazzer calls. The first byte of an input chooses a target, and the rest is its text. */
public final class Fuzz {

    private static final List<Target> TARGETS = Stream.of(
                    RedisTargets.all(),
                    EtcdTargets.all(),
                    ZooKeeperTargets.all(),
                    ConsulTargets.all(),
                    SqlTargets.all(),
                    VertxTargets.all(),
                    CliTargets.all())
            .flatMap(List::stream)
            .toList();

    static {
        ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.OFF);
    }

    private Fuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        run(TARGETS, input);
    }

    static void run(List<Target> targets, byte[] input) {
        if (input.length == 0) {
            return;
        }
        Target target = targets.get(Math.floorMod(input[0] - 'A', targets.size()));
        String text = new String(input, 1, input.length - 1, StandardCharsets.UTF_8);
        try {
            target.reader().accept(text);
        } catch (Throwable e) {
            throw new AssertionError(target.name() + " on " + text, e);
        }
    }

    static void writeSeeds(Path folder) throws IOException {
        writeSeeds(TARGETS, folder);
    }

    static void writeSeeds(List<Target> targets, Path folder) throws IOException {
        for (int i = 0; i < targets.size(); i++) {
            List<String> seeds = new ArrayList<>(targets.get(i).seeds());
            for (int j = 0; j < seeds.size(); j++) {
                Files.writeString(folder.resolve(i + "-" + j), (char) ('A' + i) + seeds.get(j));
            }
        }
    }
}
