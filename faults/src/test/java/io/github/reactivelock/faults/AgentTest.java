package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.ConsulServer;
import io.github.reactivelock.testservers.EtcdServer;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent of OpenTelemetry changes Reactor, the executors of the JDK and the drivers. Under it, too, a flow sees its
 * own trace and baggage, and what the client does for itself is in the trace of no flow.
 */
class AgentTest {

    /** Its claim and its release, with what a store needs around them; renewals are many more. */
    private static final int COMMANDS_OF_A_LOCK = 6;

    @TempDir
    Path directory;

    @Test
    void flowsAndClientKeepTheirTracesInMemory() throws IOException, InterruptedException {
        assertThat(commandsInTheFirstTrace("memory:")).isZero();
    }

    @Test
    void flowsAndClientKeepTheirTracesOnRedis() throws IOException, InterruptedException {
        try (RedisServer server = RedisServer.start()) {
            assertThat(commandsInTheFirstTrace(server.uri())).isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    /** Its connections are watched by commands. */
    @Test
    void flowsAndClientKeepTheirTracesOverALettuceClientOfTheApplication() throws IOException, InterruptedException {
        try (RedisServer server = RedisServer.start()) {
            assertThat(commandsInTheFirstTrace("users:" + server.uri())).isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnRedisThroughVertx() throws IOException, InterruptedException {
        try (RedisServer server = RedisServer.start()) {
            assertThat(commandsInTheFirstTrace("vertx:" + server.uri())).isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnEtcd() throws IOException, InterruptedException {
        try (EtcdServer server = EtcdServer.start()) {
            assertThat(commandsInTheFirstTrace("etcd:" + server.uri())).isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnZooKeeper() throws Exception {
        try (TestingServer server = new TestingServer()) {
            assertThat(commandsInTheFirstTrace("zookeeper:" + server.getConnectString()))
                    .isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnPostgres() throws IOException, InterruptedException {
        try (PostgresServer server = PostgresServer.start("-c", "max_connections=300")) {
            assertThat(commandsInTheFirstTrace(server.url())).isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnMariaDb() throws IOException, InterruptedException {
        try (MariaDbServer server = MariaDbServer.start()) {
            String address = "r2dbc:mariadb://root@127.0.0.1:" + server.port() + "/mysql";
            assertThat(commandsInTheFirstTrace(address)).isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnConsul() throws IOException, InterruptedException {
        try (ConsulServer server = ConsulServer.start()) {
            assertThat(commandsInTheFirstTrace("consul:127.0.0.1:" + server.port()))
                    .isLessThan(COMMANDS_OF_A_LOCK);
        }
    }

    @Test
    void flowsAndClientKeepTheirTracesOnAQuorum() throws IOException, InterruptedException {
        List<RedisServer> servers = Stream.generate(RedisServer::start).limit(3).toList();
        try {
            QuorumStore.untilTheyCount(servers, Traced.LONGEST_LEASE);
            String address = servers.stream().map(RedisServer::uri).collect(Collectors.joining(",", "quorum:", ""));
            assertThat(commandsInTheFirstTrace(address)).isLessThan(3 * COMMANDS_OF_A_LOCK);
        } finally {
            servers.forEach(RedisServer::close);
        }
    }

    /** Its driver blocks, so it works on threads of ours. */
    @Test
    void flowsAndClientKeepTheirTracesOnH2() throws IOException, InterruptedException {
        String address = "r2dbc:h2:mem:///traced?options=DB_CLOSE_DELAY=-1";
        assertThat(commandsInTheFirstTrace(address)).isLessThan(COMMANDS_OF_A_LOCK);
    }

    private long commandsInTheFirstTrace(String address) throws IOException, InterruptedException {
        List<String> said = run(address);
        assertThat(said.stream().filter(line -> line.startsWith("saw "))).isNotEmpty();
        assertThat(said).noneMatch(line -> line.startsWith("saw ANOTHER'S"));
        String first = said.stream()
                .filter(line -> line.startsWith("first "))
                .findFirst()
                .orElseThrow()
                .substring("first ".length());
        Pattern command = Pattern.compile("LoggingSpanExporter - '(?!first').*' : " + first + " ");
        return said.stream().filter(line -> command.matcher(line).find()).count();
    }

    private List<String> run(String address) throws IOException, InterruptedException {
        String libraries = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Path printed = directory.resolve("printed.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-javaagent:" + agent(libraries),
                        "-Dotel.traces.exporter=console",
                        "-Dotel.metrics.exporter=none",
                        "-Dotel.logs.exporter=none",
                        "-Dlogback.configurationFile=logback-faults.xml",
                        "-Xmx384m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        libraries,
                        Traced.class.getName(),
                        address)
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            boolean hasEnded = process.waitFor(12, TimeUnit.MINUTES);
            assertThat(hasEnded)
                    .as("it ends, after " + Files.readString(printed))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        List<String> said = Files.readAllLines(printed);
        assertThat(said)
                .withFailMessage(() -> said.stream()
                        .filter(line -> !line.contains("LoggingSpanExporter") && !line.startsWith("saw its own"))
                        .skip(2) // the machine's and the agent's greetings
                        .collect(Collectors.joining("\n")))
                .contains("done");
        return said;
    }

    private static String agent(String libraries) {
        return Arrays.stream(libraries.split(Pattern.quote(System.getProperty("path.separator"))))
                .filter(path -> Path.of(path).getFileName().toString().startsWith("opentelemetry-javaagent-"))
                .findFirst()
                .orElseThrow();
    }
}
