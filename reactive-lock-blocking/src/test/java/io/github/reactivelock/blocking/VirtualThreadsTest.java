package io.github.reactivelock.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Ten thousand virtual threads wait for one lock in Redis, on each JDK from 21 on that is here: that of the build,
 * those that {@code config/newest-servers jdk21 jdk25} unpacks, and those of the system. In CI there has to be one.
 */
class VirtualThreadsTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"(\\d+)");

    @Test
    void tenThousandWaitersPinNoThread() throws Exception {
        Map<Integer, Path> jdks = jdks();
        if (jdks.isEmpty()) {
            String missing = "no JDK 21 or newer is here; config/newest-servers jdk25 unpacks one";
            if (System.getenv("CI") != null) {
                fail(missing);
            }
            abort(missing);
        }
        for (Map.Entry<Integer, Path> jdk : jdks.entrySet()) {
            String said = run(jdk.getValue());

            System.out.println("JDK " + jdk.getKey() + ": " + said.strip());
            assertThat(number(said, "waiters")).isEqualTo(VirtualWaiters.MANY);
            assertThat(number(said, "served")).isEqualTo(VirtualWaiters.MANY);
            assertThat(number(said, "pinned on purpose")).as(said).isPositive();
            assertThat(number(said, "pinned")).as(said).isZero();
            assertThat(number(said, "bytes a waiter")).as(said).isPositive().isLessThan(VirtualWaiters.MOST_BYTES);
        }
    }

    /** One of each version. */
    private static Map<Integer, Path> jdks() throws IOException {
        List<Path> homes = new ArrayList<>(List.of(
                ROOT.resolve("target/servers/jdk21/home"),
                ROOT.resolve("target/servers/jdk25/home"),
                Path.of(System.getProperty("java.home"))));
        Path system = Path.of("/usr/lib/jvm");
        if (Files.isDirectory(system)) {
            try (Stream<Path> all = Files.list(system)) {
                all.sorted().forEach(homes::add);
            }
        }
        Map<Integer, Path> jdks = new TreeMap<>();
        for (Path home : homes) {
            Path release = home.resolve("release");
            Matcher version = VERSION.matcher(Files.isRegularFile(release) ? Files.readString(release) : "");
            if (version.find() && Integer.parseInt(version.group(1)) >= 21 && Files.exists(home.resolve("bin/java"))) {
                jdks.putIfAbsent(Integer.parseInt(version.group(1)), home);
            }
        }
        return jdks;
    }

    private static String run(Path jdk) throws Exception {
        try (RedisServer server = RedisServer.start()) {
            Process process = new ProcessBuilder(
                            jdk.resolve("bin/java").toString(),
                            "-Xmx512m",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            VirtualWaiters.class.getName(),
                            server.uri())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
            return said;
        }
    }

    private static long number(String said, String of) {
        Matcher number =
                Pattern.compile("(?m)\\b" + Pattern.quote(of) + ": (\\d+)").matcher(said);
        assertThat(number.find()).as(said).isTrue();
        return Long.parseLong(number.group(1));
    }
}
