package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * New projects as a user makes them, on the supported lines of Spring Boot, with the versions that Boot gives them: one
 * dependency and under ten lines before the first lock. They are built by Maven and run from their jars.
 */
class NewProjectsIT {

    private static final List<String> BOOT_4 = List.of("4.0.9", "4.1.2");
    private static final NewProject OLD = new NewProject("boot-3.5", "3.5.16");

    @TempDir
    private static Path directory;

    @BeforeAll
    static void build() throws Exception {
        assumeTrue(System.getProperty("reactivelock.maven.home") != null, "run by Maven only, which tells where it is");
        NewProject.build(
                directory,
                Stream.of(shops(), jobs(), Stream.of(OLD)).flatMap(all -> all).toList());
    }

    static Stream<NewProject> shops() {
        return BOOT_4.stream().map(boot -> new NewProject("webflux-redis", boot));
    }

    static Stream<NewProject> jobs() {
        return BOOT_4.stream().map(boot -> new NewProject("r2dbc-postgresql", boot));
    }

    /** An application that runs, and what it prints. */
    private record Running(Process process, BufferedReader out) implements AutoCloseable {

        static Running start(NewProject project, String... arguments) throws IOException {
            ProcessBuilder command = new ProcessBuilder(
                    System.getProperty("java.home") + "/bin/java",
                    "-Xmx256m",
                    "-XX:TieredStopAtLevel=1",
                    "-jar",
                    project.jar(directory).toString());
            command.command().addAll(List.of(arguments));
            Process process = command.redirectErrorStream(true).start();
            return new Running(process, process.inputReader());
        }

        Matcher until(String expected) throws IOException {
            Pattern pattern = Pattern.compile(expected);
            StringBuilder said = new StringBuilder();
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                said.append(line).append('\n');
                Matcher found = pattern.matcher(line);
                if (found.find()) {
                    return found;
                }
            }
            throw new AssertionError("the application ended before it said " + expected + ":\n" + said);
        }

        @Override
        public void close() throws IOException {
            // Not by the process itself, which would close what it still has to say.
            assertThat(process.toHandle().destroy()).isTrue();
            String rest = String.join("\n", out.lines().toList());
            try {
                assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(rest).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            assertThat(rest).doesNotContain("Exception");
        }
    }

    private static String paid(String port) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/orders/42/pay"))
                .POST(HttpRequest.BodyPublishers.noBody())
                .timeout(Contexts.PATIENCE)
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private static void sells(NewProject shop) throws Exception {
        try (RedisServer server = RedisServer.start()) {
            try (Running application =
                    Running.start(shop, "--server.port=0", "--spring.data.redis.url=" + server.uri())) {
                String port = application.until("Netty started on port (\\d+)").group(1);

                String first = paid(port);
                String second = paid(port);

                assertThat(first).startsWith("paid under token ");
                assertThat(second).startsWith("paid under token ").isNotEqualTo(first);
            }
            assertThat(server.command("EXISTS", "{reactivelock:order:42}")).isEqualTo(0L);
        }
    }

    @ParameterizedTest
    @MethodSource("shops")
    void webFluxWithRedis(NewProject shop) throws Exception {
        sells(shop);

        assertThat(shop.libraries(directory))
                .anyMatch(library -> library.startsWith("lettuce-core-"))
                .noneMatch(library -> library.matches("(jetcd|curator|zookeeper|vertx|grpc|r2dbc-postgresql).*"));
        assertThat(shop.ownLines()).hasSizeLessThan(10);
    }

    @ParameterizedTest
    @MethodSource("jobs")
    void aClusteredJobInPostgreSql(NewProject jobs) throws Exception {
        try (PostgresServer database = PostgresServer.start();
                Running application = Running.start(
                        jobs,
                        "--spring.r2dbc.url=r2dbc:postgresql://127.0.0.1:" + database.port() + "/postgres",
                        "--spring.r2dbc.username=postgres")) {
            assertThat(application.until("^written$").hitEnd()).isTrue();
            assertThat(application.until("^written$").hitEnd()).isTrue();
        }

        assertThat(jobs.libraries(directory))
                .anyMatch(library -> library.startsWith("r2dbc-postgresql-"))
                .noneMatch(library -> library.matches("(lettuce|spring-web|jetcd|curator|zookeeper|vertx|grpc).*"));
        assertThat(jobs.ownLines()).hasSizeLessThan(10);
    }

    @Test
    void boot35WithAClientMadeByHand() throws Exception {
        sells(OLD);
    }
}
