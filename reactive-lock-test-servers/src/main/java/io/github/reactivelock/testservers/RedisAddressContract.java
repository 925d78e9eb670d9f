package io.github.reactivelock.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Mono;

/**
 * JUnit test cases for the message of a client library when the address, the password or the kind of Redis is wrong.
 * Extend it and say how to connect. The failure of {@code withLock} is one line that names the address, says what
 * happened and what to do, and repeats no password.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class RedisAddressContract {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String SECRET = "marker-secret";

    private RedisServer plain;
    private RedisServer secured;
    private RedisServer encrypted;
    private RedisSentinel sentinel;
    private RedisCluster cluster;
    private int tlsPort;

    /** For subclasses. */
    protected RedisAddressContract() {}

    /**
     * A way to lock.
     *
     * @param uri of a single server
     * @return a backend that has not connected yet
     */
    protected abstract LockBackend server(String uri);

    /**
     * A way to lock.
     *
     * @param port of a sentinel at 127.0.0.1
     * @param name what the sentinels call the primary
     * @return a backend that has not connected yet
     */
    protected abstract LockBackend sentinel(int port, String name);

    /**
     * A way to lock.
     *
     * @param uri of a node of a cluster
     * @return a backend that has not connected yet
     */
    protected abstract LockBackend cluster(String uri);

    @BeforeAll
    void start() {
        plain = RedisServer.start();
        secured = RedisServer.start("--requirepass", "right");
        sentinel = RedisSentinel.start(0);
        cluster = RedisCluster.start(2, 0, "--cluster-node-timeout", "60000"); // a node that was silent says only that
        Path directory = Scratch.directory("redis-tls");
        tlsPort = Loopback.freePort();
        encrypted = RedisServer.member(directory, Loopback.freePort(), tls(directory));
        loadTls();
    }

    /** The first handshake of a JVM may take a busy machine longer than a client waits for a connection. */
    private void loadTls() {
        LockClient client = LockClient.builder(server(uri("rediss", tlsPort)))
                .commandTimeout(PATIENCE)
                .build();
        assertThat(failure(client)).isInstanceOf(LockUnavailableException.class);
        client.close().block(LIMIT);
    }

    @AfterAll
    void stop() {
        Stream.of(plain, secured, encrypted, sentinel, cluster)
                .filter(Objects::nonNull)
                .forEach(RedisAddressContract::close);
    }

    @TestFactory
    Stream<DynamicTest> whoeverConnectsInAWrongWayIsToldSoInOneLine() {
        int closedPort = Loopback.freePort();
        int sentinelPort = sentinel.sentinels().get(0).port();
        return Stream.of(
                told("TLS to a plain port", uri("rediss", plain.port()), "does not speak TLS on this port", "redis://"),
                told("a plain connection to a TLS port", uri("redis", tlsPort), "TLS on this port", "rediss://"),
                told("a certificate that is not trusted", uri("rediss", tlsPort), "TLS", "trust its certificate"),
                told("no password", secured.uri(), "NOAUTH", "put user and password into the URI"),
                told("a wrong password", uri("redis", secured.port()), "WRONGPASS", "check those in the URI"),
                told("a wrong database", plain.uri() + "/99", "has no database 99", "choose a lower number"),
                told("a sentinel as a server", "redis://127.0.0.1:" + sentinelPort, "if it is a sentinel", "sentinel"),
                told(
                        "a node of a cluster as a server",
                        cluster.nodes().get(0).uri(),
                        "one node of a cluster",
                        "cluster"),
                told(
                        "a database of a cluster",
                        cluster.nodes().get(0).uri() + "/1",
                        "database 1", // Valkey 9 has more than one where it is set so
                        "cluster"),
                told("no server there", "redis://127.0.0.1:" + closedPort, "cannot be reached", "is it running there"),
                test(
                        "an unknown host",
                        "nowhere.invalid:6379",
                        () -> server("redis://nowhere.invalid"),
                        "cannot be found",
                        "spelled right"),
                test(
                        "a server as a sentinel",
                        address(plain.port()),
                        () -> sentinel(plain.port(), "locks"),
                        "is no sentinel",
                        "as to a single server"),
                test(
                        "a name that no sentinel knows",
                        address(sentinelPort),
                        () -> sentinel(sentinelPort, "strange"),
                        "names no primary",
                        "check the name",
                        "strange"),
                test(
                        "no sentinel there",
                        address(closedPort),
                        () -> sentinel(closedPort, "locks"),
                        "cannot be reached",
                        "is it running there"),
                test(
                        "a server as a cluster",
                        address(plain.port()),
                        () -> cluster(plain.uri()),
                        "is no cluster",
                        "as to a single server"),
                test(
                        "no cluster there",
                        address(closedPort),
                        () -> cluster("redis://127.0.0.1:" + closedPort),
                        "cannot be reached",
                        "is it running there"));
    }

    @Test
    void aDatabaseInTheAddressOfAClusterIsRefusedAtOnce() {
        String node = cluster.nodes().get(0).uri();
        assertThatThrownBy(() -> cluster(node + "/3"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(address(cluster.nodes().get(0).port()), "database 3", "withPrefix");
        cluster(node + "/0").close().block(LIMIT);
    }

    /** Renamed for all, or denied to one user. */
    @Test
    void aServerWithoutACommandThatLocksNeedIsRefusedAtTheFirstCall() {
        for (String command : List.of("TIME", "PUBLISH")) {
            try (RedisServer renamed = RedisServer.start("--rename-command", command, "");
                    RedisServer denying = RedisServer.start()) {
                isRefused(renamed.uri(), renamed.port(), command);

                String user = "ACL SETUSER locks on >" + SECRET + " ~* &* +@all -" + command;
                denying.command(user.split(" "));
                isRefused("redis://locks:" + SECRET + "@" + address(denying.port()), denying.port(), command);
            }
        }
    }

    /** Else a lock would be granted over a cluster, and the first hand-over would fail. */
    @Test
    void aClusterWithoutACommandThatLocksNeedIsRefusedAtTheFirstCall() {
        for (String command : List.of("TIME", "PUBLISH")) {
            try (RedisCluster renamed = RedisCluster.start(1, 0, "--rename-command", command, "")) {
                RedisServer node = renamed.nodes().get(0);
                isRefused(cluster(node.uri()), node.port(), command);
            }
            String user = "ACL SETUSER locks reset on >" + SECRET + " ~* &* +@all -" + command;
            cluster.nodes().forEach(node -> node.command(user.split(" ")));
            int port = cluster.nodes().get(0).port();
            isRefused(cluster("redis://locks:" + SECRET + "@" + address(port)), port, command);
        }
    }

    private void isRefused(String uri, int port, String command) {
        isRefused(server(uri), port, command);
    }

    private static void isRefused(LockBackend backend, int port, String command) {
        LockClient client = LockClient.builder(backend).commandTimeout(PATIENCE).build();
        assertThat(failure(client))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContainingAll(address(port), "scripts cannot run " + command, "rename-command", "+publish");
        client.close().block(LIMIT);
    }

    @Test
    void aUserOfThePrefixIsAskedForNothingThatItMayNot() {
        try (RedisServer server = RedisServer.start()) {
            String user =
                    "ACL SETUSER locks on >" + SECRET + " ~{reactivelock:* &reactivelock:* +@all -@dangerous +info";
            server.command(user.split(" "));
            LockClient client = client("redis://locks:" + SECRET + "@" + address(server.port()));

            assertThat(client.withLock("order:42", Mono.just("done")).block(LIMIT))
                    .isEqualTo("done");
            client.close().block(LIMIT);

            assertThat((List<?>) server.command("ACL", "LOG")).isEmpty();
        }
    }

    /** PUBSUB spares others the lease of one that is gone, and INFO tells of memory; locks go on without them. */
    @Test
    void aServerWithoutACommandThatLocksCanDoWithoutHandsThemOn() {
        try (RedisServer server = RedisServer.start("--rename-command", "PUBSUB", "", "--rename-command", "INFO", "")) {
            LockClient one = client(server.uri());
            LockClient other = client(server.uri());
            LockHandle first = Objects.requireNonNull(one.acquire("order:42").block(LIMIT));
            CompletableFuture<LockHandle> second = other.acquire("order:42").toFuture();
            Pause.until("it waits", () -> waiting(server) == 1);

            first.release().block(LIMIT);

            second.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .join()
                    .release()
                    .block(LIMIT);
            one.close().block(LIMIT);
            other.close().block(LIMIT);
        }
    }

    private LockClient client(String uri) {
        return LockClient.builder(server(uri)).commandTimeout(PATIENCE).build();
    }

    private static long waiting(RedisServer server) {
        List<?> queues = (List<?>) Objects.requireNonNull(server.command("KEYS", "*:queue"));
        return queues.size();
    }

    private DynamicTest told(String mistake, String uri, String... words) {
        String address = uri.substring(uri.lastIndexOf("127.0.0.1")).replaceAll("/.*", "");
        return test(mistake, address, () -> server(uri), words);
    }

    private DynamicTest test(String mistake, String address, Supplier<LockBackend> backend, String... words) {
        return DynamicTest.dynamicTest(mistake, () -> {
            LockClient client =
                    LockClient.builder(backend.get()).commandTimeout(PATIENCE).build();
            try {
                Throwable failure = failure(client);
                assertThat(failure)
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining(address)
                        .hasMessageContainingAll(words);
                assertThat(failure.getMessage()).doesNotContain("\n").doesNotContain("\r");
                StringWriter everything = new StringWriter();
                failure.printStackTrace(new PrintWriter(everything));
                assertThat(everything.toString()).doesNotContain(SECRET);
            } finally {
                client.close().block(LIMIT);
            }
        });
    }

    /** The failure of the first lock that fails: a part of a cluster has some locks. */
    private static Throwable failure(LockClient client) {
        return IntStream.range(0, 100)
                .mapToObj(i -> Objects.requireNonNull(
                        client.withLock("k" + i, Mono.<Throwable>just(new AssertionError("no failure")))
                                .onErrorResume(Mono::just)
                                .block(LIMIT)))
                .filter(outcome -> !(outcome instanceof AssertionError))
                .findFirst()
                .orElseThrow(() -> new AssertionError("a hundred locks were acquired"));
    }

    private static String uri(String scheme, int port) {
        return scheme + "://default:" + SECRET + "@" + address(port);
    }

    private static String address(int port) {
        return "127.0.0.1:" + port;
    }

    private List<String> tls(Path directory) {
        try {
            Process openssl = new ProcessBuilder(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis"
                                    + " -addext subjectAltName=IP:127.0.0.1 -keyout redis.key -out redis.crt")
                            .split(" "))
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("openssl.log").toFile())
                    .start();
            assertThat(openssl.waitFor()).as("openssl").isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return List.of(
                ("--tls-port " + tlsPort + " --tls-auth-clients no --tls-cert-file redis.crt --tls-key-file redis.key")
                        .split(" "));
    }

    private static void close(AutoCloseable server) {
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
