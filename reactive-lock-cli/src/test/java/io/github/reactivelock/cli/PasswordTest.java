package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.cli.Program.Ended;
import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.testservers.ConsulServer;
import io.github.reactivelock.testservers.EtcdServer;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Result;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Stores that let nobody in without a password: where it comes from, and what is said when it does not fit. */
class PasswordTest {

    /** Needs escapes in a URL. */
    private static final String PASSWORD = "pa/s@s:%+w0rd";

    private static final String ESCAPED = "pa%2Fs%40s%3A%25%2Bw0rd";
    private static final String WRONG = "marker-8f3a";

    /** Of a store whose user is {@code locks}, and of which nothing is held. */
    private static void assertAsksForThePassword(String url) {
        String hosts = url.replaceFirst(".*//", "");
        String open = url.replace("//", "//locks@");
        assertLetIn(Program.run(Map.of(Environment.PASSWORD, PASSWORD), "", "show", "a", "-s", open));
        assertLetIn(Program.run(Map.of(), PASSWORD, "show", "a", "--ask-password", "-s", url, "--user", "locks"));
        String whole = url.replace("//", "//locks:" + ESCAPED + "@");
        assertLetIn(Program.run(Map.of(Environment.STORE, whole), "", "show", "a"));

        Ended warned = Program.run("show", "a", "-s", whole);
        assertThat(warned.code()).isEqualTo(1);
        assertThat(warned.err())
                .contains("warning: others on this machine can read the password", Environment.PASSWORD)
                .doesNotContain("w0rd");

        assertRefused(Program.run(Map.of(Environment.PASSWORD, WRONG), "", "show", "a", "-s", open), hosts);
        assertRefused(Program.run(Map.of(Environment.PASSWORD, WRONG), "", "watch", "a", "-s", open), hosts);
    }

