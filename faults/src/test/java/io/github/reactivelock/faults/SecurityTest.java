package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Permissions, TLS, secrets and strangers. Alone, because it listens to all loggers. */
@Isolated
class SecurityTest {

    private static final String MARKER = "marker-8f3a-password";

    @Test
    void exactlyTheDocumentedPermissionsSuffice() throws IOException {
        String documented = Files.readString(Path.of("..", "docs", "security.md"))
                .lines()
                .filter(line -> line.startsWith("ACL SETUSER "))
                .findFirst()
                .orElseThrow();
        List<String> acl = List.of(documented.replace("PASSWORD", "pw").split(" ", -1));
        try (RedisServer server = RedisServer.start()) {
            server.command(acl.toArray(String[]::new));
            assertThat(Permissions.missing(server, "locks", "pw")).isEmpty();

            for (String permission : acl) {
                if (permission.startsWith("+") && !permission.equals("+script|load")) {
                    List<String> fewer = new ArrayList<>(acl);
                    fewer.remove(permission);
                    server.command(fewer.toArray(String[]::new));
                    assertThat(Permissions.missing(server, "locks", "pw"))
                            .as("without %s", permission)
                            .isNotEmpty();
                }
            }
            for (String place : List.of("~{reactivelock:*", "&reactivelock:*")) {
                List<String> fewer = new ArrayList<>(acl);
                fewer.remove(place);
                server.command(fewer.toArray(String[]::new));
                assertThat(Permissions.missing(server, "locks", "pw"))
                        .as("without %s", place)
                        .isNotEmpty();
            }
        }
    }

    @Test
    void messagesOfAStrangerServeNobody() {
        try (Lab lab = new Lab()) {
            Person one = lab.person(Lab.LONG_LEASE);
            Holding holding = one.hold("a");
            holding.held();
            Holding waiting = lab.person(Lab.LONG_LEASE).hold("a");
            lab.untilWaiting("a", 1);
            List<?> channels = (List<?>) lab.server.command("PUBSUB", "CHANNELS", "reactivelock:*");
            assertThat(channels).isNotEmpty();

            for (Object channel : channels) {
                for (String message : List.of(
                        "",
                        "nonsense",
                        "\0\uffff",
                        "grant",
                        "grant x",
                        "grant AAAAAAAAAAAAAAAAAAAAAA 1",
                        "grant AAAAAAAAAAAAAAAAAAAAAA.1 99999999999999999999999",
                        "grant " + "A".repeat(100_000) + " 5",
                        "forced AAAAAAAAAAAAAAAAAAAAAA",
                        "recheck {reactivelock:a}",
                        "recheck {reactivelock:%}",
                        "released -1",
                        "acquired 1")) {
                    lab.server.command("PUBLISH", channel.toString(), message);
                }
            }
            // The lock's own owner is named in "forced": it has to ask, and goes on.
            String owner = String.valueOf(lab.server.command("GET", "{reactivelock:a}"))
                    .split(" ", -1)[0];
            channels.forEach(channel -> lab.server.command("PUBLISH", channel.toString(), "forced " + owner));
            Lab.pass(Duration.ofSeconds(1));

            assertThat(waiting.granted).isNotDone();
            assertThat(holding.held().isHeld()).isTrue();
            assertThat(holding.ended).isNotDone();
            holding.release();
            waiting.held();
            waiting.release();
            lab.report().verify();
        }
    }

    @Test
    void trustingClientsReachAServerWithTlsAndAPassword(@TempDir Path directory) throws Exception {
        Path certificate = directory.resolve("redis.crt");
        try (RedisServer server = tls(directory, certificate);
                Closing trusting = new Closing(certificate)) {
            int port = Integer.parseInt(
                    server.command("CONFIG", "GET", "tls-port").toString().replaceAll("\\D", ""));
            String uri = "rediss://:" + MARKER + "@127.0.0.1:" + port;
            LockClient lock = patient(LettuceLockBackend.using(trusting.client, RedisURI.create(uri)));
            assertThat(lock.withLock("a", Mono.just("done")).block(Lab.LIMIT)).isEqualTo("done");
            lock.close().block(Lab.LIMIT);

            LockClient strange = patient(LettuceLockBackend.connect(uri));
            assertThatThrownBy(() -> strange.acquire("a").block(Lab.LIMIT))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("TLS")
                    .satisfies(error -> assertThat(Texts.everything(error)).doesNotContain(MARKER));
            strange.close().block(Lab.LIMIT);
        }
    }

