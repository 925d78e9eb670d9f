package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.ConnectionFactories;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A PostgreSQL that lets the user of the locks in over TLS only, with a password. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TlsTest {

    private static final String PASSWORD = "marker-8f3a-password";

    private final List<LockClient> refused = new ArrayList<>();
    private Databases database;
    private String certificate;
    private int port;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        PostgresServer server = PostgresServer.start();
        port = server.port();
        database = new Databases(server.url(), server::close);
        Path key = directory.resolve("server.key");
        certificate = directory.resolve("server.crt").toString();
        openssl(
                "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=postgres -addext subjectAltName=IP:127.0.0.1,DNS:localhost"
                        + " -keyout " + key + " -out " + certificate);
        database.createTables();
        database.execute("SET password_encryption = 'scram-sha-256'; CREATE ROLE locks LOGIN PASSWORD '" + PASSWORD
                + "'; GRANT ALL ON ALL TABLES IN SCHEMA public TO locks");
        // The server writes its files itself: they have to be its user's, wherever it runs.
        write("server.key", Files.readString(key));
        write("server.crt", Files.readString(Path.of(certificate)));
        write("pg_hba.conf", "hostssl all locks all scram-sha-256\nhost all postgres all trust\n");
        database.execute("ALTER SYSTEM SET ssl = on");
        Databases.until("the server demands TLS", () -> {
            database.execute("SELECT pg_reload_conf()");
            return database.select("SELECT count(*) FROM pg_settings WHERE name = 'ssl' AND setting = 'on'") == 1
                    && String.valueOf(refusal("?sslMode=disable")).contains("pg_hba.conf");
        });
    }

    @AfterAll
    void stop() {
        Flux.fromIterable(refused).flatMap(LockClient::close).blockLast(Databases.LIMIT);
        database.close();
    }

    private void write(String file, String text) {
        String encoded = Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
        database.execute("COPY (SELECT '" + encoded + "') TO PROGRAM 'umask 077; base64 -d > " + file + "'");
    }

    private void openssl(String arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(("openssl " + arguments).split(" ", -1))
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    private LockClient client(String password, String parameters) {
        String address = "r2dbc:postgresql://locks:" + password + "@127.0.0.1:" + port + "/postgres" + parameters;
        return LockClient.builder(R2dbcLockBackend.connect(ConnectionFactories.get(address), Databases.PATIENT))
                .commandTimeout(Duration.ofSeconds(40))
                .build();
    }

    private String trusting() {
        return "?sslMode=verify-full&sslRootCert=" + certificate;
    }

    private Throwable refusal(String parameters) {
        return refusal(client(PASSWORD, parameters));
    }

    private Throwable refusal(LockClient lock) {
        Throwable thrown = catchThrowable(() -> lock.acquire("k").block(Databases.LIMIT));
        // It would try for a while to release what it never got.
        refused.add(lock);
        return thrown;
    }

    @Test
    void thoseWhoTrustItAndKnowThePasswordAreServed() {
        LockClient lock = client(PASSWORD, trusting());

        assertThat(lock.withLock("k", Mono.just("done")).block(Databases.LIMIT)).isEqualTo("done");

        lock.close().block(Databases.LIMIT);
    }

    @Test
    void whoeverIsRefusedIsToldWhyAndNoPassword() {
        ListAppender<ILoggingEvent> heard = new ListAppender<>();
        heard.list = Collections.synchronizedList(new ArrayList<>());
        heard.start();
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Logger ours = (Logger) LoggerFactory.getLogger("io.github.reactivelock");
        Level before = ours.getLevel();
        ours.setLevel(Level.TRACE);
        root.addAppender(heard);
        List<Throwable> told;
        try {
            told = List.of(
                    refusal(client(PASSWORD + "wrong", trusting())),
                    refusal("?sslMode=verify-full"),
                    refusal("?sslMode=disable"));
        } finally {
            root.detachAppender(heard);
            ours.setLevel(before);
        }

        assertThat(told).allSatisfy(error -> {
            assertThat(error).isInstanceOf(LockUnavailableException.class);
            assertThat(everything(error)).doesNotContain(PASSWORD);
        });
        assertThat(told.get(0)).hasMessageContaining("password authentication failed");
        assertThat(told.get(1)).hasMessageContaining("TLS").hasMessageContaining("certificate");
        assertThat(told.get(2)).hasMessageContaining("pg_hba.conf").hasMessageContaining("no encryption");
        assertThat(heard.list)
                .allSatisfy(event -> assertThat(event.getFormattedMessage()).doesNotContain(PASSWORD));
    }

    @Test
    void anAddressThatCannotBeReadIsNotRepeated() {
        for (String address : List.of("@bad host/postgres", "@/%%")) {
            Throwable told =
                    catchThrowable(() -> R2dbcLockBackend.connect("r2dbc:postgresql://locks:" + PASSWORD + address));

            assertThat(told).isInstanceOf(IllegalArgumentException.class);
            assertThat(everything(told)).doesNotContain(PASSWORD);
        }
    }

    private static String everything(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
