package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.auth.Permission;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.EtcdServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** TLS, users and passwords, and what is said when etcd cannot or will not answer. */
class RefusedTest {

    private static final EtcdBackendOptions OPTIONS =
            EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30));
    /** A connection that fails is tried again for so long. */
    private static final EtcdBackendOptions BRIEF =
            EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(6));

    private static LockClient client(EtcdLockBackend backend) {
        return LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(40))
                .build();
    }

    private static Throwable refusal(EtcdLockBackend backend) {
        LockClient client = client(backend);
        try {
            return Etcds.error(client.tryAcquire("k"));
        } finally {
            Etcds.get(client.close());
        }
    }

    private static void assertWorks(EtcdLockBackend backend) {
        // The first use of TLS loads a great many classes.
        LockClient client = client(backend);
        LockHandle held = Etcds.get(client.acquire("k"));
        CompletableFuture<LockHandle> next = client.acquire("k").toFuture();
        Etcds.get(held.release());
        Etcds.get(Etcds.get(next).release());
        assertThat(Etcds.get(client.forceRelease("k"))).isFalse();
        Etcds.get(client.close());
    }

    @Test
    void nobodyListensThere() {
        assertThat(refusal(EtcdLockBackend.connect(List.of("http://127.0.0.1:1"), BRIEF)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("etcd at 127.0.0.1:1 cannot be reached")
                .hasMessageContaining("Connection refused");
    }

    @Test
    void whatIsNoEndpointIsRefusedWithoutRepeatingIt() {
        for (String bad : List.of("localhost:2379", "http://me:secret@localhost:2379", "", "ftp://x:1")) {
            assertThatThrownBy(() -> EtcdLockBackend.connect(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("http://localhost:2379")
                    .hasMessageNotContaining("secret");
        }
        assertThatThrownBy(EtcdLockBackend::connect).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EtcdLockBackend.connect(Client.builder(), OPTIONS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("endpoints");
    }

    @Test
    void usersNeedTheirPasswordAndAPermission() {
        try (EtcdServer server = EtcdServer.start();
                Client root = Client.builder().endpoints(server.uri()).build()) {
            Auth auth = root.getAuthClient();
            Etcds.get(auth.userAdd(KeyLayout.bytes("root"), KeyLayout.bytes("rootpw")));
            Etcds.get(auth.userGrantRole(KeyLayout.bytes("root"), KeyLayout.bytes("root")));
            Etcds.get(auth.userAdd(KeyLayout.bytes("locks"), KeyLayout.bytes("s3cret")));
            Etcds.get(auth.roleAdd(KeyLayout.bytes("locker")));
            Etcds.get(auth.roleGrantPermission(
                    KeyLayout.bytes("locker"),
                    KeyLayout.bytes("reactivelock/"),
                    KeyLayout.bytes("reactivelock0"),
                    Permission.Type.READWRITE));
            Etcds.get(auth.userGrantRole(KeyLayout.bytes("locks"), KeyLayout.bytes("locker")));
            Etcds.get(auth.authEnable());

            assertWorks(EtcdLockBackend.connect(login(server, "s3cret"), OPTIONS));
            assertLogsInAgain(server);
            assertThat(refusal(EtcdLockBackend.connect(List.of(server.uri()), OPTIONS)))
                    .hasMessageContaining("asks for a user and a password");
            assertThat(refusal(EtcdLockBackend.connect(login(server, "wr0ng"), OPTIONS)))
                    .hasMessageContaining("refuses the user or the password")
                    .hasMessageNotContaining("wr0ng");
            assertThat(refusal(EtcdLockBackend.connect(login(server, "s3cret"), OPTIONS.withPrefix("other"))))
                    .hasMessageContaining("denies this user")
                    .hasMessageContaining("--prefix=true other/");
        }
    }

    /** It writes nothing, also where it may. */
    @Test
    void aUserWhoMayOnlyReadIsToldSoByReady() {
        try (EtcdServer server = EtcdServer.start();
                Client root = Client.builder().endpoints(server.uri()).build()) {
            LockClient open = client(EtcdLockBackend.connect(List.of(server.uri()), OPTIONS));
            Etcds.get(open.ready().thenReturn(true));
            long before = revision(root);
            Etcds.get(open.ready().thenReturn(true));
            assertThat(revision(root)).isEqualTo(before);
            Etcds.get(open.close());
            Auth auth = root.getAuthClient();
            Etcds.get(auth.userAdd(KeyLayout.bytes("root"), KeyLayout.bytes("rootpw")));
            Etcds.get(auth.userGrantRole(KeyLayout.bytes("root"), KeyLayout.bytes("root")));
            Etcds.get(auth.userAdd(KeyLayout.bytes("locks"), KeyLayout.bytes("s3cret")));
            Etcds.get(auth.roleAdd(KeyLayout.bytes("reader")));
            Etcds.get(auth.roleGrantPermission(
                    KeyLayout.bytes("reader"),
                    KeyLayout.bytes("reactivelock/"),
                    KeyLayout.bytes("reactivelock0"),
                    Permission.Type.READ));
            Etcds.get(auth.userGrantRole(KeyLayout.bytes("locks"), KeyLayout.bytes("reader")));
            Etcds.get(auth.authEnable());

            LockClient reads = client(EtcdLockBackend.connect(login(server, "s3cret"), OPTIONS));
            assertThat(Etcds.get(reads.inspect("k")).isFree()).isTrue();
            assertThat(Etcds.error(reads.ready()))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("denies this user");
            Etcds.get(reads.close());
        }
    }

    /** Its hold needs nothing that is denied; its release and its next claim do. */
    @Test
    void aLockThatIsDeniedFromNowOnCostsNoOther() {
        try (EtcdServer server = EtcdServer.start();
                Client open = Client.builder().endpoints(server.uri()).build()) {
            Auth auth = open.getAuthClient();
            Etcds.get(auth.userAdd(KeyLayout.bytes("root"), KeyLayout.bytes("rootpw")));
            Etcds.get(auth.userGrantRole(KeyLayout.bytes("root"), KeyLayout.bytes("root")));
            Etcds.get(auth.userAdd(KeyLayout.bytes("locks"), KeyLayout.bytes("s3cret")));
            Etcds.get(auth.roleAdd(KeyLayout.bytes("locker")));
            allow(auth, "reactivelock/", "reactivelock0");
            Etcds.get(auth.userGrantRole(KeyLayout.bytes("locks"), KeyLayout.bytes("locker")));
            Etcds.get(auth.authEnable());
            LockClient client = client(EtcdLockBackend.connect(login(server, "s3cret"), OPTIONS));
            LockClient other = client(EtcdLockBackend.connect(login(server, "s3cret"), OPTIONS));
            LockHandle good = Etcds.get(client.acquire("good"));
            LockHandle bad = Etcds.get(client.acquire("bad"));

            try (Client root = Client.builder()
                    .endpoints(server.uri())
                    .user(KeyLayout.bytes("root"))
                    .password(KeyLayout.bytes("rootpw"))
                    .build()) {
                allow(root.getAuthClient(), "reactivelock/", "reactivelock/bad/");
                allow(root.getAuthClient(), "reactivelock/bad0", "reactivelock0");
                Etcds.get(root.getAuthClient()
                        .roleRevokePermission(
                                KeyLayout.bytes("locker"),
                                KeyLayout.bytes("reactivelock/"),
                                KeyLayout.bytes("reactivelock0")));

                assertThat(Etcds.error(other.acquire("bad"))).hasMessageContaining("denies this user");
                Etcds.get(Etcds.get(other.acquire("beside")).release());
                Etcds.get(good.renew());
                Etcds.get(bad.renew());
                assertThat(Etcds.error(bad.release()))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("denies this user");
                Etcds.get(good.release());
                assertThat(Etcds.get(other.inspect("good")).isFree()).isTrue();

                allow(root.getAuthClient(), "reactivelock/", "reactivelock0");
            }
            Etcds.until(
                    "its release is said again",
                    () -> Etcds.get(other.inspect("bad")).isFree());
            Etcds.get(client.close());
            Etcds.get(other.close());
        }
    }

    private static void allow(Auth auth, String from, String end) {
        Etcds.get(auth.roleGrantPermission(
                KeyLayout.bytes("locker"), KeyLayout.bytes(from), KeyLayout.bytes(end), Permission.Type.READWRITE));
    }

    private static long revision(Client etcd) {
        return Etcds.get(etcd.getKVClient().get(KeyLayout.bytes("any")))
                .getHeader()
                .getRevision();
    }

    /** As when the token of a login has run out. */
    private static void assertLogsInAgain(EtcdServer server) {
        LockClient client = client(EtcdLockBackend.connect(login(server, "s3cret"), OPTIONS));
        LockHandle held = Etcds.get(client.acquire("k"));
        try (Client root = Client.builder()
                .endpoints(server.uri())
                .user(KeyLayout.bytes("root"))
                .password(KeyLayout.bytes("rootpw"))
                .build()) {
            Etcds.get(root.getAuthClient().authDisable());
            try (Client anybody = Client.builder().endpoints(server.uri()).build()) {
                Etcds.get(anybody.getAuthClient().authEnable());
            }
        }
        Etcds.get(held.renew());
        Etcds.get(held.release());
        Etcds.get(Etcds.get(client.acquire("k")).release());
        Etcds.get(client.close());
    }

    private static ClientBuilder login(EtcdServer server, String password) {
        return Client.builder()
                .endpoints(server.uri())
                .user(KeyLayout.bytes("locks"))
                .password(KeyLayout.bytes(password));
    }

    @Test
    void tlsWithCertificatesOnBothSides(@TempDir Path directory) throws Exception {
        Certificates certificates = Certificates.make(directory);
        try (EtcdServer server = EtcdServer.start(
                "--cert-file",
                certificates.file("server.crt"),
                "--key-file",
                certificates.file("server.key"),
                "--trusted-ca-file",
                certificates.file("ca.crt"),
                "--client-cert-auth")) {
            ClientBuilder both = Client.builder()
                    .endpoints(server.uri())
                    .sslContext(
                            tls -> tls.trustManager(directory.resolve("ca.crt").toFile())
                                    .keyManager(
                                            directory.resolve("client.crt").toFile(),
                                            directory.resolve("client.key").toFile()));

            assertWorks(EtcdLockBackend.connect(both, OPTIONS));
            assertThat(refusal(EtcdLockBackend.connect(List.of(server.uri()), BRIEF)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("TLS");
            assertThat(refusal(EtcdLockBackend.connect(List.of(server.uri().replace("https", "http")), BRIEF)))
                    .hasMessageContaining("cannot be reached");
        }
    }

    /** A certificate authority, and a server and a client that it vouches for, made by openssl. */
    private record Certificates(Path directory) {

        static Certificates make(Path directory) throws IOException, InterruptedException {
            Certificates made = new Certificates(directory);
            made.openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.crt");
            Files.writeString(directory.resolve("names"), "subjectAltName=IP:127.0.0.1\n");
            for (String name : List.of("server", "client")) {
                made.openssl("req -newkey rsa:2048 -nodes -subj /CN=" + name + " -keyout " + name + ".key -out " + name
                        + ".csr");
                made.openssl("x509 -req -days 2 -CA ca.crt -CAkey ca.key -CAcreateserial -extfile names -in " + name
                        + ".csr -out " + name + ".crt");
            }
            return made;
        }

        String file(String name) {
            return directory.resolve(name).toString();
        }

        private void openssl(String arguments) throws IOException, InterruptedException {
            Process process = new ProcessBuilder(("openssl " + arguments).split(" "))
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
        }
    }

    @Test
    void anEtcdThatIsFullTakesNothingHalf() {
        try (EtcdServer server = EtcdServer.start("--quota-backend-bytes", "262144");
                Client etcd = Client.builder().endpoints(server.uri()).build()) {
            LockClient client = client(EtcdFixture.patient(server.uri()));
            LockHandle held = Etcds.get(client.acquire("before"));
            fill(etcd);

            assertThat(Etcds.error(client.acquire("k")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("out of space");
            assertThat(Etcds.error(client.ready())).hasMessageContaining("out of space");

            Etcds.get(held.release());
            Etcds.assertNoClaims(etcd);
            Etcds.get(client.close());
        }
    }

    @Test
    void anEtcdThatIsFullTakesAForcedRelease() {
        try (EtcdServer server = EtcdServer.start("--quota-backend-bytes", "262144");
                Client etcd = Client.builder().endpoints(server.uri()).build()) {
            LockClient client = client(EtcdFixture.patient(server.uri()));
            LockClient operator = client(EtcdFixture.patient(server.uri()));
            LockHandle held = Etcds.get(client.acquire("k"));
            fill(etcd);

            assertThat(Etcds.get(operator.forceRelease("k", held.fencingToken())))
                    .isTrue();

            Etcds.assertNoClaims(etcd);
            assertThat(Etcds.get(operator.forceRelease("k", held.fencingToken())))
                    .isFalse();
            Etcds.get(operator.close());
            Etcds.get(client.close());
        }
    }

    private static void fill(Client etcd) {
        String large = "x".repeat(40_000);
        Throwable full = null;
        for (int i = 0; full == null && i < 100; i++) {
            full = Mono.fromFuture(etcd.getKVClient().put(KeyLayout.bytes("fill" + i), KeyLayout.bytes(large)))
                    .<Throwable>then(Mono.empty())
                    .onErrorResume(Mono::just)
                    .block(Etcds.LIMIT);
        }
        assertThat(full).hasMessageContaining("space");
    }

    @Test
    void aClosedBackendLeavesNoThreadOfItsClient() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (EtcdServer server = EtcdServer.start()) {
            assertWorks(EtcdLockBackend.connect(List.of(server.uri()), OPTIONS));

            Etcds.until(
                    "no thread of jetcd is left",
                    () -> Thread.getAllStackTraces().keySet().stream()
                            .noneMatch(thread -> thread.getName().startsWith("jetcd-") && !before.contains(thread)));
        }
    }

    @Test
    void withoutAMajorityTheCauseIsNamed() throws InterruptedException {
        List<EtcdServer> members = EtcdServer.cluster(3);
        try {
            EtcdLockBackend backend = EtcdLockBackend.connect(
                    members.stream().map(EtcdServer::uri).toArray(String[]::new));
            LockClient client = LockClient.builder(backend)
                    .commandTimeout(Duration.ofSeconds(5))
                    .build();
            Etcds.get(Etcds.get(Etcds.patiently(client.acquire("k"))).release());
            members.get(0).kill();
            members.get(1).kill();

            // The first questions may still find the connection that the kill is just cutting.
            Etcds.until("the missing majority is named", () -> {
                Throwable refused = Etcds.error(client.tryAcquire("k"));
                assertThat(refused).isInstanceOf(LockUnavailableException.class);
                return refused.getMessage().contains("without a leader and a majority of its members");
            });
            assertThat(Etcds.error(client.ready())).isInstanceOf(LockUnavailableException.class);
            members.get(0).restart();
            Etcds.get(Etcds.get(Etcds.patiently(client.acquire("k"))).release());
            Etcds.get(client.close());
        } finally {
            members.forEach(EtcdServer::close);
        }
    }
}
