package io.github.reactivelock.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.testservers.RedisServer;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application that is a module names the one of ours that it uses, and starts without further options. */
class ModulePathTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern ARTIFACT = Pattern.compile(
            "\\d+ (?<group>[^:]+):(?<name>[^:]+):jar:((?<classifier>[^:]+):)?(?<version>[^:]+):(?<scope>compile|runtime|test)");

    /** The driver that an application of the test brings itself. */
    private static final Set<String> DRIVERS = Set.of("r2dbc-h2", "h2");

    @TempDir
    private Path directory;

    @Test
    void aLockInTheProcess() throws Exception {
        String said = run("core", """
                var lock = io.github.reactivelock.LockClient.create(
                        io.github.reactivelock.memory.InMemoryLockBackend.create());
                System.out.println(lock.withLock("a", reactor.core.publisher.Mono.just("it was taken")).block());
                lock.close().block();
                """);

        assertThat(said).contains("it was taken");
    }

    @Test
    void aLockForCodeThatBlocks() throws Exception {
        String said = run("blocking", """
                var client = io.github.reactivelock.LockClient.create(
                        io.github.reactivelock.memory.InMemoryLockBackend.create());
                var lock = io.github.reactivelock.blocking.BlockingLockClient.of(client).asLock("a");
                lock.lock();
                lock.unlock();
                System.out.println("it was taken");
                client.close().block();
                """);

        assertThat(said).contains("it was taken");
    }

    @Test
    void aLockInRedisThroughLettuce() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            String said = run("lettuce", """
                    var lock = io.github.reactivelock.LockClient.create(
                            io.github.reactivelock.lettuce.LettuceLockBackend.connect("%s"));
                    System.out.println(lock.withLock("a", reactor.core.publisher.Mono.just("it was taken")).retry(3).block());
                    lock.close().block();
                    """.formatted(server.uri()));

            assertThat(said).contains("it was taken");
        }
    }

    @Test
    void aQuorumComesWithTheModuleOfItsNodes() throws Exception {
        String said = run("lettuce", """
                var node = io.github.reactivelock.memory.InMemoryLockBackend.create();
                var nodes = io.github.reactivelock.quorum.QuorumLockBackend.of(node, node.connect(), node.connect());
                System.out.println(nodes);
                """);

        assertThat(said).contains("quorum of");
    }

    @Test
    void aLockInRedisThroughVertx() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            String said = run("vertx", """
                    var vertx = io.vertx.core.Vertx.vertx();
                    var lock = io.github.reactivelock.vertx.VertxLockClient.create(
                            vertx, new io.vertx.redis.client.RedisOptions().setConnectionString("%s"));
                    java.util.function.Supplier<io.vertx.core.Future<String>> work =
                            () -> io.vertx.core.Future.succeededFuture("it was taken");
                    System.out.println(lock.withLock("a", work)
                            .recover(error -> lock.withLock("a", work))
                            .toCompletionStage().toCompletableFuture().get());
                    lock.close().toCompletionStage().toCompletableFuture().get();
                    vertx.close().toCompletionStage().toCompletableFuture().get();
                    """.formatted(server.uri()));

            assertThat(said).contains("it was taken");
        }
    }

    @Test
    void aLockInADatabase() throws Exception {
        String said = run("r2dbc", """
                var backend = io.github.reactivelock.r2dbc.R2dbcLockBackend.connect("r2dbc:h2:mem:///locks");
                backend.createTables().block();
                var lock = io.github.reactivelock.LockClient.create(backend);
                System.out.println(lock.withLock("a", reactor.core.publisher.Mono.just("it was taken")).retry(3).block());
                lock.close().block();
                """, "java.sql"); // H2 needs it and, being no module, cannot say so

        assertThat(said).contains("it was taken");
    }

    /** Compiles a module that requires one of ours, and runs it with nothing but a module path. */
    private String run(String module, String body, String... others) throws Exception {
        Path sources = Files.createDirectories(directory.resolve("sources/consumer"));
        Path info = directory.resolve("sources/module-info.java");
        StringBuilder required = new StringBuilder("requires io.github.reactivelock." + module + ";");
        for (String other : others) {
            required.append("requires ").append(other).append(';');
        }
        Files.writeString(info, "module consumer {" + required + "}");
        Path main = sources.resolve("Main.java");
        Files.writeString(
                main,
                "package consumer; public class Main { public static void main(String[] args) throws Exception {" + body
                        + "}}");
        String path = modulePath("reactive-lock-" + module);
        StringWriter told = new StringWriter();
        PrintWriter out = new PrintWriter(told);
        ToolProvider javac = ToolProvider.findFirst("javac").orElseThrow();
        int compiled = javac.run(
                out, out, "-p", path, "-d", directory.resolve("classes").toString(), info.toString(), main.toString());
        assertThat(compiled).as(told.toString()).isZero();

        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-p",
                        directory.resolve("classes") + File.pathSeparator + path,
                        "-m",
                        "consumer/consumer.Main")
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    /** What Maven gives to a user of the module, our own jars as they were just made. */
    private static String modulePath(String module) throws IOException {
        String repository = System.getProperty("reactivelock.maven.repository", "");
        assumeTrue(!repository.isEmpty(), "run by Maven only, which tells where the libraries are");
        List<String> jars = new ArrayList<>(List.of(jar(module)));
        for (String line : Files.readAllLines(ROOT.resolve(module).resolve("target/tested-dependencies.tgf"))) {
            Matcher artifact = ARTIFACT.matcher(line);
            boolean isThere = artifact.matches();
            String name = isThere ? artifact.group("name") : "";
            if (!isThere || (artifact.group("scope").equals("test") && !DRIVERS.contains(name))) {
                continue;
            }
            String version = artifact.group("version");
            String classifier = artifact.group("classifier") == null ? "" : "-" + artifact.group("classifier");
            jars.add(
                    artifact.group("group").equals("io.github.reactivelock")
                            ? jar(name)
                            : String.join(
                                            "/",
                                            repository,
                                            artifact.group("group").replace('.', '/'),
                                            name,
                                            version) + "/" + name + "-" + version + classifier + ".jar");
        }
        return String.join(File.pathSeparator, jars);
    }

    private static String jar(String module) throws IOException {
        try (Stream<Path> made = Files.list(ROOT.resolve(module).resolve("target"))) {
            Set<String> none = Set.of("sources", "javadoc", "tests");
            List<String> jars = made.map(Path::toString)
                    .filter(file -> file.endsWith(".jar"))
                    .filter(file -> none.stream().noneMatch(kind -> file.endsWith("-" + kind + ".jar")))
                    .toList();
            assumeTrue(!jars.isEmpty(), "the jars are made by 'mvn package'");
            return jars.get(0);
        }
    }
}