    /** The first use of TLS loads a great many classes. */
    private static LockClient patient(LettuceLockBackend backend) {
        return LockClient.builder(backend).commandTimeout(Lab.LIMIT).build();
    }

    private static RedisServer tls(Path directory, Path certificate) throws Exception {
        Path key = directory.resolve("redis.key");
        Process openssl = new ProcessBuilder(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis"
                                + " -addext subjectAltName=IP:127.0.0.1 -keyout " + key + " -out " + certificate)
                        .split(" ", -1))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        assertThat(openssl.waitFor()).as("openssl").isZero();
        int port = Loopback.freePort();
        return RedisServer.start(
                "--requirepass",
                MARKER,
                "--tls-port",
                Integer.toString(port),
                "--tls-auth-clients",
                "no",
                "--tls-cert-file",
                certificate.toString(),
                "--tls-key-file",
                key.toString());
    }

    /** An application's Redis client that trusts one certificate. */
    private static final class Closing implements AutoCloseable {

        private final RedisClient client = RedisClient.create();

        Closing(Path certificate) {
            client.setOptions(ClientOptions.builder()
                    .sslOptions(SslOptions.builder()
                            .trustManager(certificate.toFile())
                            .build())
                    .build());
        }

        @Override
        public void close() {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    @Test
    void noPasswordIsLoggedOrThrown() {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Level before = root.getLevel();
        ListAppender<ILoggingEvent> heard = new ListAppender<>();
        heard.list = java.util.Collections.synchronizedList(new ArrayList<>());
        heard.start();
        // Finer than that, Lettuce and Netty print what is on the wire.
        Logger ours = (Logger) LoggerFactory.getLogger("io.github.reactivelock");
        ours.setLevel(Level.TRACE);
        root.addAppender(heard);
        var console = root.getAppender("console");
        root.detachAppender("console");
        root.setLevel(Level.DEBUG);
        List<Throwable> thrown = new ArrayList<>();
        try (RedisServer server = RedisServer.start("--requirepass", MARKER);
                TcpProxy proxy = TcpProxy.to(server.port())) {
            for (String uri : List.of(
                    "redis://:" + MARKER + "@127.0.0.1:" + server.port(),
                    "redis://:" + MARKER + "@127.0.0.1:" + proxy.port(),
                    "redis://:" + MARKER + "wrong@127.0.0.1:" + server.port(),
                    "redis://user:" + MARKER + "@127.0.0.1:" + server.port(),
                    "rediss://:" + MARKER + "@127.0.0.1:" + server.port() + "?timeout=1s",
                    "redis://:" + MARKER + "@127.0.0.1:1")) {
                LockClient lock = LockClient.create(LettuceLockBackend.connect(uri));
                use(lock, thrown);
                proxy.reset();
                use(lock, thrown);
                lock.close().block(Lab.LIMIT);
            }
            assertThatThrownBy(() -> LettuceLockBackend.connect("redis://:" + MARKER + "@bad host"))
                    .satisfies(thrown::add);
        } finally {
            root.setLevel(before);
            root.addAppender(console);
            root.detachAppender(heard);
            ours.setLevel(Level.INFO);
        }

        assertThat(thrown)
                .hasSizeGreaterThanOrEqualTo(4)
                .allSatisfy(error -> assertThat(Texts.everything(error)).doesNotContain(MARKER));
        assertThat(heard.list)
                .isNotEmpty()
                .allSatisfy(event -> assertThat(said(event)).doesNotContain(MARKER));
    }

    private static void use(LockClient lock, List<Throwable> thrown) {
        Object unused = lock.withLock("a", Mono.empty())
                .onErrorResume(error -> Mono.fromRunnable(() -> thrown.add(error)))
                .block(Lab.LIMIT);
    }

    private static String said(ILoggingEvent event) {
        return event.getFormattedMessage()
                + Arrays.toString(event.getArgumentArray())
                + (event.getThrowableProxy() == null ? "" : ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
}
