package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.EtcdServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Each login costs etcd a bcrypt, so a client asks for one at a time, in time, and not for one that was refused. */
class LoginsTest {

    private static final int FLOWS = 40;

    @TempDir
    private Path directory;

    private EtcdServer server;
    private LockClient client;

    @BeforeEach
    void startWithUsers() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "a secret of thirty-two bytes or so");
        server = EtcdServer.start(
                "--auth-token",
                "jwt,sign-method=HS256,ttl=15s,priv-key=" + secret + ",pub-key=" + secret,
                "--bcrypt-cost",
                "4");
        try (Client root = Client.builder().endpoints(server.uri()).build()) {
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
        }
    }

    @AfterEach
    void stop() {
        client.close().block(Etcds.LIMIT);
        server.close();
    }

    private LockClient login(String password) {
        client = LockClient.builder(EtcdLockBackend.connect(
                        Client.builder()
                                .endpoints(server.uri())
                                .user(KeyLayout.bytes("locks"))
                                .password(KeyLayout.bytes(password)),
                        EtcdFixture.PATIENT))
                .commandTimeout(Duration.ofSeconds(40))
                .build();
        return client;
    }

    private int logins() {
        return (int) server.metric("grpc_server_started_total{grpc_method=\"Authenticate\"");
    }

    private double refused() {
        return server.metric("grpc_server_handled_total{grpc_code=\"Unauthenticated\"");
    }

    @Test
    void manyThatComeAtOnceLogInOnce() {
        LockClient lock = login("s3cret");
        int before = logins();
        long begun = System.nanoTime();

        Etcds.get(Flux.range(0, FLOWS)
                .flatMap(flow -> lock.withLock("k" + flow, Mono.just(flow)), FLOWS)
                .then(Mono.just(true)));

        int inTime = 1 + (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun) / 8;
        assertThat(logins() - before).as("of a token that lasts").isBetween(1, inTime);
    }

    @Test
    void aLoginIsMadeAnewBeforeItsTokenEndsWithoutAFlowThatFails() throws InterruptedException {
        LockClient lock = login("s3cret");
        LockHandle held = Etcds.get(lock.acquire("held"));
        int before = logins();
        AtomicBoolean enough = new AtomicBoolean();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> flows = Flux.range(0, FLOWS)
                .flatMap(
                        flow -> Mono.defer(() -> lock.withLock("k" + flow, Mono.delay(Duration.ofMillis(50))))
                                .doOnError(failures::add)
                                .onErrorComplete()
                                .repeat(() -> !enough.get()),
                        FLOWS)
                .then()
                .toFuture();

        Etcds.until("it logged in anew, three times", () -> logins() - before >= 3);

        assertThat(logins() - before).isLessThan(FLOWS / 2);
        assertThat(refused()).as("calls with a token that had ended").isZero();
        enough.set(true);
        Etcds.get(flows.thenApply(done -> true));
        assertThat(failures).isEmpty();
        assertThat(held.isHeld()).isTrue();
        Etcds.get(held.release());
    }

    @Test
    void aPasswordThatWasRefusedIsNotTriedAgainAtOnce() {
        LockClient lock = login("wr0ng");
        int before = logins();

        for (int i = 0; i < FLOWS; i++) {
            assertThat(Etcds.error(lock.acquire("k")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("refuses the user or the password")
                    .hasMessageNotContaining("wr0ng");
        }

        assertThat(logins() - before).isLessThan(FLOWS / 4);
    }
}