    private static void assertLetIn(Ended ended) {
        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).contains("state  free");
        assertThat(ended.code()).isEqualTo(1);
    }

    private static void assertRefused(Ended ended, String hosts) {
        assertThat(ended.code()).isEqualTo(3);
        assertThat(ended.err().lines()).hasSize(1);
        assertThat(ended.err())
                .contains(hosts)
                .containsIgnoringCase("password")
                .contains(Environment.PASSWORD + " and --ask-password")
                .doesNotContain(WRONG);
    }

    @Test
    void redis() {
        try (RedisServer server = RedisServer.start()) {
            Object unused = server.command("ACL", "SETUSER", "locks", "on", ">" + PASSWORD, "~*", "&*", "+@all");
            unused = server.command("ACL", "SETUSER", "default", "off");

            assertAsksForThePassword(server.uri());

            Ended without = Program.run("show", "a", "-s", server.uri());
            assertThat(without.code()).isEqualTo(3);
            assertThat(without.err()).contains("NOAUTH").contains(Environment.PASSWORD);
        }
    }

    @Test
    void etcd() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Client root = Client.builder().endpoints(server.uri()).build()) {
            Auth auth = root.getAuthClient();
            for (String user : List.of("root", "locks")) {
                done(auth.userAdd(bytes(user), bytes(PASSWORD)));
                done(auth.userGrantRole(bytes(user), bytes("root")));
            }
            done(auth.authEnable());

            assertAsksForThePassword(server.uri());
            assertAsksForThePassword(server.uri().replace("http:", "etcd:"));
        }
    }

    /** ZooKeeper lets everybody in, and shows nodes to their makers. */
    @Test
    void zooKeeper() throws Exception {
        try (TestingServer server = new TestingServer()) {
            LockClient application = LockClient.create(ZooKeeperLockBackend.connect(
                    server.getConnectString(),
                    ZooKeeperBackendOptions.defaults()
                            .withCommandTimeout(StoreCases.LIMIT)
                            .withDigest("locks", PASSWORD)));
            LockHandle held = application.acquire("a").block(StoreCases.LIMIT);
            String url = "zookeeper://locks@" + server.getConnectString();

            assertThat(Program.run(Map.of(Environment.PASSWORD, PASSWORD), "", "show", "a", "-s", url)
                            .code())
                    .isZero();
            Ended refused = Program.run(Map.of(Environment.PASSWORD, WRONG), "", "show", "a", "-s", url);
            assertThat(refused.code()).isEqualTo(3);
            assertThat(refused.err())
                    .contains("denies this client the nodes", Environment.PASSWORD)
                    .doesNotContain(WRONG);

            held.release().block(StoreCases.LIMIT);
            application.close().block(StoreCases.LIMIT);
        }
    }

    /** Consul knows tokens and no users; a token is what another store calls the password. */
    @Test
    void consul() {
        try (ConsulServer server = ConsulServer.start("-hcl=acl { enabled = true default_policy = \"deny\" tokens {"
                + " master = \"" + ConsulServer.ROOT_TOKEN + "\" } }")) {
            String url = server.uri().replace("http:", "consul:");

            assertLetIn(Program.run(Map.of(Environment.PASSWORD, ConsulServer.ROOT_TOKEN), "", "show", "a", "-s", url));
            assertLetIn(Program.run(Map.of(), ConsulServer.ROOT_TOKEN, "show", "a", "--ask-password", "-s", url));

            for (Map<String, String> wrong : List.of(Map.of(Environment.PASSWORD, WRONG), Map.<String, String>of())) {
                Ended refused = Program.run(wrong, "", "show", "a", "-s", url);
                assertThat(refused.code()).isEqualTo(3);
                assertThat(refused.err().lines()).hasSize(1);
                assertThat(refused.err())
                        .contains("token", Environment.PASSWORD + " and --ask-password")
                        .doesNotContain("withToken")
                        .doesNotContain(WRONG);
            }
            Ended named = Program.run("show", "a", "-s", url.replace("//", "//locks:" + WRONG + "@"));
            assertThat(named.code()).isEqualTo(2);
            assertThat(named.err()).contains("Consul knows no users").doesNotContain(WRONG);
        }
    }

    @Test
    void postgreSql(@TempDir Path directory) throws Exception {
        Path rules = Files.writeString(
                directory.resolve("pg_hba.conf"), "host all locks all scram-sha-256\nhost all postgres all trust\n");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (PostgresServer server = PostgresServer.start("-c", "hba_file=" + rules)) {
            prepare(
                    server.url(),
                    "CREATE ROLE locks LOGIN PASSWORD '" + PASSWORD + "'",
                    "GRANT ALL ON ALL TABLES IN SCHEMA public TO locks");

            assertAsksForThePassword(server.url().replaceFirst("//.*@", "//"));
        }
    }

    @Test
    void mariaDb() {
        try (MariaDbServer server = MariaDbServer.start()) {
            prepare(
                    server.url("mariadb"),
                    "CREATE USER locks@'%' IDENTIFIED BY '" + PASSWORD + "'",
                    "CREATE USER locks@localhost IDENTIFIED BY '" + PASSWORD + "'",
                    "GRANT ALL ON mysql.* TO locks@'%'",
                    "GRANT ALL ON mysql.* TO locks@localhost");

            assertAsksForThePassword(server.url("mariadb").replaceFirst("//.*@", "//"));
            assertAsksForThePassword(server.url("mysql").replaceFirst("//.*@", "//"));
        }
    }

    private static void prepare(String url, String... statements) {
        ConnectionFactory factory = ConnectionFactories.get(url);
        R2dbcLockBackend backend =
                R2dbcLockBackend.using(factory, R2dbcBackendOptions.defaults().withCommandTimeout(StoreCases.LIMIT));
        backend.createTables().block(StoreCases.LIMIT);
        backend.close().block(StoreCases.LIMIT);
        Mono.usingWhen(
                        factory.create(),
                        connection -> Flux.fromArray(statements)
                                .concatMap(statement ->
                                        connection.createStatement(statement).execute())
                                .concatMap(Result::getRowsUpdated)
                                .then(),
                        Connection::close)
                .block(StoreCases.LIMIT);
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    private static void done(CompletableFuture<?> answer) throws Exception {
        Object unused = answer.get(StoreCases.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
}
