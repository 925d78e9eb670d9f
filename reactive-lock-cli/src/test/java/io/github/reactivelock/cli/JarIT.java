package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.Tls;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The jar as it is handed out, in a process of its own. */
class JarIT {

    private static final Path JAR = Path.of("target", "reactive-lock.jar").toAbsolutePath();
    private static final List<String> INTERRUPTIBLE = interruptible();

    private static RedisServer server;
    private static LockClient application;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        application = LockClient.builder(LettuceLockBackend.connect(server.uri()))
                .name("shop-3")
                .commandTimeout(StoreCases.LIMIT)
                .build();
    }

    @AfterAll
    static void stop() {
        application.close().block(StoreCases.LIMIT);
        server.close();
    }

    private static Process start(List<String> java, Map<String, String> environment, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(INTERRUPTIBLE);
        command.addAll(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(java);
        command.addAll(List.of("-jar", JAR.toString(), "--timeout", "60s"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static Process start(String... arguments) throws IOException {
        return start(List.of(), Map.of(), arguments);
    }

    private static Program.Ended end(Process process) throws Exception {
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(Program.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return new Program.Ended(process.exitValue(), out, err);
    }

    private static void interrupt(Process process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-INT", "" + process.pid())
                        .start()
                        .waitFor())
                .isZero();
        assertThat(process.waitFor(Program.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** A script's background jobs ignore SIGINT, and so does what they start, unless it is said otherwise. */
    private static List<String> interruptible() {
        List<String> command = List.of("env", "--default-signal=INT");
        try {
            List<String> probe = new ArrayList<>(command);
            probe.add("true");
            return new ProcessBuilder(probe).start().waitFor() == 0 ? command : List.of();
        } catch (IOException e) {
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    @Test
    void itKnowsItsVersion() throws Exception {
        String pom = Files.readString(Path.of("pom.xml"));
        String version = pom.replaceFirst("(?s).*?<version>([^<]+)</version>.*", "$1");

        assertThat(end(start("--version")).out().strip()).isEqualTo("reactive-lock " + version);
    }

    @Test
    void itPrintsOneDocumentAndLogsNothing() throws Exception {
        LockHandle held = application.acquire("order:42").block(StoreCases.LIMIT);

        Program.Ended ended = end(start("show", "--json", "order:42", "-s", server.uri()));

        assertThat(ended.err()).isEmpty();
        assertThat(new JsonObject(ended.out()).getString("owner")).isEqualTo("shop-3");
        assertThat(ended.code()).isZero();
        held.release().block(StoreCases.LIMIT);
    }

    /** Drivers find their parts by files that many jars have, and that are merged. */
    @ParameterizedTest
    @CsvSource({
        "redis://127.0.0.1:1, Connection refused",
        "redis-cluster://127.0.0.1:1, cluster",
        "etcd://127.0.0.1:1, Connection refused",
        "zookeeper://127.0.0.1:1, Connection refused",
        "consul://127.0.0.1:10, Connection refused", // its client reads ports of two digits and more
        "r2dbc:postgresql://nobody@127.0.0.1:1/none, Connection refused",
        "r2dbc:mariadb://nobody@127.0.0.1:1/none, refused",
        "r2dbc:mysql://nobody@127.0.0.1:1/none, Connection refused",
        "r2dbc:h2:mem:///none, has no tables"
    })
    void everyDriverIsInItAndSaysWhatIsWrongInOneLine(String url, String words) throws Exception {
        Program.Ended ended = end(start("--timeout", "20s", "ls", "-s", url));

        assertThat(ended.err()).contains(words).contains(url.replace("nobody@", ""));
        assertThat(ended.err().lines()).hasSize(1);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.code()).isEqualTo(3);
    }

    @Test
    void ctrlCEndsAWatchAndClosesTheConnection() throws Exception {
        Process watch = start("watch", "order:43", "-s", server.uri());
        BufferedReader lines = watch.inputReader();
        assertThat(lines.readLine()).endsWith("  free");
        LockHandle held = application.acquire("order:43").block(StoreCases.LIMIT);
        assertThat(lines.readLine()).contains("  acquired  ");

        interrupt(watch);

        assertThat(lines.readLine()).isNull();
        Program.Ended ended = end(watch);
        assertThat(ended.err()).isEmpty();
        assertThat(ended.code()).isEqualTo(130);
        held.release().block(StoreCases.LIMIT);
    }

    /** MariaDB counts the clients that end without a word. */
    @Test
    void ctrlCTakesLeaveOfTheStore() throws Exception {
        try (MariaDbServer database = MariaDbServer.start()) {
            R2dbcLockBackend backend = R2dbcLockBackend.connect(
                    ConnectionFactories.get(database.url("mariadb")),
                    R2dbcBackendOptions.defaults().withCommandTimeout(StoreCases.LIMIT));
            backend.createTables().block(StoreCases.LIMIT);
            backend.close().block(StoreCases.LIMIT);
            long before = deserted(database);
            Process watch = start("watch", "order:44", "-s", database.url("mariadb"));
            assertThat(watch.inputReader().readLine()).endsWith("  free");

            interrupt(watch);

            assertThat(end(watch).code()).isEqualTo(130);
            assertThat(deserted(database)).isEqualTo(before);
        }
    }

    private static long deserted(MariaDbServer database) {
        return Mono.usingWhen(
                        ConnectionFactories.get(database.url("mariadb")).create(),
                        connection -> Flux.from(connection
                                        .createStatement("SHOW GLOBAL STATUS LIKE 'Aborted_clients'")
                                        .execute())
                                .concatMap(result -> result.map((row, metadata) -> row.get(1, String.class)))
                                .next(),
                        Connection::close)
                .map(Long::parseLong)
                .block(StoreCases.LIMIT);
    }

    @Test
    void aWatchEndsWhenNobodyReadsIt() throws Exception {
        Process watch = start("watch", "order:45", "-s", server.uri());
        assertThat(watch.inputReader().readLine()).endsWith("  free");

        watch.getInputStream().close();
        long deadline = System.nanoTime() + Program.LIMIT.toNanos();
        while (watch.isAlive() && System.nanoTime() - deadline < 0) {
            var unused = application.withLock("order:45", Mono.just(1)).block(StoreCases.LIMIT);
        }

        String err = new String(watch.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(err).isEmpty();
        assertThat(watch.waitFor()).isZero();
    }

    @Test
    void aPasswordIsReadFromAPipeAndTlsTrustsWhatTheJvmDoes() throws Exception {
        Tls tls = Tls.in(directory);
        try (RedisServer secret = RedisServer.start(tls.redis("pa/s@s"))) {
            List<String> trust = List.of(
                    "-Djavax.net.ssl.trustStore=" + tls.trustStore(),
                    "-Djavax.net.ssl.trustStorePassword=" + Tls.STORE_PASSWORD);
            String url = "rediss://127.0.0.1:" + secret.port();

            Process asked = start(trust, Map.of(), "show", "a", "--ask-password", "-s", url);
            asked.outputWriter().append("pa/s@s\n").close();
            assertThat(end(asked).out()).contains("state  free");

            Program.Ended known =
                    end(start(trust, Map.of(Environment.PASSWORD, "pa/s@s", Environment.STORE, url), "show", "a"));
            assertThat(known.err()).isEmpty();
            assertThat(known.out()).contains("state  free");

            Program.Ended untrusted =
                    end(start(List.of(), Map.of(Environment.PASSWORD, "pa/s@s", Environment.STORE, url), "show", "a"));
            assertThat(untrusted.err()).contains("cannot agree on TLS").doesNotContain("pa/s@s");
            assertThat(untrusted.code()).isEqualTo(3);
        }
    }

    @Test
    void bashCompletesCommandsAndOptions() throws Exception {
        Path script = Files.writeString(
                directory.resolve("completion"), end(start("completion")).out());

        assertThat(completed(script, "reactive-lock", "re")).containsExactly("release");
        assertThat(completed(script, "reactive-lock", "release", "--fo")).containsExactly("--force");
    }

    private static List<String> completed(Path script, String... words) throws Exception {
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        "source " + script + "; COMP_WORDS=(" + String.join(" ", words) + "); COMP_CWORD="
                                + (words.length - 1) + "; _complete_reactive-lock; printf '%s\\n' \"${COMPREPLY[@]}\"")
                .start();
        return end(bash).out().lines().map(String::strip).toList();
    }
}
